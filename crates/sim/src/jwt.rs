//! Signed tokens as providers check them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A token whose signature has not been checked yet.
pub(crate) struct Jwt<'a> {
    signed: &'a str,
    signature: Vec<u8>,
    claims: Vec<u8>,
    pub(crate) header: Header,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub(crate) alg: String,
    #[serde(default)]
    pub(crate) kid: Option<String>,
}

impl<'a> Jwt<'a> {
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
        Some(Self { signed, signature: URL_SAFE_NO_PAD.decode(signature).ok()?, claims, header })
    }

    /// Whether the owner of a P-256 key (an uncompressed point) signed it.
    pub(crate) fn is_es256_by(&self, public_key: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public_key);
        self.header.alg == "ES256" && key.verify(self.signed.as_bytes(), &self.signature).is_ok()
    }

    /// Whether the owner of an RSA key (PKCS#1) signed it.
    pub(crate) fn is_rs256_by(&self, public_key: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public_key);
        self.header.alg == "RS256" && key.verify(self.signed.as_bytes(), &self.signature).is_ok()
    }

    pub(crate) fn claims<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.claims).ok()
    }
}
