//! How an app proves to push services of browsers that it may send: with the key pair its web page subscribed with (VAPID).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use model::json::body::{Body, Read};
use model::json::{At, Fields};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::keys;
use crate::platform::KeyView;

/// Why web push has no second key to fall back on.
pub const ONE_PAIR: &str = "Web push has one key pair: a subscription belongs to the pair it was made with, so that another \
                            pair can only replace it. Set the platform to do so.";

const SUBJECT_CHARS: usize = 255;
const PEM_CHARS: usize = 64 * 1024;
/// An uncompressed point of P-256.
const PUBLIC_KEY_BYTES: usize = 65;

/// For `webpush`: a key pair of your own.
// `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Read)]
#[body(schema = <GivenPair as schemars::JsonSchema>::json_schema(schemas))]
pub struct WebPushCredentials {
    /// 32 bytes in base64url, or PKCS#8 in PEM or base64url.
    pub private_key: Credential,
    /// The key with which a web page subscribes: 65 bytes in base64url.
    pub public_key: String,
    /// The contact for push services in case of trouble: `mailto:` or `https:`.
    pub subject: String,
    /// Where every message goes instead of the service of its subscription, with the path kept: a simulator or a proxy.
    pub endpoint: Option<Endpoint>,
}

/// For `webpush` with the key pair that the app has.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct WebPushContact {
    /// `mailto:` or `https:` address that push services may turn to.
    #[body(read = subject, length = 1..=SUBJECT_CHARS)]
    pub subject: String,
    /// Where every message goes instead of the service of its subscription, with the path kept: a simulator or a proxy.
    pub endpoint: Option<Endpoint>,
}

/// A key pair as the operator gives it: the public key may follow from the private one.
#[derive(Body)]
#[body(not_printed)]
struct GivenPair {
    /// base64url of 65 bytes; needed beside a private key of 32 bytes.
    #[body(read = public_key)]
    public_key: Option<String>,
    /// base64url of 32 bytes or PKCS#8, or PEM.
    #[body(take = |fields| private_key(fields, public_key.as_deref()), like = Credential, length = 1..=PEM_CHARS)]
    private_key: PrivateKey,
    #[body(flatten)]
    contact: WebPushContact,
}

/// A private key and the public key that belongs to it.
struct PrivateKey {
    text: Credential,
    public_key: String,
}

impl WebPushCredentials {
    /// A new key pair.
    pub fn generate(subject: String) -> Result<Self, String> {
        let failed = |why: &dyn std::fmt::Display| format!("No key pair could be made: {why}.");
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &keys::randomness())
            .map_err(|why| failed(&why))?;
        let private_key = BASE64_URL.encode(document.as_ref());
        let pair = from_pkcs8(document.as_ref()).map_err(|why| failed(&why))?;
        let public_key = BASE64_URL.encode(pair.public_key());
        Ok(Self { private_key: Credential::new(private_key), public_key, subject, endpoint: None })
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let GivenPair { public_key, private_key, contact } = GivenPair::parse(at)?;
        Some(Self {
            private_key: private_key.text,
            public_key: public_key.unwrap_or(private_key.public_key),
            subject: contact.subject,
            endpoint: contact.endpoint,
        })
    }

    /// The part that may be shown.
    pub fn view(&self) -> KeyView {
        KeyView {
            fingerprint: keys::fingerprint(&[self.public_key.as_bytes()]),
            details: vec![("public_key", self.public_key.clone()), ("subject", self.subject.clone())],
            expires: None,
            endpoint: self.endpoint.as_ref().map(|endpoint| endpoint.url.clone()),
            token_uri: None,
        }
    }

    /// The key that signs tokens. Stored keys were proven when they were set.
    pub(crate) fn signing_key(&self) -> Result<EcdsaKeyPair, String> {
        signing_key(self.private_key.reveal(), Some(&self.public_key))
    }
}

/// `mailto:` or `https:`, as RFC 8292 wants it.
fn subject(at: &At<'_>) -> Option<String> {
    let text = at.text(1..=SUBJECT_CHARS)?;
    let is_contact = |rest: &str| !rest.is_empty() && !rest.contains(char::is_whitespace);
    let is_mail = text.strip_prefix("mailto:").is_some_and(|rest| is_contact(rest) && rest.contains('@'));
    if is_mail || text.strip_prefix("https://").is_some_and(is_contact) {
        return Some(text);
    }
    at.invalid("The subject is whom push services may contact, such as mailto:push@example.com or https://example.com.")
}

/// A private key is not judged by a public key that cannot be read.
fn private_key(fields: &mut Fields<'_>, public_key: Option<&str>) -> Option<PrivateKey> {
    let is_unreadable = fields.has("public_key") && public_key.is_none();
    fields.required("private_key", |at| {
        let text = at.text(1..=PEM_CHARS)?;
        if is_unreadable {
            return None;
        }
        match signing_key(&text, public_key) {
            Ok(pair) => {
                Some(PrivateKey { text: Credential::new(text), public_key: BASE64_URL.encode(pair.public_key()) })
            }
            Err(message) => at.invalid(message),
        }
    })
}

fn public_key(at: &At<'_>) -> Option<String> {
    let text = at.string()?;
    match BASE64_URL.decode(text.trim_end_matches('=')) {
        Ok(bytes) if bytes.len() == PUBLIC_KEY_BYTES => Some(BASE64_URL.encode(bytes)),
        Ok(_) | Err(_) => at.invalid("A public key is 65 bytes in base64url, which are 87 characters."),
    }
}

fn signing_key(private_key: &str, public_key: Option<&str>) -> Result<EcdsaKeyPair, String> {
    let pair = if private_key.contains("-----BEGIN") {
        keys::p256_key(private_key)?
    } else {
        let unusable = "This must be a private key in base64url (32 bytes, or PKCS#8) or the text of a PEM file.";
        let bytes = BASE64_URL.decode(private_key.trim_end_matches('=')).map_err(|_| unusable.to_owned())?;
        match (bytes.len(), public_key) {
            (32, None) => return Err("A private key of 32 bytes needs its 'public_key' beside it.".to_owned()),
            (32, Some(public_key)) => from_parts(&bytes, public_key)?,
            (_, _) => from_pkcs8(&bytes).map_err(|_| unusable.to_owned())?,
        }
    };
    match public_key {
        Some(public_key) if BASE64_URL.encode(pair.public_key()) != public_key => {
            Err("The private key does not belong to the public key.".to_owned())
        }
        Some(_) | None => Ok(pair),
    }
}

fn from_parts(private_key: &[u8], public_key: &str) -> Result<EcdsaKeyPair, String> {
    let foreign = "The private key does not belong to the public key.";
    let public_key = BASE64_URL.decode(public_key).map_err(|_| foreign.to_owned())?;
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    EcdsaKeyPair::from_private_key_and_public_key(algorithm, private_key, &public_key, &keys::randomness())
        .map_err(|_| foreign.to_owned())
}

fn from_pkcs8(der: &[u8]) -> Result<EcdsaKeyPair, ring::error::KeyRejected> {
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &keys::randomness())
}
