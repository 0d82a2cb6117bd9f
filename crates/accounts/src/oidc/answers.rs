//! What a provider answers, before anything of it is believed: how it describes itself, its keys, and the parts of its tokens. A
//! fuzz target reads this file by itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use serde::Deserialize;

/// How a provider describes itself.
#[derive(Deserialize)]
pub(super) struct Configuration {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) jwks_uri: String,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

impl Configuration {
    pub(super) fn has_scope(&self, scope: &str) -> bool {
        self.scopes_supported.iter().any(|known| known == scope)
    }
}

/// What it gives for the code of a login.
#[derive(Deserialize)]
pub(super) struct Tokens {
    pub(super) id_token: String,
}

/// The keys of a provider, those of other kinds left out.
#[derive(Deserialize)]
pub(super) struct Keys {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
pub(super) struct Key {
    pub(super) kty: String,
    #[serde(default)]
    pub(super) kid: Option<String>,
    #[serde(default)]
    pub(super) crv: Option<String>,
    #[serde(default, rename = "use")]
    pub(super) purpose: Option<String>,
    #[serde(default)]
    pub(super) n: Option<String>,
    #[serde(default)]
    pub(super) e: Option<String>,
    #[serde(default)]
    pub(super) x: Option<String>,
    #[serde(default)]
    pub(super) y: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) alg: String,
    #[serde(default)]
    pub(super) kid: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Claims {
    pub(super) iss: String,
    pub(super) sub: String,
    pub(super) aud: OneOrMany,
    #[serde(default)]
    pub(super) azp: Option<String>,
    pub(super) exp: f64,
    pub(super) iat: f64,
    #[serde(default)]
    pub(super) nonce: String,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default)]
    pub(super) email_verified: Option<serde_json::Value>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) groups: Option<OneOrMany>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub(super) fn into_vec(self) -> Vec<String> {
        match self {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

/// A token by its parts: what is signed, the header, and the claims and the signature as they are encoded.
pub(super) struct IdToken<'t> {
    pub(super) signed: &'t str,
    pub(super) header: Header,
    claims: &'t str,
    signature: &'t str,
}

impl<'t> IdToken<'t> {
    pub(super) fn new(text: &'t str) -> Option<Self> {
        let (signed, signature) = text.trim().rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header = serde_json::from_slice(&BASE64_URL.decode(header).ok()?).ok()?;
        Some(Self { signed, header, claims, signature })
    }

    pub(super) fn claims(&self) -> Option<Claims> {
        serde_json::from_slice(&BASE64_URL.decode(self.claims).ok()?).ok()
    }

    pub(super) fn signature(&self) -> Option<Vec<u8>> {
        BASE64_URL.decode(self.signature).ok()
    }
}

#[derive(Clone, Copy)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

impl Keys {
    /// The key with an id, or without one the only key of its kind.
    pub(super) fn find(&self, algorithm: Algorithm, id: Option<&str>) -> Option<&Key> {
        let mut fitting = self.keys.iter().filter(|key| key.is_for(algorithm));
        match id {
            Some(id) => fitting.find(|key| key.kid.as_deref() == Some(id)),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        }
    }
}

impl Key {
    pub(super) fn is_for(&self, algorithm: Algorithm) -> bool {
        let (kind, curve) = match algorithm {
            Algorithm::Rs256 => ("RSA", None),
            Algorithm::Es256 => ("EC", Some("P-256")),
            Algorithm::EdDsa => ("OKP", Some("Ed25519")),
        };
        self.kty == kind
            && self.crv.as_deref() == curve
            && self.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
    }
}
