//! What encrypting for browsers costs at least: the steps of RFC 8291 with the library that the service uses, and nothing else.

use anyhow::{Result, anyhow};
use bytes::Bytes;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;

const SALT: [u8; 16] = [2; 16];
/// The size of a record, and the length of the key that follows.
const FORM: [u8; 5] = [0, 0, 16, 0, 65];
const TAG_BYTES: usize = 16;

/// A browser that nobody has.
pub(super) struct Browser {
    random: SystemRandom,
    point: Vec<u8>,
}

/// As many bytes of key.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

impl Browser {
    pub(super) fn new() -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "what it makes is secret to nobody")]
        let random = SystemRandom::new();
        let point = key_pair(&random)?.1;
        Ok(Self { random, point })
    }

    /// A message, with a key pair of its own, whose body has a size.
    pub(super) fn message(&self, n_bytes: usize) -> Result<Bytes> {
        let (private, public) = key_pair(&self.random)?;
        let browser = UnparsedPublicKey::new(&ECDH_P256, &self.point);
        let sealed = agree_ephemeral(private, &browser, |secret| seal(secret, &self.point, &public, n_bytes));
        sealed.map_err(failed)?.map_err(failed)
    }
}

fn key_pair(random: &SystemRandom) -> Result<(EphemeralPrivateKey, Vec<u8>)> {
    let private = EphemeralPrivateKey::generate(&ECDH_P256, random).map_err(failed)?;
    let public = private.compute_public_key().map_err(failed)?.as_ref().to_vec();
    Ok((private, public))
}

fn seal(secret: &[u8], browser: &[u8], public: &[u8], n_bytes: usize) -> Result<Bytes, ring::error::Unspecified> {
    let (mut shared, mut key, mut nonce) = ([0; 32], [0; 16], [0; 12]);
    expand(&[1; 16], secret, &[browser, public], &mut shared)?;
    expand(&SALT, &shared, &[b"key"], &mut key)?;
    expand(&SALT, &shared, &[b"nonce"], &mut nonce)?;
    let mut body = [&SALT, &FORM[..], public].concat();
    let head = body.len();
    body.resize(n_bytes.saturating_sub(TAG_BYTES).max(head + 1), b'a');
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut body[head..])?;
    body.extend_from_slice(tag.as_ref());
    Ok(body.into())
}

fn expand(salt: &[u8], secret: &[u8], info: &[&[u8]], into: &mut [u8]) -> Result<(), ring::error::Unspecified> {
    Salt::new(HKDF_SHA256, salt).extract(secret).expand(info, Length(into.len()))?.fill(into)
}

fn failed(_: ring::error::Unspecified) -> anyhow::Error {
    anyhow!("a message cannot be encrypted")
}
