//! Against the example of RFC 8291, and against a decryption written from the RFC with nothing but HMAC and AES.

use proptest::prelude::*;
use ring::hmac;

use super::*;

fn bytes<const N: usize>(base64url: &str) -> [u8; N] {
    decoded(base64url).unwrap()
}

#[test]
fn the_example_of_the_rfc() {
    let browser = BrowserKeys {
        point: bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
        auth: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
    };
    let public = bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
    let secret: [u8; 32] = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
    let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw");
    let body = seal(b"When I grow up, I want to be a watermelon", &browser, &public, &secret, salt);
    let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz\
                    AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
    assert_eq!(URL_SAFE_NO_PAD.encode(body), expected);
}

/// A browser with keys of its own.
struct Browser {
    private: EphemeralPrivateKey,
    keys: BrowserKeys,
}

impl Browser {
    fn new(encryption: &Encryption) -> Self {
        let private = EphemeralPrivateKey::generate(&ECDH_P256, &encryption.random).unwrap();
        let point = point(&private.compute_public_key().unwrap()).unwrap();
        Self { private, keys: BrowserKeys { point, auth: [7; AUTH_BYTES] } }
    }

    fn decrypt(self, body: &[u8]) -> Vec<u8> {
        let (salt, rest) = body.split_at(16);
        let (record_size, rest) = rest.split_at(4);
        assert_eq!((u32::from_be_bytes(record_size.try_into().unwrap()), rest[0]), (4096, 65));
        let (public, sealed) = rest[1..].split_at(65);
        let keys = self.keys;
        let secret = agree_ephemeral(self.private, &UnparsedPublicKey::new(&ECDH_P256, public), <[u8]>::to_vec);
        let info = [b"WebPush: info\0", &keys.point[..], public].concat();
        let shared = first_block(&keys.auth, &secret.unwrap(), &info);
        let key = first_block(salt, &shared, b"Content-Encoding: aes128gcm\0");
        let nonce = first_block(salt, &shared, b"Content-Encoding: nonce\0");
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key[..16]).unwrap());
        let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).unwrap();
        let mut opened = sealed.to_vec();
        let record = key.open_in_place(nonce, Aad::empty(), &mut opened).unwrap();
        let (delimiter, message) = record.split_last().unwrap();
        assert_eq!(*delimiter, 2, "the delimiter of a last record, without padding");
        message.to_vec()
    }
}

fn hmac_sha256(key: &[u8], data: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data).as_ref().to_vec()
}

fn first_block(salt: &[u8], secret: &[u8], info: &[u8]) -> Vec<u8> {
    hmac_sha256(&hmac_sha256(salt, secret), &[info, &[1]].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_encrypted_can_be_read_by_the_browser_alone(message in proptest::collection::vec(any::<u8>(), 0..=MOST_MESSAGE_BYTES)) {
        let encryption = Encryption::new();
        let browser = Browser::new(&encryption);
        let body = encryption.encrypt(&message, &browser.keys).unwrap();
        prop_assert_eq!(body.len(), message.len() + 103);
        prop_assert!(body.len() <= 4096);
        prop_assert_eq!(browser.decrypt(&body), message);
    }
}

#[test]
fn no_two_messages_share_a_key_or_a_salt() {
    let encryption = Encryption::new();
    let browser = Browser::new(&encryption);
    let bodies: Vec<_> = (0..2).map(|_| encryption.encrypt(b"same", &browser.keys).unwrap()).collect();
    assert_ne!(bodies[0][..SALT_BYTES], bodies[1][..SALT_BYTES]);
    assert_ne!(bodies[0][SALT_BYTES + 5..HEADER_BYTES], bodies[1][SALT_BYTES + 5..HEADER_BYTES]);
}

#[test]
fn what_cannot_be_encrypted() {
    let encryption = Encryption::new();
    let browser = Browser::new(&encryption).keys;
    assert_eq!(MOST_MESSAGE_BYTES, 3993);
    assert_eq!(encryption.encrypt(&[0; MOST_MESSAGE_BYTES + 1], &browser), Err(CannotEncrypt::TooLong));

    let mut point = [9; POINT_BYTES];
    point[0] = 4;
    let off_the_curve = BrowserKeys { point, auth: [0; AUTH_BYTES] };
    assert_eq!(encryption.encrypt(b"x", &off_the_curve), Err(CannotEncrypt::Keys));
    for (p256dh, auth) in [("", ""), ("BCVx", "BTBZMqHH6r4Tts7J_aSIgg"), ("not base64!", "BTBZMqHH6r4Tts7J_aSIgg")] {
        let subscription = WebSubscription { p256dh: p256dh.to_owned(), auth: auth.to_owned() };
        assert_eq!(BrowserKeys::new(&subscription).err(), Some(CannotEncrypt::Keys), "{p256dh}");
    }
}
