//! The parts of a token that a device hands back, before anything of it is believed. A fuzz target reads this file by itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use model::app::AppKey;
use model::ids::{ChannelId, ContactId};
use serde::{Deserialize, Serialize};

/// `{"alg":"HS256","typ":"JWT"}`. There is no other, so that a token cannot choose how it is checked.
pub(super) const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Claims {
    pub(super) app: AppKey,
    pub(super) sub: Subject,
    /// In seconds since 1970.
    pub(super) exp: i64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Subject {
    Channel(ChannelId),
    Contact(ContactId),
}

/// The signed text, the signature, and the claims of the token, which are not verified yet.
pub(super) fn take_apart(token: &str) -> Option<(&str, Vec<u8>, Claims)> {
    let (signed, signature) = token.trim().rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    let claims = serde_json::from_slice(&BASE64_URL.decode(claims).ok()?).ok()?;
    let signature = BASE64_URL.decode(signature).ok()?;
    (header == HEADER).then_some((signed, signature, claims))
}
