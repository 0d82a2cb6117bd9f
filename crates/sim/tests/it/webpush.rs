//! A browser's push service: VAPID, and messages that only the browser can read.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::pkcs8::DecodePrivateKey;
use p256::{PublicKey, SecretKey};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use serde_json::{Value, json};
use sim::{Faults, Keys, Protocol, SimSettings, Simulator};

use crate::client::{Answer, Connection, Headers};
use crate::signing::{es256, now};

/// RFC 8291 by its own words: HKDF as two HMACs, so that nothing is shared with the simulator.
pub(crate) fn encrypt(text: &[u8], p256dh: &str, auth: &str) -> Vec<u8> {
    let sender = SecretKey::from_slice(&[7; 32]).unwrap();
    let sender_public = sender.public_key().to_encoded_point(false);
    let receiver = URL_SAFE_NO_PAD.decode(p256dh).unwrap();
    let point = PublicKey::from_sec1_bytes(&receiver).unwrap();
    let shared = p256::ecdh::diffie_hellman(sender.to_nonzero_scalar(), point.as_affine());
    let mac = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref().to_vec();
    let auth_key = mac(&URL_SAFE_NO_PAD.decode(auth).unwrap(), shared.raw_secret_bytes());
    let info = [b"WebPush: info\0", receiver.as_slice(), sender_public.as_bytes(), &[1]].concat();
    let input = mac(&auth_key, &info);
    let salt = [9; 16];
    let pseudo_random_key = mac(&salt, &input);
    let key = mac(&pseudo_random_key, b"Content-Encoding: aes128gcm\0\x01");
    let nonce = mac(&pseudo_random_key, b"Content-Encoding: nonce\0\x01");
    let mut record = [text, &[2, 0, 0]].concat();
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key[..16]).unwrap());
    let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).unwrap();
    key.seal_in_place_append_tag(nonce, Aad::empty(), &mut record).unwrap();
    [salt.as_slice(), &4096_u32.to_be_bytes(), &[65], sender_public.as_bytes(), &record].concat()
}

/// Some server's key, and its header.
pub(crate) struct Vapid {
    key: String,
    pub(crate) public_key: String,
}

impl Vapid {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Keys::in_folder(folder.path()).unwrap();
        let key = std::fs::read_to_string(folder.path().join("apns-key.p8")).unwrap();
        let public = SecretKey::from_pkcs8_pem(&key).unwrap().public_key().to_encoded_point(false);
        Self { key, public_key: URL_SAFE_NO_PAD.encode(public.as_bytes()) }
    }

    pub(crate) fn header(&self, claims: &Value) -> String {
        let token = es256(&self.key, &json!({ "typ": "JWT", "alg": "ES256" }), claims);
        format!("vapid t={token}, k={}", self.public_key)
    }
}

fn claims(simulator: &Simulator) -> Value {
    let origin = simulator.url(Protocol::Apns);
    json!({ "aud": origin, "exp": now() + 43_200, "sub": "mailto:push@example.com" })
}

async fn send(connection: &Connection, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
    connection.post("/webpush/browser-1", headers, body).await.unwrap()
}

#[tokio::test]
async fn reads_what_was_encrypted_for_its_browser() {
    let simulator = Simulator::start(SimSettings { decrypt: true, ..SimSettings::default() }).await.unwrap();
    let (endpoint, keys) = simulator.web_subscription(1);
    assert_eq!(endpoint, format!("{}/webpush/browser-1", simulator.url(Protocol::Apns)));
    let authorization = Vapid::new().header(&claims(&simulator));
    let headers = [("authorization", authorization.as_str()), ("ttl", "60"), ("content-encoding", "aes128gcm")];
    let connection = Connection::tls(&simulator).await;
    let text = r#"{"_":"push-1","alert":"Hi"}"#;
    for _ in 0..2 {
        let answer = send(&connection, &headers, encrypt(text.as_bytes(), &keys.p256dh, &keys.auth)).await;
        assert_eq!(answer.status, 201, "{:?}", answer.body);
        assert!(answer.header("location").contains("/webpush/message/"));
    }
    let tally = simulator.stats().of(Protocol::WebPush);
    assert_eq!((tally.accepted, tally.duplicates), (2, 1));
    assert_eq!(simulator.deliveries(1)[0].body, text);
    let mut broken = encrypt(text.as_bytes(), &keys.p256dh, &keys.auth);
    *broken.last_mut().unwrap() ^= 1;
    assert_eq!(send(&connection, &headers, broken).await.status, 400);
}

#[tokio::test]
async fn checks_the_sender_and_the_form() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let (_, keys) = simulator.web_subscription(1);
    let connection = Connection::tls(&simulator).await;
    let (vapid, other) = (Vapid::new(), Vapid::new());
    let changed = |key: &str, value: Value| {
        let mut claims = claims(&simulator);
        claims[key] = value;
        vapid.header(&claims)
    };
    let good = vapid.header(&claims(&simulator));
    let body = encrypt(b"{}", &keys.p256dh, &keys.auth);
    let strangers = [
        String::new(),
        "vapid t=a.b.c, k=x".to_owned(),
        good.replace("vapid", "bearer"),
        good.replace(&vapid.public_key, &other.public_key),
        changed("aud", json!("https://push.example.com")),
        changed("exp", json!(now() - 100)),
        changed("exp", json!(now() + 100_000)),
        changed("sub", json!("me")),
    ];
    for authorization in strangers {
        let headers = [("authorization", authorization.as_str()), ("ttl", "60"), ("content-encoding", "aes128gcm")];
        let answer = send(&connection, &headers, body.clone()).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["errno"]), (401, &json!(109)), "{authorization}");
    }
    let encoding = ("content-encoding", "aes128gcm");
    let long = "x".repeat(33);
    let table: [(Headers<'_>, Vec<u8>, u16); 8] = [
        (&[encoding], body.clone(), 400),
        (&[("ttl", "-1"), encoding], body.clone(), 400),
        (&[("ttl", "0")], body.clone(), 400),
        (&[("ttl", "0"), encoding, ("urgency", "now")], body.clone(), 400),
        (&[("ttl", "0"), encoding, ("topic", &long)], body.clone(), 400),
        (&[("ttl", "0"), encoding], body[..80].to_vec(), 400),
        (&[("ttl", "0"), encoding], vec![4; 4097], 413),
        (&[("ttl", "0"), encoding, ("urgency", "high"), ("topic", "a_b-c")], body.clone(), 201),
    ];
    for (headers, body, status) in table {
        let headers = [&[("authorization", good.as_str())], headers].concat();
        assert_eq!(send(&connection, &headers, body).await.status, status, "{headers:?}");
    }
    let headers = [("authorization", good.as_str()), ("ttl", "60"), encoding];
    for (faults, status) in [
        (Faults { gone: 1.0, ..Faults::default() }, 410),
        (Faults { throttled: 1.0, ..Faults::default() }, 429),
        (Faults { unavailable: 1.0, ..Faults::default() }, 503),
    ] {
        simulator.set_faults(faults);
        assert_eq!(send(&connection, &headers, body.clone()).await.status, status);
    }
}
