//! JSON web tokens that callers hand in, before anything of them is believed: proofs of devices about their users, access tokens of
//! servers, and the assertions that these are given for. A fuzz target reads this file by itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use model::ids::{ChannelId, ServerTokenId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A token by its parts, which are still encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WebToken<'t> {
    /// The header and the claims, as they were signed.
    pub(crate) signed: &'t str,
    header: &'t str,
    claims: &'t str,
    signature: &'t str,
}

impl<'t> WebToken<'t> {
    pub(crate) fn new(text: &'t str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        Some(Self { signed, header, claims, signature })
    }

    /// The same for a token whose parts have the padding that other forms of this encoding have.
    pub(crate) fn without_padding(self) -> Self {
        let bare = |part: &'t str| part.trim_end_matches('=');
        Self { header: bare(self.header), claims: bare(self.claims), signature: bare(self.signature), ..self }
    }

    pub(crate) fn header<T: DeserializeOwned>(&self) -> Option<T> {
        read(self.header)
    }

    pub(crate) fn claims<T: DeserializeOwned>(&self) -> Option<T> {
        read(self.claims)
    }

    pub(crate) fn signature(&self) -> Option<Vec<u8>> {
        BASE64_URL.decode(self.signature).ok()
    }
}

fn read<T: DeserializeOwned>(part: &str) -> Option<T> {
    serde_json::from_slice(&BASE64_URL.decode(part).ok()?).ok()
}

#[derive(Deserialize)]
pub(crate) struct ProofHeader {
    pub(crate) alg: String,
}

#[derive(Deserialize)]
pub(crate) struct ProofClaims {
    #[serde(default)]
    pub(crate) aud: Option<Audience>,
    pub(crate) sub: String,
    /// In seconds since 1970, which may have a fraction.
    pub(crate) exp: f64,
    #[serde(default)]
    pub(crate) channel: Option<ChannelId>,
}

/// Libraries for such tokens write one or several.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Audience {
    pub(crate) fn has(&self, wanted: &str) -> bool {
        match self {
            Audience::One(one) => one == wanted,
            Audience::Many(many) => many.iter().any(|one| one == wanted),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AccessHeader {
    pub(crate) alg: String,
    pub(crate) kid: String,
    #[serde(default)]
    pub(crate) typ: String,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AccessClaims {
    pub(crate) iss: String,
    pub(crate) sub: String,
    pub(crate) client_id: ServerTokenId,
    /// Not there if the client is not limited to scopes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ipaddr: Vec<String>,
    pub(crate) iat: i64,
    pub(crate) exp: i64,
    pub(crate) jti: String,
}

#[derive(Deserialize)]
pub(crate) struct AssertionHeader {
    pub(crate) alg: String,
    pub(crate) kid: String,
}

#[derive(Deserialize)]
pub(crate) struct AssertionClaims {
    pub(crate) iss: String,
    pub(crate) aud: Words,
    pub(crate) iat: f64,
    pub(crate) exp: f64,
    pub(crate) sub: Words,
    pub(crate) nonce: String,
    #[serde(default)]
    pub(crate) scope: Words,
    #[serde(default)]
    pub(crate) ipaddr: Words,
}

/// Some libraries write words with spaces between them, others a list.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Words {
    Text(String),
    List(Vec<String>),
}

impl Default for Words {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Words {
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Words::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            Words::List(list) => list.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect(),
        }
    }
}

/// Seconds since 1970, which may have a fraction; a number that makes no sense is long ago.
#[expect(clippy::cast_possible_truncation, reason = "a float that is too large becomes the largest integer")]
pub(crate) fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0) as i64
}
