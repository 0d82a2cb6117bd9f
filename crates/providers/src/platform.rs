//! How the devices of one platform are reached: the provider and the keys.

mod keys;
mod provider;

pub use keys::{Keys, MOST_KEYS};
pub use provider::Provider;

use model::json::At;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};

use crate::adm::AdmCredentials;
use crate::apns::ApnsCredentials;
use crate::fcm::FcmCredentials;
use crate::http::WebUrl;
use crate::network::Network;
use crate::open::OpenPlatformConfig;
use crate::sender::Sender;
use crate::webpush::{ONE_PAIR, PushHosts, WebPushCredentials};
use crate::wns::WnsCredentials;

/// The configuration of one platform, as it is stored. `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlatformConfig {
    Apns(Keys<ApnsCredentials>),
    Fcm(Keys<FcmCredentials>),
    Adm(Keys<AdmCredentials>),
    Wns(Keys<WnsCredentials>),
    WebPush(Keys<WebPushCredentials>),
    Open(OpenPlatformConfig),
}

/// One set of credentials as it may be shown: without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyView {
    /// Distinguishes it from the others.
    pub fingerprint: String,
    /// The provider's name for it.
    pub details: Vec<(&'static str, String)>,
    /// When it stops working, where that is known.
    pub expires: Option<UtcMillis>,
    /// Where it is used instead of at the provider's public address.
    pub endpoint: Option<WebUrl>,
    /// Where it is exchanged for tokens, if it names that itself.
    pub token_uri: Option<WebUrl>,
}

impl PlatformConfig {
    /// The credentials themselves, or `{"keys": [...]}` with several of them, which are tried in order. Web push has only one.
    pub fn parse(provider: Provider, at: &At<'_>) -> Option<Self> {
        match provider {
            Provider::Apns => Keys::parse(at, ApnsCredentials::parse).map(PlatformConfig::Apns),
            Provider::Fcm => Keys::parse(at, FcmCredentials::parse).map(PlatformConfig::Fcm),
            Provider::Adm => Keys::parse(at, AdmCredentials::parse).map(PlatformConfig::Adm),
            Provider::Wns => Keys::parse(at, WnsCredentials::parse).map(PlatformConfig::Wns),
            Provider::WebPush => {
                let mut n_pairs = 0;
                let pair = |at: &At<'_>| {
                    n_pairs += 1;
                    if n_pairs == 1 { WebPushCredentials::parse(at) } else { at.invalid(ONE_PAIR) }
                };
                Keys::parse(at, pair).map(PlatformConfig::WebPush)
            }
        }
    }

    /// The keys in their order. Open platforms have none: theirs is part of the webhook.
    pub fn keys(&self) -> Vec<KeyView> {
        match self {
            PlatformConfig::Apns(keys) => keys.iter().map(ApnsCredentials::view).collect(),
            PlatformConfig::Fcm(keys) => keys.iter().map(FcmCredentials::view).collect(),
            PlatformConfig::Adm(keys) => keys.iter().map(AdmCredentials::view).collect(),
            PlatformConfig::Wns(keys) => keys.iter().map(WnsCredentials::view).collect(),
            PlatformConfig::WebPush(keys) => keys.iter().map(WebPushCredentials::view).collect(),
            PlatformConfig::Open(_) => Vec::new(),
        }
    }

    /// One way to the provider for each key, in their order, and to some hosts of browsers. Open platforms are not sent to one
    /// message at a time.
    pub fn senders(&self, network: &Network, hosts: &PushHosts) -> Vec<Sender> {
        match self {
            PlatformConfig::Apns(keys) => keys.iter().map(|key| Sender::apns(key, network)).collect(),
            PlatformConfig::Fcm(keys) => keys.iter().map(|key| Sender::fcm(key, network)).collect(),
            PlatformConfig::Adm(keys) => keys.iter().map(|key| Sender::adm(key, network)).collect(),
            PlatformConfig::Wns(keys) => keys.iter().map(|key| Sender::wns(key, network)).collect(),
            PlatformConfig::WebPush(keys) => {
                keys.iter().map(|key| Sender::web_push(key, network, hosts.clone())).collect()
            }
            PlatformConfig::Open(_) => Vec::new(),
        }
    }

    /// When the first of the keys stops working, where that is known.
    pub fn expires(&self) -> Option<UtcMillis> {
        match self {
            PlatformConfig::Apns(keys) => keys.iter().filter_map(ApnsCredentials::expires).min(),
            // Secrets and key pairs are valid until they are revoked.
            PlatformConfig::Fcm(_)
            | PlatformConfig::Adm(_)
            | PlatformConfig::Wns(_)
            | PlatformConfig::WebPush(_)
            | PlatformConfig::Open(_) => None,
        }
    }

    /// These keys and then those of another configuration; `None` when they are for different platforms or too many. A key
    /// that is there already is replaced where it stands.
    pub fn with(self, more: Self) -> Option<Self> {
        match (self, more) {
            (PlatformConfig::Apns(keys), PlatformConfig::Apns(more)) => {
                keys.with(more, ApnsCredentials::view).map(PlatformConfig::Apns)
            }
            (PlatformConfig::Fcm(keys), PlatformConfig::Fcm(more)) => {
                keys.with(more, FcmCredentials::view).map(PlatformConfig::Fcm)
            }
            (PlatformConfig::Adm(keys), PlatformConfig::Adm(more)) => {
                keys.with(more, AdmCredentials::view).map(PlatformConfig::Adm)
            }
            (PlatformConfig::Wns(keys), PlatformConfig::Wns(more)) => {
                keys.with(more, WnsCredentials::view).map(PlatformConfig::Wns)
            }
            (PlatformConfig::WebPush(keys), PlatformConfig::WebPush(more)) => {
                let keys = keys.with(more, WebPushCredentials::view)?;
                (keys.iter().len() == 1).then_some(PlatformConfig::WebPush(keys))
            }
            (_, _) => None,
        }
    }

    /// All keys but one; `None` when no other would be left.
    pub fn without(self, fingerprint: &str) -> Option<Self> {
        match self {
            PlatformConfig::Apns(keys) => keys.without(fingerprint, ApnsCredentials::view).map(PlatformConfig::Apns),
            PlatformConfig::Fcm(keys) => keys.without(fingerprint, FcmCredentials::view).map(PlatformConfig::Fcm),
            PlatformConfig::Adm(keys) => keys.without(fingerprint, AdmCredentials::view).map(PlatformConfig::Adm),
            PlatformConfig::Wns(keys) => keys.without(fingerprint, WnsCredentials::view).map(PlatformConfig::Wns),
            PlatformConfig::WebPush(keys) => {
                keys.without(fingerprint, WebPushCredentials::view).map(PlatformConfig::WebPush)
            }
            PlatformConfig::Open(_) => None,
        }
    }
}
