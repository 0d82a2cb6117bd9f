//! The way to one provider with one set of credentials: all that the rest of the service sees of the providers that take
//! one message per device.

use model::time::UtcMillis;

use crate::adm::{self, AdmCredentials};
use crate::apns::{self, ApnsCredentials};
use crate::fcm::{self, FcmCredentials};
use crate::network::Network;
use crate::outcome::Outcome;
use crate::recipient::Recipient;
use crate::rendered::RenderedPush;
use crate::webpush::{self, PushHosts, WebPushCredentials};
use crate::wns::{self, WnsCredentials};

/// Cheap to clone; clones share connections and tokens.
#[derive(Clone)]
pub enum Sender {
    Apns(apns::Client),
    Fcm(fcm::Client),
    Adm(adm::Client),
    Wns(wns::Client),
    WebPush(webpush::Client),
}

impl Sender {
    pub fn apns(credentials: &ApnsCredentials, network: &Network) -> Self {
        Sender::Apns(apns::Client::new(credentials, network))
    }

    pub fn fcm(credentials: &FcmCredentials, network: &Network) -> Self {
        Sender::Fcm(fcm::Client::new(credentials, network))
    }

    pub fn adm(credentials: &AdmCredentials, network: &Network) -> Self {
        Sender::Adm(adm::Client::new(credentials, network))
    }

    pub fn wns(credentials: &WnsCredentials, network: &Network) -> Self {
        Sender::Wns(wns::Client::new(credentials, network))
    }

    pub fn web_push(credentials: &WebPushCredentials, network: &Network, hosts: PushHosts) -> Self {
        Sender::WebPush(webpush::Client::new(credentials, network, hosts))
    }

    /// Sends one message to one device. Always ends: every wait is bounded in time.
    pub async fn send(&self, push: &RenderedPush, recipient: &Recipient<'_>, now: UtcMillis) -> Outcome {
        // The two providers that get messages by the thousand need little room; the others must not make it larger.
        match (self, push) {
            (Sender::Apns(client), RenderedPush::Apns(push)) => client.send(push, recipient, now).await,
            (Sender::Fcm(client), RenderedPush::Fcm(push)) => client.send(push, recipient, now).await,
            (Sender::Adm(client), RenderedPush::Adm(push)) => Box::pin(client.send(push, recipient, now)).await,
            (Sender::Wns(client), RenderedPush::Wns(push)) => Box::pin(client.send(push, recipient, now)).await,
            (Sender::WebPush(client), RenderedPush::WebPush(push) | RenderedPush::UnifiedPush(push)) => {
                Box::pin(client.send(push, recipient, now)).await
            }
            (Sender::Apns(_) | Sender::Fcm(_) | Sender::Adm(_) | Sender::Wns(_) | Sender::WebPush(_), other) => {
                let reason = format!("A message for {} cannot be sent this way.", other.transport());
                Outcome::Rejected { reason }
            }
        }
    }

    /// How many lanes there are. Messages in one lane do not wait for those in another.
    pub fn n_lanes(&self) -> usize {
        match self {
            Sender::WebPush(client) => client.n_lanes(),
            Sender::Apns(_) | Sender::Fcm(_) | Sender::Adm(_) | Sender::Wns(_) => 1,
        }
    }

    /// The lane of the messages to an address.
    pub fn lane(&self, address: &str) -> usize {
        match self {
            Sender::WebPush(client) => client.lane(address),
            Sender::Apns(_) | Sender::Fcm(_) | Sender::Adm(_) | Sender::Wns(_) => 0,
        }
    }

    /// How many messages it makes sense to have under way in a lane right now.
    pub fn room(&self, lane: usize) -> usize {
        match self {
            Sender::Apns(client) => client.room(),
            Sender::Fcm(client) => client.room(),
            Sender::Adm(client) => client.room(),
            Sender::Wns(client) => client.room(),
            Sender::WebPush(client) => client.room(lane),
        }
    }

    /// Proves the credentials to the provider without sending anything to any device. The error is a sentence for the
    /// operator.
    pub async fn check(&self, now: UtcMillis) -> Result<(), String> {
        match self {
            Sender::Apns(client) => client.check(now).await,
            Sender::Fcm(client) => client.check(now).await,
            Sender::Adm(client) => client.check(now).await,
            Sender::Wns(client) => client.check(now).await,
            Sender::WebPush(client) => client.check(now),
        }
    }
}
