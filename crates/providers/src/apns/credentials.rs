//! How an app proves to Apple that it may send: with a signing key (.p8) or with a certificate.

use model::json::{At, Fields};
use model::time::UtcMillis;
use ring::signature::{EcdsaKeyPair, KeyPair};
use rustls::sign::CertifiedKey;
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::{self, Endpoint};
use crate::keys;
use crate::platform::KeyView;

const TOPIC_CHARS: usize = 255;
const ID_CHARS: usize = 10;
const PEM_CHARS: usize = 64 * 1024;

/// One way to send to the devices of one app. `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApnsCredentials {
    /// The bundle id of the app.
    pub topic: String,
    pub environment: Environment,
    pub auth: ApnsAuth,
    pub endpoint: Option<Endpoint>,
}

/// Which of Apple's services knows the devices, depending on how the app was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    Production,
    Sandbox,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ApnsAuth {
    Token {
        team_id: String,
        key_id: String,
        /// The text of the .p8 file.
        key: Credential,
    },
    Certificate {
        /// PEM, ours first.
        certificate: String,
        /// PEM.
        key: Credential,
    },
}

impl ApnsCredentials {
    /// `{"topic", "environment"?, "endpoint"?}` with `{"team_id", "key_id", "key"}` or `{"certificate", "key"}`.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let topic = fields.required("topic", topic);
        let environment = match fields.has("environment") {
            true => fields.optional("environment", |at| at.choice(&Environment::NAMED)),
            false => Some(Environment::Production),
        };
        let auth = match fields.has("certificate") {
            true => certificate(&mut fields),
            false => token(&mut fields),
        };
        let endpoint = endpoint::optional(&mut fields);
        fields.finish();
        Some(Self { topic: topic?, environment: environment?, auth: auth?, endpoint: endpoint? })
    }

    /// When they stop working; signing keys do so only when they are revoked.
    pub fn expires(&self) -> Option<UtcMillis> {
        match &self.auth {
            ApnsAuth::Token { .. } => None,
            ApnsAuth::Certificate { certificate, .. } => keys::first_expiry(certificate),
        }
    }

    /// The part that may be shown.
    pub fn view(&self) -> KeyView {
        let mut details = vec![("topic", self.topic.clone()), ("environment", self.environment.name().to_owned())];
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

impl Environment {
    pub const NAMED: [(&'static str, Environment); 2] =
        [("production", Environment::Production), ("sandbox", Environment::Sandbox)];

    pub const fn name(self) -> &'static str {
        match self {
            Environment::Production => "production",
            Environment::Sandbox => "sandbox",
        }
    }
}

fn token(fields: &mut Fields<'_>) -> Option<ApnsAuth> {
    let team_id = fields.required("team_id", ten_characters);
    let key_id = fields.required("key_id", ten_characters);
    let key = fields.required("key", |at| {
        let text = pem(at)?;
        match keys::p256_key(&text) {
            Ok(_) => Some(Credential::new(text)),
            Err(message) => at.invalid(message),
        }
    });
    Some(ApnsAuth::Token { team_id: team_id?, key_id: key_id?, key: key? })
}

fn certificate(fields: &mut Fields<'_>) -> Option<ApnsAuth> {
    let certificate = fields.required("certificate", |at| {
        let text = pem(at)?;
        match keys::certificates(&text) {
            Ok(_) => Some(text),
            Err(message) => at.invalid(message),
        }
    });
    let key = fields.required("key", |at| {
        let text = pem(at)?;
        let proof = match &certificate {
            Some(certificate) => keys::certified_key(certificate, &text).map(drop),
            None => keys::private_key(&text).map(drop),
        };
        match proof {
            Ok(()) => Some(Credential::new(text)),
            Err(message) => at.invalid(message),
        }
    });
    Some(ApnsAuth::Certificate { certificate: certificate?, key: key? })
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
