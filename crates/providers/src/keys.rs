//! Signing keys and certificates in the forms operators have them in, proven to be usable before they are stored.

use model::time::UtcMillis;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RsaKeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use crate::certificate::expiry;

/// Where signatures and the one-time keys of messages get their randomness.
#[expect(clippy::disallowed_methods, reason = "signatures and one-time keys of providers are made with this")]
pub(crate) fn randomness() -> SystemRandom {
    SystemRandom::new()
}

/// A key that signs with ECDSA on the curve P-256, from the text of a .p8 or PEM file.
pub(crate) fn p256_key(pem: &str) -> Result<EcdsaKeyPair, String> {
    let PrivateKeyDer::Pkcs8(der) = private_key(pem)? else {
        return Err("The key must be in PKCS#8 form, which begins with '-----BEGIN PRIVATE KEY-----'.".to_owned());
    };
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.secret_pkcs8_der(), &randomness())
        .map_err(|why| format!("The key is not a usable key for the curve P-256: {why}."))
}

/// A key that signs with RSA, from the text of a PEM file.
pub(crate) fn rsa_key(pem: &str) -> Result<RsaKeyPair, String> {
    let key = match private_key(pem)? {
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        _ => return Err("The key must be an RSA key in PKCS#8 or PKCS#1 form.".to_owned()),
    };
    key.map_err(|why| format!("The key is not a usable RSA key: {why}."))
}

/// A private key, from the text of a PEM file.
pub(crate) fn private_key(pem: &str) -> Result<PrivateKeyDer<'static>, String> {
    if pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || pem.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(
            "The key is protected by a password; remove it with `openssl pkey -in FILE -out KEY.pem`.".to_owned()
        );
    }
    PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| {
        "This must be the text of a PEM file with a private key, which has a line '-----BEGIN PRIVATE KEY-----'."
            .to_owned()
    })
}

/// The certificates of a PEM file, in their order.
pub(crate) fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let certificates = read.map_err(|why| format!("The certificate is not readable as PEM: {why}."))?;
    if certificates.is_empty() {
        return Err("This must be the text of a PEM file with a certificate, which has a line \
                    '-----BEGIN CERTIFICATE-----'."
            .to_owned());
    }
    for certificate in &certificates {
        expiry(certificate).map_err(|why| format!("The certificate is damaged: {why}."))?;
    }
    Ok(certificates)
}

/// A certificate chain, the first being ours, together with its key, both as PEM. The error is a sentence.
pub fn certified_key(chain: &str, key: &str) -> Result<CertifiedKey, String> {
    let provider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(certificates(chain)?, private_key(key)?, &provider)
        .map_err(|why| format!("The key does not belong to the certificate: {why}."))
}

/// When the first certificate of a chain runs out.
pub(crate) fn first_expiry(chain: &str) -> Option<UtcMillis> {
    certificates(chain).ok()?.iter().filter_map(|certificate| expiry(certificate).ok()).min()
}

/// When the first certificate runs out, which is the one of whoever shows the chain. The error is a sentence.
pub fn leaf_expiry(chain: &str) -> Result<UtcMillis, String> {
    let chain = certificates(chain)?;
    let leaf = chain.first().ok_or("There is no certificate.")?;
    expiry(leaf).map_err(|why| format!("The certificate cannot be read: {why}."))
}

/// Distinguishes keys without giving them away: the beginning of a hash of their public part, or of a long secret.
pub(crate) fn fingerprint(parts: &[&[u8]]) -> String {
    let mut all = Vec::new();
    for part in parts {
        all.extend_from_slice(&(part.len() as u64).to_be_bytes());
        all.extend_from_slice(part);
    }
    hash_text(&all)
}

/// The beginning of the fingerprint that `openssl x509 -fingerprint -sha256` shows.
pub(crate) fn certificate_fingerprint(chain: &str) -> String {
    certificates(chain).ok().and_then(|chain| Some(hash_text(chain.first()?))).unwrap_or_default()
}

fn hash_text(bytes: &[u8]) -> String {
    const SHOWN_BYTES: usize = 8;
    let hash = digest(&SHA256, bytes);
    hash.as_ref().iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02x}")).collect()
}
