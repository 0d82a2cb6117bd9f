//! Message encryption for browsers (RFC 8291, `aes128gcm`): only the browser that made the subscription can read a message.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::channel::WebSubscription;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, PublicKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};

use crate::keys;

/// The longest message: push services take bodies of 4096 bytes.
pub(crate) const MOST_MESSAGE_BYTES: usize = MOST_BODY_BYTES - HEADER_BYTES - DELIMITER_BYTES - TAG_BYTES;

const MOST_BODY_BYTES: usize = 4096;
const SALT_BYTES: usize = 16;
/// As the header says it in one byte.
const POINT_LENGTH: u8 = 65;
const POINT_BYTES: usize = POINT_LENGTH as usize;
const AUTH_BYTES: usize = 16;
/// Salt, record size, length of the key, key.
const HEADER_BYTES: usize = SALT_BYTES + 4 + 1 + POINT_BYTES;
const DELIMITER_BYTES: usize = 1;
const TAG_BYTES: usize = 16;

/// A message is one record, and this is large enough for any.
const RECORD_SIZE: [u8; 4] = [0, 0, 16, 0];
/// Ends the last record.
const LAST_RECORD: u8 = 2;

/// Why a message cannot be encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CannotEncrypt {
    #[error("The keys of the subscription are not a point on the curve P-256 and 16 bytes.")]
    Keys,
    #[error("The message is longer than {MOST_MESSAGE_BYTES} bytes, the most that a push service takes.")]
    TooLong,
    #[error("The system gave no random bytes.")]
    NoRandomness,
}

/// Encrypts messages. Every one gets a key pair and a salt of its own.
#[derive(Clone, Debug)]
pub(super) struct Encryption {
    random: SystemRandom,
}

/// The keys that a browser published with its subscription.
pub(super) struct BrowserKeys {
    point: [u8; POINT_BYTES],
    auth: [u8; AUTH_BYTES],
}

impl BrowserKeys {
    pub(super) fn new(subscription: &WebSubscription) -> Result<Self, CannotEncrypt> {
        Ok(Self { point: decoded(&subscription.p256dh)?, auth: decoded(&subscription.auth)? })
    }
}

impl Encryption {
    pub(super) fn new() -> Self {
        Self { random: keys::randomness() }
    }

    /// The body of a request with `content-encoding: aes128gcm`.
    pub(super) fn encrypt(&self, message: &[u8], browser: &BrowserKeys) -> Result<Vec<u8>, CannotEncrypt> {
        if message.len() > MOST_MESSAGE_BYTES {
            return Err(CannotEncrypt::TooLong);
        }
        let mut salt = [0; SALT_BYTES];
        self.random.fill(&mut salt).map_err(|_| CannotEncrypt::NoRandomness)?;
        let private =
            EphemeralPrivateKey::generate(&ECDH_P256, &self.random).map_err(|_| CannotEncrypt::NoRandomness)?;
        let public = private.compute_public_key().map_err(|_| CannotEncrypt::NoRandomness)?;
        let public = point(&public)?;
        agree_ephemeral(private, &UnparsedPublicKey::new(&ECDH_P256, browser.point), |secret| {
            seal(message, browser, &public, secret, salt)
        })
        .map_err(|_| CannotEncrypt::Keys)
    }
}

/// The part without chance: the same inputs always make the same body.
fn seal(
    message: &[u8],
    browser: &BrowserKeys,
    public: &[u8; POINT_BYTES],
    secret: &[u8],
    salt: [u8; SALT_BYTES],
) -> Vec<u8> {
    let info: [&[u8]; 3] = [b"WebPush: info\0", &browser.point, public];
    let shared: [u8; 32] = expand(&browser.auth, secret, &info);
    let key: [u8; 16] = expand(&salt, &shared, &[b"Content-Encoding: aes128gcm\0"]);
    let nonce: [u8; 12] = expand(&salt, &shared, &[b"Content-Encoding: nonce\0"]);

    let mut body = Vec::with_capacity(HEADER_BYTES + message.len() + DELIMITER_BYTES + TAG_BYTES);
    body.extend_from_slice(&salt);
    body.extend_from_slice(&RECORD_SIZE);
    body.push(POINT_LENGTH);
    body.extend_from_slice(public);
    body.extend_from_slice(message);
    body.push(LAST_RECORD);
    let key = UnboundKey::new(&AES_128_GCM, &key).expect("AES-128 keys have 16 bytes");
    let tag = LessSafeKey::new(key)
        .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut body[HEADER_BYTES..])
        .expect("a few kilobytes are within what AES-GCM can seal");
    body.extend_from_slice(tag.as_ref());
    body
}

struct Bytes<const N: usize>;

impl<const N: usize> KeyType for Bytes<N> {
    fn len(&self) -> usize {
        N
    }
}

/// HKDF with SHA-256.
fn expand<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> [u8; N] {
    let pseudorandom = Salt::new(HKDF_SHA256, salt).extract(secret);
    let mut output = [0; N];
    let made = pseudorandom.expand(info, Bytes::<N>).and_then(|key| key.fill(&mut output));
    made.expect("a few bytes are within what HKDF can make");
    output
}

fn point(public: &PublicKey) -> Result<[u8; POINT_BYTES], CannotEncrypt> {
    public.as_ref().try_into().map_err(|_| CannotEncrypt::Keys)
}

fn decoded<const N: usize>(text: &str) -> Result<[u8; N], CannotEncrypt> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CannotEncrypt::Keys)?;
    bytes.try_into().map_err(|_| CannotEncrypt::Keys)
}

#[cfg(test)]
mod tests;
