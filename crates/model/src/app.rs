//! An app: one tenant, with the credentials its servers and its devices present.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::json::At;

/// The public name of an app: 22 characters of `[A-Za-z0-9_-]`, as client libraries insist on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct AppKey(String);

/// A secret in the same form as a key. It is never printed by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// How pushes to platforms without credentials are treated: development apps deliver to the sandbox, production apps fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Development,
    Production,
}

/// Why a key or secret cannot be used.
pub const CREDENTIAL_SHAPE: &str = "This must be 22 characters of A-Z, a-z, 0-9, '_' and '-'.";

fn has_credential_shape(text: &str) -> bool {
    text.len() == 22 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
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
    pub const NAMED: [(&'static str, Mode); 2] = [("development", Mode::Development), ("production", Mode::Production)];

    pub const fn name(self) -> &'static str {
        match self {
            Mode::Development => "development",
            Mode::Production => "production",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, mode)| mode)
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
