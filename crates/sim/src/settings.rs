//! How a simulator is set up.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use model::time::Clock;

use crate::faults::Faults;
use crate::keys::Keys;

#[derive(Clone)]
pub struct SimSettings {
    /// The address for TLS.
    pub listen: SocketAddr,
    /// The address without TLS: HTTP/1.1, and HTTP/2 for clients with prior knowledge.
    pub plain_listen: SocketAddr,
    pub faults: Faults,
    /// New ones are made when absent.
    pub keys: Option<Keys>,
    pub clock: Clock,
    /// The topic, usually a bundle id, of the app at Apple's.
    pub topic: String,
    /// How many requests a connection may have under way.
    pub streams: u32,
    /// Whether a connection may have only one request under way until the client has proved its identity, as at Apple's.
    pub careful_start: bool,
    /// Whether messages to browsers are decrypted, which is slow but finds duplicates.
    pub decrypt: bool,
    /// How many of the newest messages are kept for inspection.
    pub keep: usize,
    /// How long access tokens are valid.
    pub token_lifetime: Duration,
}

pub const DEFAULT_TOPIC: &str = "com.example.sim";

impl Default for SimSettings {
    fn default() -> Self {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            listen: any_port,
            plain_listen: any_port,
            faults: Faults::default(),
            keys: None,
            clock: Clock::System,
            topic: DEFAULT_TOPIC.to_owned(),
            streams: 1000,
            careful_start: true,
            decrypt: false,
            keep: 100,
            token_lifetime: Duration::from_secs(3600),
        }
    }
}
