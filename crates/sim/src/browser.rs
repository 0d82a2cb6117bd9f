//! The receiving end of Web Push: a subscription's keys, and how a browser decrypts messages for them (RFC 8291).

use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::channel::WebSubscription;
use p256::ecdh::diffie_hellman;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::pkcs8::DecodePrivateKey;
use p256::{PublicKey, SecretKey};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};

pub(crate) const PUBLIC_KEY_BYTES: usize = 65;
const SALT_BYTES: usize = 16;
const TAG_BYTES: usize = 16;
/// Salt, record size, and the length of the key.
const HEADER_BYTES: usize = SALT_BYTES + 4 + 1;
/// All simulated browsers are the same, so the secret is as well.
const AUTH_SECRET: &[u8; 16] = b"aerogram sim 001";

pub(crate) struct Browser {
    key: SecretKey,
    public_key: Vec<u8>,
}

/// One encrypted message, taken apart.
pub(crate) struct Record<'a> {
    salt: &'a [u8],
    sender_key: &'a [u8],
    ciphertext: &'a [u8],
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

impl<'a> Record<'a> {
    /// The form that push services check: one record, and a public key of the sender.
    pub(crate) fn parse(body: &'a [u8]) -> Option<Self> {
        let (header, rest) = body.split_at_checked(HEADER_BYTES)?;
        let (sender_key, ciphertext) = rest.split_at_checked(PUBLIC_KEY_BYTES)?;
        let (salt, sizes) = header.split_at(SALT_BYTES);
        let (record_size, key_length) = sizes.split_first_chunk::<4>()?;
        let record_size = usize::try_from(u32::from_be_bytes(*record_size)).ok()?;
        let is_one_record = ciphertext.len() > TAG_BYTES && ciphertext.len() <= record_size;
        let has_key = usize::from(*key_length.first()?) == PUBLIC_KEY_BYTES && sender_key.first() == Some(&4);
        (is_one_record && has_key).then_some(Self { salt, sender_key, ciphertext })
    }
}

impl Browser {
    pub(crate) fn new(key_pem: &str) -> io::Result<Self> {
        let key = SecretKey::from_pkcs8_pem(key_pem).map_err(io::Error::other)?;
        let public_key = key.public_key().to_encoded_point(false).as_bytes().to_vec();
        Ok(Self { key, public_key })
    }

    pub(crate) fn subscription(&self) -> WebSubscription {
        WebSubscription { p256dh: URL_SAFE_NO_PAD.encode(&self.public_key), auth: URL_SAFE_NO_PAD.encode(AUTH_SECRET) }
    }

    pub(crate) fn decrypt(&self, record: &Record<'_>) -> Option<Vec<u8>> {
        let sender = PublicKey::from_sec1_bytes(record.sender_key).ok()?;
        let shared = diffie_hellman(self.key.to_nonzero_scalar(), sender.as_affine());
        let info = [b"WebPush: info\0".as_slice(), &self.public_key, record.sender_key];
        let input = derive::<32>(AUTH_SECRET, shared.raw_secret_bytes(), &info)?;
        let key = derive::<16>(record.salt, &input, &[b"Content-Encoding: aes128gcm\0"])?;
        let nonce = derive::<12>(record.salt, &input, &[b"Content-Encoding: nonce\0"])?;
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
        let mut text = record.ciphertext.to_vec();
        let n_bytes = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text).ok()?.len();
        text.truncate(n_bytes);
        // Padding: a two after the text of the last record, then zeros.
        let end = text.iter().rposition(|byte| *byte != 0)?;
        (text[end] == 2).then(|| {
            text.truncate(end);
            text
        })
    }
}

fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> Option<[u8; N]> {
    let mut output = [0; N];
    Salt::new(HKDF_SHA256, salt).extract(secret).expand(info, Length(N)).ok()?.fill(&mut output).ok()?;
    Some(output)
}
