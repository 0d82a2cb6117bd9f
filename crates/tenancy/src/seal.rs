//! The key of the installation. It encrypts what must be readable again: the configurations of platforms and webhooks, key pairs
//! for web push, app secrets, answers kept for repeated requests, and exports of persons. And it derives what only this
//! installation can know: tokens of devices, the keys with which servers sign for users, and the validation codes of open
//! platforms.

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac::{self, HMAC_SHA256};
use ring::rand::{SecureRandom, SystemRandom};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// The key of one installation. Kept in a file that only the service can read, or in the settings; all nodes need the same one
/// (see `installation`).
#[derive(Clone)]
pub struct SealKey {
    cipher: LessSafeKey,
    derivation: hmac::Key,
}

impl SealKey {
    pub const BYTES: usize = 32;

    pub fn new(bytes: &[u8; Self::BYTES]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).expect("a ChaCha20-Poly1305 key has 32 bytes");
        // One secret for two algorithms: derivation gets a key of its own, so that neither says anything about the other.
        let derivation = hmac::sign(&hmac::Key::new(HMAC_SHA256, bytes), b"aerogram derivation");
        Self { cipher: LessSafeKey::new(key), derivation: hmac::Key::new(HMAC_SHA256, derivation.as_ref()) }
    }

    /// Always the same for the same purpose and text, and as good as random without the key.
    pub fn derive_uuid(&self, purpose: &str, text: &str) -> Uuid {
        let mut half = [0; 16];
        half.copy_from_slice(&self.sign(purpose, text)[..16]);
        uuid::Builder::from_custom_bytes(half).into_uuid()
    }

    /// A signature that only this installation can make, for one purpose.
    pub(crate) fn sign(&self, purpose: &str, text: &str) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.derivation);
        context.update(purpose.as_bytes());
        context.update(&[0]);
        context.update(text.as_bytes());
        context.sign().as_ref().try_into().expect("HMAC-SHA256 gives 32 bytes")
    }

    /// Takes the same time wherever the difference is.
    pub(crate) fn has_signed(&self, purpose: &str, text: &str, signature: &[u8]) -> bool {
        self.sign(purpose, text).as_slice().ct_eq(signature).into()
    }

    /// A key of its own for everything that belongs to one id.
    pub(crate) fn of_id(&self, purpose: &str, id: Uuid) -> SealKey {
        SealKey::new(&self.sign(purpose, &format!("id {id}")))
    }

    /// A key of its own for texts that requests cause to be sealed within an hour. There is no limit to requests, and a key must
    /// not seal too much (see [`SealKey::seal`]).
    pub(crate) fn of_hour(&self, purpose: &str, hour: i64) -> SealKey {
        SealKey::new(&self.sign(purpose, &format!("hour {hour}")))
    }

    /// Encrypts a text for one purpose; it can be opened for the same purpose only.
    ///
    /// Nonces are random, so two texts may get the same one, which would give both away. Until 2^32 texts are sealed with a key
    /// the chance of that is less than one in 2^32. Configuration stays far below that; texts sealed for every request use the
    /// keys of hours, which allow for a million a second.
    pub fn seal(&self, purpose: &str, text: &str) -> Result<String> {
        Ok(BASE64.encode(self.seal_bytes(purpose, text.as_bytes())?))
    }

    pub fn open(&self, purpose: &str, sealed: &str) -> Result<String> {
        let bytes = BASE64.decode(sealed).map_err(|_| unreadable(purpose))?;
        String::from_utf8(self.open_bytes(purpose, bytes)?).map_err(|_| unreadable(purpose))
    }

    /// As [`SealKey::seal`], for what is stored as bytes.
    #[expect(clippy::disallowed_methods, reason = "nonces are made here")]
    pub(crate) fn seal_bytes(&self, purpose: &str, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| Error::internal("no randomness available"))?;
        let mut sealed = bytes.to_vec();
        self.cipher
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(purpose), &mut sealed)
            .map_err(|_| Error::internal("sealing failed"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    pub(crate) fn open_bytes(&self, purpose: &str, mut sealed: Vec<u8>) -> Result<Vec<u8>> {
        let (nonce, rest) = sealed.split_at_mut_checked(NONCE_LEN).ok_or_else(|| unreadable(purpose))?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| unreadable(purpose))?;
        let opened = self.cipher.open_in_place(nonce, Aad::from(purpose), rest).map_err(|_| unreadable(purpose))?;
        Ok(opened.to_vec())
    }
}

fn unreadable(purpose: &str) -> Error {
    Error::internal(format!("{purpose}: sealed with another key, or damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_derived_depends_on_everything() {
        let key = SealKey::new(&[7; 32]);
        let code = key.derive_uuid("code", "app/kiosk");
        assert_eq!(SealKey::new(&[7; 32]).derive_uuid("code", "app/kiosk"), code);
        assert_eq!((code.get_version_num(), code.get_variant()), (8, uuid::Variant::RFC4122));
        let others = [
            SealKey::new(&[8; 32]).derive_uuid("code", "app/kiosk"),
            key.derive_uuid("code", "app/kiosk2"),
            key.derive_uuid("other", "app/kiosk"),
        ];
        assert!(!others.contains(&code), "{code} {others:?}");
    }

    #[test]
    fn every_hour_has_a_key() {
        let key = SealKey::new(&[7; 32]);
        let sealed = key.of_hour("answer", 480_000).seal("answer", "hunter2").unwrap();
        assert_eq!(SealKey::new(&[7; 32]).of_hour("answer", 480_000).open("answer", &sealed).unwrap(), "hunter2");
        let others = [key.of_hour("answer", 480_001), key.of_hour("other", 480_000), key];
        assert!(others.iter().all(|other| other.open("answer", &sealed).is_err()));
    }

    #[test]
    fn only_the_same_key_and_purpose_open() {
        let key = SealKey::new(&[7; 32]);
        let sealed = key.seal("platform", "hunter2").unwrap();
        assert!(!sealed.contains("hunter2"));
        assert_ne!(sealed, key.seal("platform", "hunter2").unwrap());
        assert_eq!(key.open("platform", &sealed).unwrap(), "hunter2");
        assert!(key.open("other", &sealed).is_err());
        assert!(SealKey::new(&[8; 32]).open("platform", &sealed).is_err());
        assert!(key.open("platform", "AAAA").is_err());
        assert!(key.open("platform", "not base64 at all!").is_err());
    }
}
