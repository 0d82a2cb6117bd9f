//! An app: one tenant, with the credentials its servers and its devices present; and how the operator sets one up.

mod user_rules;
mod web_origin;

use std::fmt;

use schemars::{Schema, json_schema};
use serde::{Deserialize, Serialize};

use crate::channel::Change;
use crate::json::At;
use crate::json::body::{Body, Read, Words};
use crate::p256::PublicKey;
use crate::{limits, name};

pub use user_rules::{UserAspect, UserRule, UserRules, UserRulesChange};
pub use web_origin::{NoOrigin, ORIGIN_SHAPE, WebOrigin};

/// The public name of an app: 22 characters of `[A-Za-z0-9_-]`, as client libraries insist on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Read)]
#[serde(try_from = "String")]
#[body(schema = credential_schema())]
pub struct AppKey(String);

/// A secret of an app, in the same form as its key.
// `Debug` never prints it.
#[derive(Clone, PartialEq, Eq, Read)]
#[body(name = "AppSecret", schema = credential_schema())]
pub struct Secret(String);

/// What becomes of pushes to platforms that the app has no credentials for, and how much devices are believed about named users
/// unless the rules of the app say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Words)]
#[serde(rename_all = "lowercase")]
#[words(name = "AppMode")]
pub enum Mode {
    /// They are delivered to the sandbox. Devices are believed.
    Development,
    /// They fail. Devices need a proof.
    Production,
}

/// An app to create.
#[derive(Clone, Debug, Body)]
#[body(not_printed)]
pub struct NewApp {
    /// For people. No control characters.
    #[body(read = name::parse, length = 1..=limits::DISPLAY_NAME_CHARS)]
    pub name: String,
    #[body(default = Mode::Development)]
    pub mode: Mode,
    /// The public name of the app. It is made at random if none is given.
    #[body(nullable)]
    pub key: Option<AppKey>,
    /// With which devices authenticate. It is made at random if none is given.
    #[body(nullable)]
    pub app_secret: Option<Secret>,
    /// With which servers authenticate. It is made at random if none is given.
    #[body(nullable)]
    pub master_secret: Option<Secret>,
}

/// A change of an app. Keys that are left out stay as they are.
#[derive(Clone, Debug, Default, Body)]
#[body(not_printed)]
pub struct AppChange {
    /// For people. No control characters.
    #[body(read = name::parse, length = 1..=limits::DISPLAY_NAME_CHARS)]
    pub name: Option<String>,
    pub mode: Option<Mode>,
    /// Who may say what about named users.
    pub named_users: Option<UserRulesChange>,
    /// Somebody who uses the console needs the approval of a second person for a message that reaches more devices than this.
    /// `null` if nobody does.
    #[body(range = 0..=u32::MAX)]
    pub approval_above: Change<u32>,
    /// The origins whose web pages may register browsers with the key of the app. They replace those that there were.
    #[body(length = 0..=limits::WEB_ORIGINS)]
    pub web_origins: Option<Vec<WebOrigin>>,
    /// The public key of those who sign with ES256 who the user of a device is. `null` if nobody does.
    pub proof_public_key: Change<PublicKey>,
}

/// The choice of secrets to replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct Rotation {
    /// Which secret to replace.
    pub secret: SecretChoice,
    /// For how many seconds the old one stays good.
    #[body(default = 0, range = 0..=limits::OVERLAP_SECONDS)]
    pub overlap: u32,
}

/// One secret of an app, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[words(not_printed)]
pub enum SecretChoice {
    App,
    Master,
    Both,
}

/// Why a key or secret cannot be used.
pub const CREDENTIAL_SHAPE: &str = "This must be 22 characters of A-Z, a-z, 0-9, '_' and '-'.";

fn has_credential_shape(text: &str) -> bool {
    text.len() == 22 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn credential_schema() -> Schema {
    json_schema!({"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"})
}

impl AppKey {
    pub fn new(text: &str) -> Option<Self> {
        has_credential_shape(text).then(|| Self(text.to_owned()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|| at.invalid(CREDENTIAL_SHAPE))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Secret {
    pub fn new(text: &str) -> Option<Self> {
        has_credential_shape(text).then(|| Self(text.to_owned()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|| at.invalid(CREDENTIAL_SHAPE))
    }

    /// The secret itself. Only for hashing it and for showing it once.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Mode {
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, mode)| *mode)
    }
}

impl fmt::Display for AppKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl TryFrom<String> for AppKey {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or(CREDENTIAL_SHAPE)
    }
}
