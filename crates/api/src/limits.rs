//! How much callers may have at once, and how long they may take, whoever they are.

use std::time::Duration;

use crate::body::BodyPatience;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections in all, and from one address. An address whose share is used up waits for nobody: it is hung up on.
    pub connections: usize,
    pub connections_per_address: usize,
    /// Live connections of devices, beside those of callers, shared fairly by the apps.
    pub live_connections: usize,
    /// How many more there could be if the system let the process have more open files.
    pub live_connections_lacking: usize,
    /// Live connections that are opened at once; others wait for their turn.
    pub live_handshakes: usize,
    /// Requests in work at once, shared fairly by the apps. More than this means that answers would come too late anyway.
    pub requests: usize,
    /// Requests with wrong credentials from one address that are answered without a delay.
    pub wrong_credentials_per_minute: u32,
    /// Between two requests of a connection.
    pub idle: Duration,
    /// For the head of a request, from its first byte on.
    pub head: Duration,
    pub bodies: BodyPatience,
    /// For a caller to read some of an answer that waits to be sent.
    pub stalled: Duration,
}

impl Limits {
    pub const CONNECTIONS: usize = 10_000;
    /// Enough for a proxy that all callers come through.
    pub const CONNECTIONS_PER_ADDRESS: usize = 2_500;
    pub const LIVE_CONNECTIONS: usize = 10_000;
    pub const WRONG_CREDENTIALS_PER_MINUTE: u32 = 60;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: Self::CONNECTIONS,
            connections_per_address: Self::CONNECTIONS_PER_ADDRESS,
            live_connections: Self::LIVE_CONNECTIONS,
            live_connections_lacking: 0,
            live_handshakes: 200,
            requests: 4096,
            wrong_credentials_per_minute: Self::WRONG_CREDENTIALS_PER_MINUTE,
            idle: Duration::from_secs(60),
            head: Duration::from_secs(10),
            bodies: BodyPatience::DEFAULT,
            stalled: Duration::from_secs(30),
        }
    }
}
