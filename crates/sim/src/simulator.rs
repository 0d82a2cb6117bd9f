//! A simulator from the outside: its addresses, the credentials of its clients, and its counts.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use model::channel::WebSubscription;
use parking_lot::Mutex;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::book::{Book, Delivery};
use crate::browser::Browser;
use crate::browsers::{self, Subscriptions};
use crate::faults::Faults;
use crate::keys::{self, Keys};
use crate::protocol::Protocol;
use crate::serve;
use crate::settings::SimSettings;
use crate::shared::Shared;
use crate::specimen::Specimen;
use crate::stats::Stats;
use crate::tokens::Tokens;

/// Serves until it is dropped.
pub struct Simulator {
    shared: Arc<Shared>,
    keys: Keys,
    browser: WebSubscription,
    /// The SHA-256 of the public key of the certificate, in base64.
    key_digest: String,
    address: SocketAddr,
    plain_address: SocketAddr,
    accepting: [JoinHandle<()>; 2],
}

impl Simulator {
    pub async fn start(settings: SimSettings) -> io::Result<Self> {
        let keys = settings.keys.map_or_else(Keys::generate, Ok)?;
        let browser = Browser::new(&keys.browser)?;
        let subscription = browser.subscription();
        let names =
            ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned(), settings.listen.ip().to_string()];
        let certificate = keys.server(&names)?;
        let tls = serve::tls(&keys, &certificate)?;
        let listener = TcpListener::bind(settings.listen).await?;
        let plain_listener = TcpListener::bind(settings.plain_listen).await?;
        let shared = Arc::new(Shared {
            clock: settings.clock,
            topic: settings.topic,
            streams: settings.streams,
            careful_start: settings.careful_start,
            keep: settings.keep,
            token_lifetime: settings.token_lifetime,
            apns_public_key: keys.apns_public_key()?,
            fcm_public_key: keys::fcm_public_key()?,
            browser: settings.decrypt.then_some(browser),
            tokens: Tokens::default(),
            subscriptions: Subscriptions::default(),
            faults: Mutex::new(Arc::new(settings.faults)),
            book: Mutex::default(),
            specimens: Default::default(),
            validation_code: Mutex::default(),
            changed: Notify::new(),
        });
        let (address, plain_address) = (listener.local_addr()?, plain_listener.local_addr()?);
        let accepting = [
            tokio::spawn(serve::accept(listener, Some(tls), shared.clone())),
            tokio::spawn(serve::accept(plain_listener, None, shared.clone())),
        ];
        Ok(Self {
            shared,
            keys,
            browser: subscription,
            key_digest: certificate.key_digest()?,
            address,
            plain_address,
            accepting,
        })
    }

    /// The root for a protocol over TLS. Its certificate is to be trusted by way of [`Simulator::ca_pem`].
    pub fn url(&self, protocol: Protocol) -> String {
        format!("https://{}{}", self.address, root(protocol))
    }

    /// The same in clear, for HTTP/1.1 and for HTTP/2 with prior knowledge.
    pub fn plain_url(&self, protocol: Protocol) -> String {
        format!("http://{}{}", self.plain_address, root(protocol))
    }

    pub fn ca_pem(&self) -> &str {
        self.keys.ca_pem()
    }

    /// The authentication key that Apple would hand out, in PEM. Its ids are [`keys::APNS_TEAM_ID`] and
    /// [`keys::APNS_KEY_ID`].
    pub fn apns_key(&self) -> &str {
        &self.keys.apns
    }

    /// A client certificate and its key in PEM, as an alternative to an authentication key.
    pub fn apns_certificate(&self) -> (&str, &str) {
        (&self.keys.apns_certificate.certificate, &self.keys.apns_certificate.key)
    }

    pub fn topic(&self) -> &str {
        &self.shared.topic
    }

    /// The service account file that Google would hand out. Tokens come from the simulator, over TLS or in clear.
    pub fn service_account(&self, over_tls: bool) -> String {
        let root = if over_tls { self.url(Protocol::Fcm) } else { self.plain_url(Protocol::Fcm) };
        let account = json!({
            "type": "service_account",
            "project_id": keys::FCM_PROJECT_ID,
            "private_key_id": keys::FCM_PRIVATE_KEY_ID,
            "private_key": keys::FCM_PRIVATE_KEY,
            "client_email": keys::FCM_CLIENT_EMAIL,
            "client_id": "100000000000000000001",
            "auth_uri": format!("{root}/auth"),
            "token_uri": format!("{root}/token"),
        });
        format!("{account:#}")
    }

    /// The address of device number `n`, as an app on it would register it.
    pub fn device(&self, protocol: Protocol, n: u64) -> String {
        device_address(protocol, n, &self.url(protocol))
    }

    /// The address of browser number `n`, and the keys of its subscription.
    pub fn web_subscription(&self, n: u64) -> (String, WebSubscription) {
        (self.device(Protocol::WebPush, n), self.browser.clone())
    }

    /// The address of phone number `n` that is reached by UnifiedPush, and the keys of its subscription.
    pub fn unified_push_subscription(&self, n: u64) -> (String, WebSubscription) {
        (self.device(Protocol::UnifiedPush, n), self.browser.clone())
    }

    /// The flags of a Chromium whose push service is the simulator.
    pub fn chromium_flags(&self) -> Vec<String> {
        browsers::chromium_flags(&self.url(Protocol::WebPush), &self.key_digest)
    }

    /// The preferences of a Firefox whose push service is the simulator, as names and values in the form of `user.js`.
    pub fn firefox_preferences(&self) -> Vec<(&'static str, String)> {
        browsers::firefox_preferences(&self.plain_url(Protocol::WebPush))
    }

    /// Makes the handshake of an open platform succeed.
    pub fn confirm(&self, validation_code: Uuid) {
        *self.shared.validation_code.lock() = Some(validation_code);
    }

    pub fn set_faults(&self, faults: Faults) {
        *self.shared.faults.lock() = Arc::new(faults);
    }

    pub fn faults(&self) -> Arc<Faults> {
        self.shared.faults()
    }

    /// Makes all access tokens unknown, as if a provider had lost them.
    pub fn revoke_tokens(&self) {
        self.shared.tokens.revoke();
    }

    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// The newest valid messages, newest first.
    pub fn deliveries(&self, limit: usize) -> Vec<Delivery> {
        self.shared.book().recent(limit)
    }

    /// The first valid request of a protocol, with one message.
    pub fn specimen(&self, protocol: Protocol) -> Option<&Specimen> {
        self.shared.specimens[protocol as usize].get()
    }

    /// Forgets all counts and messages.
    pub fn reset(&self) {
        *self.shared.book() = Book::default();
    }

    /// Waits until the counts are as wanted. They are checked after every request.
    pub async fn wait_until(&self, mut enough: impl FnMut(&Stats) -> bool) -> Stats {
        loop {
            let changed = self.shared.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            let stats = self.stats();
            if enough(&stats) {
                return stats;
            }
            changed.await;
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        for accepting in &self.accepting {
            accepting.abort();
        }
    }
}

/// The address of device number `n` at a simulator whose root for the protocol is known.
pub fn device_address(protocol: Protocol, n: u64, root: &str) -> String {
    match protocol {
        // Never the token of zeros, which no device has.
        Protocol::Apns => format!("{:064x}", u128::from(n) + 1),
        Protocol::Fcm => format!("sim-{n}:APA91b"),
        Protocol::Adm => format!("amzn1.adm-registration.v3.sim-{n}"),
        Protocol::Wns => format!("{root}/wns/device-{n}"),
        Protocol::WebPush => format!("{root}/webpush/browser-{n}"),
        Protocol::UnifiedPush => format!("{root}/up/phone-{n}"),
        Protocol::Open => format!("sim-{n}"),
    }
}

/// An open platform has no host of its own, so it has a path.
const fn root(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Apns | Protocol::Fcm | Protocol::Adm | Protocol::Wns | Protocol::WebPush | Protocol::UnifiedPush => {
            ""
        }
        Protocol::Open => "/open",
    }
}
