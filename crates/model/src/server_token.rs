//! Tokens for servers: credentials that can do less than the master secret, and how the operator makes one.

use std::time::Duration;

use crate::account::Role;
use crate::json::At;
use crate::json::body::{Body, Words};
use crate::network::Network;
use crate::p384::PublicKey;
use crate::time::UtcMillis;
use crate::{limits, name};

/// A part of the API that a token may be limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Words)]
#[words(name = "TokenScope")]
pub enum Scope {
    /// Sending, now and later.
    #[words(rename = "psh")]
    Push,
    /// Schedules that exist.
    #[words(rename = "sch")]
    Schedules,
    /// Channels.
    #[words(rename = "chn")]
    Channels,
    /// Named users.
    #[words(rename = "nu")]
    NamedUsers,
    /// Contacts.
    #[words(rename = "cnt")]
    Contacts,
    /// Uploaded lists, and which subscription lists there are.
    #[words(rename = "lst")]
    Lists,
    /// Custom events.
    #[words(rename = "evt")]
    CustomEvents,
    /// Pipelines.
    #[words(rename = "pln")]
    Pipelines,
    /// Reports.
    #[words(rename = "rpt")]
    Reports,
    /// Templates of content.
    #[words(rename = "tpl")]
    ContentTemplates,
    /// Attachments.
    #[words(rename = "att")]
    Attachments,
    /// Journeys.
    #[words(rename = "jny")]
    Journeys,
    /// Remote configuration.
    #[words(rename = "rmc")]
    RemoteConfig,
}

impl Scope {
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, scope)| *scope)
    }
}

/// A token to make for a server of an app.
#[derive(Clone, Debug, Body)]
#[body(not_printed, check = Self::check)]
pub struct NewServerToken {
    /// For people: which server has it. No control characters.
    #[body(read = name::parse, length = 1..=limits::DISPLAY_NAME_CHARS)]
    pub name: String,
    /// What the token may do, as for people.
    pub role: Role,
    /// Limits the token to these parts of the API; without the key there is no such limit.
    #[body(length = 1..=limits::SCOPES_PER_TOKEN)]
    pub scopes: Option<Vec<Scope>>,
    /// Limits the token to callers from these networks; without the key there is no such limit.
    #[body(length = 1..=limits::NETWORKS_PER_TOKEN)]
    pub addresses: Option<Vec<Network>>,
    /// When the token ends, as a date-time in UTC.
    #[body(read = instant, like = String)]
    pub expires: Option<UtcMillis>,
    /// In how many seconds the token ends, instead of `expires`.
    #[body(range = 60..=limits::TOKEN_SECONDS)]
    pub expires_in: Option<u32>,
}

impl NewServerToken {
    /// When it ends, if it is made now.
    pub fn ends(&self, now: UtcMillis) -> Option<UtcMillis> {
        let after = self.expires_in.map(|seconds| now.plus(Duration::from_secs(u64::from(seconds))));
        after.or(self.expires)
    }

    fn check(self, at: &At<'_>) -> Option<Self> {
        if self.expires.is_some() && self.expires_in.is_some() {
            return at.invalid_key("expires_in", "Give 'expires' or 'expires_in', and not both.");
        }
        Some(self)
    }
}

fn instant(at: &At<'_>) -> Option<UtcMillis> {
    let text = at.string()?;
    UtcMillis::parse_api(text).or_else(|| at.invalid(UtcMillis::refusal(text, "in UTC")))
}

/// An OAuth client to make for a server of an app. It gets access tokens for an hour by `POST /token`.
#[derive(Clone, Debug, Body)]
#[body(not_printed)]
pub struct NewOauthClient {
    #[body(flatten)]
    pub limits: NewServerToken,
    /// Whether the client gets a secret, besides its key.
    #[body(default = true)]
    pub basic: bool,
    /// The client's own public key on the curve P-384, as PEM. Without one a pair is made, and the private key is shown once.
    pub public_key: Option<PublicKey>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn tokens_end_by_one_rule() {
        let parsed = |body: &str| parse(body.as_bytes(), NewServerToken::parse);
        let token = parsed(r#"{"name":"Shop","role":"sender","scopes":["psh","nu"],"expires_in":60}"#).unwrap();
        assert_eq!(token.ends(UtcMillis(1000)), Some(UtcMillis(61_000)));
        assert_eq!(token.scopes, Some(vec![Scope::Push, Scope::NamedUsers]));
        let token = parsed(r#"{"name":"Shop","role":"admin","expires":"1970-01-01T00:00:09"}"#).unwrap();
        assert_eq!(token.ends(UtcMillis(1000)), Some(UtcMillis(9000)));
        let both = r#"{"name":"Shop","role":"admin","expires":"1970-01-01T00:00:09","expires_in":60}"#;
        let owner = r#"{"name":"Shop","role":"owner"}"#;
        let nowhere = r#"{"name":"Shop","role":"admin","addresses":[]}"#;
        for wrong in [both, owner, nowhere, r#"{"role":"admin"}"#, r#"{"name":"Shop"}"#] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
