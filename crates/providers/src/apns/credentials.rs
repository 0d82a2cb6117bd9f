//! How an app proves to Apple that it may send: with a signing key (.p8) or with a certificate.

use model::json::At;
use model::json::body::{Body, Words};
use model::time::UtcMillis;
use ring::signature::{EcdsaKeyPair, KeyPair};
use rustls::sign::CertifiedKey;
use schemars::{Schema, json_schema};
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::keys;
use crate::platform::KeyView;

const TOPIC_CHARS: usize = 255;
const ID_CHARS: usize = 10;
const PEM_CHARS: usize = 64 * 1024;

/// For `apns`: a signing key or a certificate.
// `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[body(not_printed)]
pub struct ApnsCredentials {
    /// The bundle id of the app.
    #[body(read = topic, length = 1..=TOPIC_CHARS)]
    pub topic: String,
    #[body(default = Environment::Production)]
    pub environment: Environment,
    #[body(flatten)]
    pub auth: ApnsAuth,
    /// The root of the call to send.
    pub endpoint: Option<Endpoint>,
}

/// Which of Apple's services knows the devices, depending on how the app was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Words)]
#[serde(rename_all = "lowercase")]
#[words(name = "ApnsEnvironment")]
pub enum Environment {
    Production,
    Sandbox,
}

/// With a signing key or with a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[serde(tag = "type", rename_all = "lowercase")]
#[body(not_printed, by_keys)]
pub enum ApnsAuth {
    /// With a certificate.
    #[body(when = ["certificate"])]
    Certificate {
        /// PEM of the certificate, and of those that it was issued with after it.
        #[body(read = certificate, length = 1..=PEM_CHARS)]
        certificate: String,
        /// PEM of the private key that belongs to it.
        #[body(read = |at| certified_key(at, certificate.as_deref()), length = 1..=PEM_CHARS)]
        key: Credential,
    },
    /// With a signing key.
    Token {
        /// The ten characters that name the team.
        #[body(read = ten_characters, schema = |_| ten_characters_schema())]
        team_id: String,
        /// The ten characters that name the key.
        #[body(read = ten_characters, schema = |_| ten_characters_schema())]
        key_id: String,
        /// The text of the .p8 file.
        #[body(read = signing_key, length = 1..=PEM_CHARS)]
        key: Credential,
    },
}

impl ApnsCredentials {
    /// When they stop working; signing keys do so only when they are revoked.
    pub fn expires(&self) -> Option<UtcMillis> {
        match &self.auth {
            ApnsAuth::Token { .. } => None,
            ApnsAuth::Certificate { certificate, .. } => keys::first_expiry(certificate),
        }
    }

    /// The part that may be shown.
    pub fn view(&self) -> KeyView {
        let mut details = vec![("topic", self.topic.clone()), ("environment", self.environment.word().to_owned())];
        let fingerprint = match &self.auth {
            ApnsAuth::Token { team_id, key_id, key } => {
                details.extend([
                    ("auth", "token".to_owned()),
                    ("team_id", team_id.clone()),
                    ("key_id", key_id.clone()),
                ]);
                let public = keys::p256_key(key.reveal()).map(|pair| *pair.public_key());
                keys::fingerprint(&[public.as_ref().map_or(&[], AsRef::as_ref)])
            }
            ApnsAuth::Certificate { certificate, .. } => {
                details.push(("auth", "certificate".to_owned()));
                keys::certificate_fingerprint(certificate)
            }
        };
        let endpoint = self.endpoint.as_ref().map(|endpoint| endpoint.url.clone());
        KeyView { fingerprint, details, expires: self.expires(), endpoint, token_uri: None }
    }
}

impl ApnsAuth {
    /// The key that signs tokens; `None` for certificates. Stored keys were proven when they were set.
    pub(crate) fn signing_key(&self) -> Option<Result<EcdsaKeyPair, String>> {
        match self {
            ApnsAuth::Token { key, .. } => Some(keys::p256_key(key.reveal())),
            ApnsAuth::Certificate { .. } => None,
        }
    }

    /// The certificate that the client shows in the TLS handshake; `None` for tokens.
    pub(crate) fn client_certificate(&self) -> Option<Result<CertifiedKey, String>> {
        match self {
            ApnsAuth::Token { .. } => None,
            ApnsAuth::Certificate { certificate, key } => Some(keys::certified_key(certificate, key.reveal())),
        }
    }
}

fn certificate(at: &At<'_>) -> Option<String> {
    let text = pem(at)?;
    match keys::certificates(&text) {
        Ok(_) => Some(text),
        Err(message) => at.invalid(message),
    }
}

/// The private key, proven with the certificate if that can be read.
fn certified_key(at: &At<'_>, certificate: Option<&str>) -> Option<Credential> {
    let text = pem(at)?;
    let proof = match certificate {
        Some(certificate) => keys::certified_key(certificate, &text).map(drop),
        None => keys::private_key(&text).map(drop),
    };
    match proof {
        Ok(()) => Some(Credential::new(text)),
        Err(message) => at.invalid(message),
    }
}

fn signing_key(at: &At<'_>) -> Option<Credential> {
    let text = pem(at)?;
    match keys::p256_key(&text) {
        Ok(_) => Some(Credential::new(text)),
        Err(message) => at.invalid(message),
    }
}

fn pem(at: &At<'_>) -> Option<String> {
    at.text(1..=PEM_CHARS)
}

fn topic(at: &At<'_>) -> Option<String> {
    let text = at.text(1..=TOPIC_CHARS)?;
    match text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')) {
        true => Some(text),
        false => at.invalid("A topic is the bundle id of the app, such as com.example.app."),
    }
}

fn ten_characters(at: &At<'_>) -> Option<String> {
    let text = at.string()?;
    match text.len() == ID_CHARS && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) {
        true => Some(text.to_owned()),
        false => at.invalid("This must be the 10 capital letters and digits that Apple shows, such as 2X9R4HXF34."),
    }
}

fn ten_characters_schema() -> Schema {
    json_schema!({"type": "string", "pattern": format!("^[A-Z0-9]{{{ID_CHARS}}}$")})
}
