//! Making, hashing and comparing the credentials of apps and of inboxes.

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use model::app::{AppKey, Secret};
use model::inbox::InboxUserId;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use subtle::ConstantTimeEq;

pub(crate) fn new_key() -> Result<AppKey> {
    Ok(AppKey::new(&random_text()?).expect("16 bytes are 22 characters of base64url"))
}

pub fn new_secret() -> Result<Secret> {
    Ok(Secret::new(&random_text()?).expect("16 bytes are 22 characters of base64url"))
}

pub fn new_inbox_user() -> Result<InboxUserId> {
    Ok(InboxUserId::new(&random_text()?).expect("16 bytes are 22 characters of base64url"))
}

#[expect(clippy::disallowed_methods, reason = "the secrets of apps are made here")]
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Error::internal("no randomness available"))?;
    Ok(bytes)
}

/// For key pairs and signatures.
#[expect(clippy::disallowed_methods, reason = "keys of OAuth are made and used with this")]
pub(crate) fn randomness() -> SystemRandom {
    SystemRandom::new()
}

fn random_text() -> Result<String> {
    loop {
        let text = BASE64_URL.encode(random_bytes::<16>()?);
        // On a command line, a text that begins with a dash is taken for a flag.
        if !text.starts_with('-') {
            return Ok(text);
        }
    }
}

/// A secret has 128 random bits, so it cannot be guessed from a fast hash.
pub fn hash(secret: &str) -> [u8; 32] {
    digest(&SHA256, secret.as_bytes()).as_ref().try_into().expect("SHA-256 gives 32 bytes")
}

/// Takes the same time wherever the difference is.
pub fn matches(hash_of_given: &[u8; 32], kept: &[u8; 32]) -> bool {
    hash_of_given.ct_eq(kept).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_can_be_written_on_a_command_line() {
        for _ in 0..1000 {
            assert!(!new_key().unwrap().as_str().starts_with('-'));
        }
    }
}
