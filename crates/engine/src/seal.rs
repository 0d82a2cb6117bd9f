//! Encryption of what must be readable again: provider credentials, and answers that contain secrets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

use crate::{Error, Result};

/// The key of one installation. Kept in a file that only the service can read; all nodes need the same one.
#[derive(Clone)]
pub struct SealKey(LessSafeKey);

impl SealKey {
    pub const BYTES: usize = 32;

    pub fn new(bytes: &[u8; Self::BYTES]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).expect("a ChaCha20-Poly1305 key has 32 bytes");
        Self(LessSafeKey::new(key))
    }

    /// Encrypts a text for one purpose; it can be opened for the same purpose only.
    pub(crate) fn seal(&self, purpose: &str, text: &str) -> Result<String> {
        // A random nonce per text is safe here: the key seals far fewer than 2^32 texts.
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| Error::internal("no randomness available"))?;
        let mut sealed = text.as_bytes().to_vec();
        self.0
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(purpose), &mut sealed)
            .map_err(|_| Error::internal("sealing failed"))?;
        Ok(BASE64.encode([&nonce[..], &sealed].concat()))
    }

    pub(crate) fn open(&self, purpose: &str, sealed: &str) -> Result<String> {
        let unreadable = || Error::internal(format!("{purpose}: sealed with another key, or damaged"));
        let mut bytes = BASE64.decode(sealed).map_err(|_| unreadable())?;
        let (nonce, rest) = bytes.split_at_mut_checked(NONCE_LEN).ok_or_else(unreadable)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| unreadable())?;
        let opened = self.0.open_in_place(nonce, Aad::from(purpose), rest).map_err(|_| unreadable())?;
        String::from_utf8(opened.to_vec()).map_err(|_| unreadable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
