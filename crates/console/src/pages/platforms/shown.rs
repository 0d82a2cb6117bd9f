//! A platform as the API shows it, and what its state is in words.

use std::collections::BTreeMap;

use model::time::UtcMillis;
use serde::Deserialize;

use super::state::State;

pub(super) const PROVIDERS: [&str; 5] = ["apns", "fcm", "webpush", "adm", "wns"];

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// As `aerogram doctor` warns.
const WARN_DAYS: i64 = 30;

#[derive(Deserialize)]
pub(super) struct Platforms {
    pub(super) platforms: Vec<Shown>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Shown {
    pub(super) platform: String,
    pub(super) keys: Vec<Key>,
    /// Sealed with a `secrets.key` that the service does not have.
    pub(super) unreadable: bool,
    /// Of open platforms.
    pub(super) url: Option<String>,
    pub(super) auth: Option<Auth>,
    pub(super) enabled: Option<bool>,
    pub(super) validation_code: Option<String>,
    pub(super) paused: Option<Hindrance>,
    pub(super) waiting: Option<Hindrance>,
    /// Absent when nothing is configured.
    pub(super) modified: Option<String>,
    /// Absent until a test or a message has shown that the credentials are good.
    pub(super) proven: Option<String>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Hindrance {
    /// Who has to act, of a pause.
    by: Option<String>,
    reason: String,
    since: String,
}

#[derive(Clone, Deserialize)]
pub(super) struct Auth {
    pub(super) r#type: String,
}

#[derive(Clone, Deserialize)]
pub(super) struct Key {
    pub(super) fingerprint: String,
    pub(super) expires: Option<String>,
    /// The provider's own identifiers of the key.
    #[serde(flatten)]
    pub(super) details: BTreeMap<String, String>,
}

/// The name of a platform and of the devices that it reaches.
pub(super) struct Words {
    pub(super) name: String,
    pub(super) devices: &'static str,
}

pub(super) fn words(platform: &str) -> Words {
    let (name, devices) = match platform {
        "apns" => ("Apple", "apns: iPhone, iPad, Mac"),
        "fcm" => ("Android", "fcm: Firebase Cloud Messaging"),
        "adm" => ("Amazon", "adm: Fire tablets and Fire TV"),
        "wns" => ("Windows", "wns: Windows Notification Services"),
        "webpush" => ("Browsers", "webpush: Chrome, Edge, Firefox, Safari"),
        open => (open, "a platform of your own"),
    };
    Words { name: name.to_owned(), devices }
}

impl Shown {
    pub(super) fn absent(platform: &str) -> Self {
        Self { platform: platform.to_owned(), ..Self::default() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.platform.starts_with("open::")
    }

    pub(super) fn is_set_up(&self) -> bool {
        self.modified.is_some()
    }

    /// The first that needs somebody to act.
    pub(super) fn state(&self, now: UtcMillis) -> State {
        match (&self.paused, self.enabled, &self.waiting) {
            _ if self.unreadable => State::Unreadable,
            (Some(paused), ..) if paused.by.as_deref() == Some("provider") => State::Refused,
            (Some(_), ..) => State::Paused,
            _ if !self.is_set_up() => State::NotSetUp,
            (None, Some(false), _) => State::Disabled,
            _ if self.days_left(now).is_some_and(|days| days < 0) => State::Expired,
            (None, _, Some(_)) => State::Waiting,
            (None, _, None) if self.proven.is_none() => State::NotTested,
            (None, _, None) => State::Ok,
        }
    }

    /// Why nothing is sent or nothing arrives, and since when.
    pub(super) fn hindrance(&self) -> Option<(&str, &str)> {
        self.paused.as_ref().or(self.waiting.as_ref()).map(|at| (at.reason.as_str(), at.since.as_str()))
    }

    /// What runs out soon, or has run out.
    pub(super) fn notice(&self, now: UtcMillis) -> Option<String> {
        match self.days_left(now)? {
            days if days < 0 => {
                Some("the certificate has expired. Set it up with a new one; messages wait until then.".to_owned())
            }
            0 => Some("the certificate expires within a day. Add a new one now; it takes over by itself.".to_owned()),
            days if days <= WARN_DAYS => {
                Some(format!("the certificate expires in {days} days. Add a new one now; it takes over by itself."))
            }
            _ => None,
        }
    }

    /// Until the last of its certificates ends.
    fn days_left(&self, now: UtcMillis) -> Option<i64> {
        let ends: Option<Vec<UtcMillis>> =
            self.keys.iter().map(|key| key.expires.as_deref().and_then(UtcMillis::parse_api)).collect();
        ends?.into_iter().max().map(|end| (end.0 - now.0).div_euclid(DAY_MILLIS))
    }
}

impl Key {
    /// The details that tell keys apart, under the names that people know.
    pub(super) fn known(&self) -> impl Iterator<Item = (&'static str, &str)> {
        const NAMES: [(&str, &str); 9] = [
            ("topic", "bundle"),
            ("environment", "environment"),
            ("key_id", "key"),
            ("team_id", "team"),
            ("project_id", "project"),
            ("package_sid", "package"),
            ("client_id", "client"),
            ("subject", "contact"),
            ("endpoint", "endpoint"),
        ];
        NAMES.into_iter().filter_map(|(name, words)| self.details.get(name).map(|value| (words, value.as_str())))
    }
}
