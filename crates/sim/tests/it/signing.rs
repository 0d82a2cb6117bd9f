//! Tokens as clients of the providers sign them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use sim::keys::{APNS_KEY_ID, APNS_TEAM_ID};

#[expect(clippy::disallowed_methods, reason = "signatures need randomness, and no test depends on it")]
fn random() -> SystemRandom {
    SystemRandom::new()
}

pub(crate) fn now() -> i64 {
    model::time::Clock::System.now().seconds()
}

pub(crate) fn es256(key_pem: &str, header: &Value, claims: &Value) -> String {
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.secret_der(), &random()).unwrap();
    let signed = unsigned(header, claims);
    let signature = pair.sign(&random(), signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

pub(crate) fn rs256(key_pem: &str, claims: &Value) -> String {
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).unwrap();
    let pair = RsaKeyPair::from_pkcs8(key.secret_der()).unwrap();
    let signed = unsigned(&json!({ "alg": "RS256", "typ": "JWT" }), claims);
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &random(), signed.as_bytes(), &mut signature).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// The header that proves to Apple who we are.
pub(crate) fn provider_token(key_pem: &str) -> String {
    let claims = json!({ "iss": APNS_TEAM_ID, "iat": now() });
    format!("bearer {}", es256(key_pem, &json!({ "alg": "ES256", "kid": APNS_KEY_ID }), &claims))
}

fn unsigned(header: &Value, claims: &Value) -> String {
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    format!("{header}.{claims}")
}
