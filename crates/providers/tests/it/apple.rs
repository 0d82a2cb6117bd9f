//! Messages to Apple: the headers, the token, the certificate, and the check of credentials.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Response, Version};
use model::time::UtcMillis;
use parking_lot::Mutex;
use providers::apns::{ApnsAuth, ApnsCredentials, Environment};
use providers::credential::Credential;
use providers::http::{AddressPolicy, WebUrl};
use providers::outcome::Outcome;
use providers::{Endpoint, Network, Sender};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use serde_json::{Value, json};

use crate::fixture::{DELIVERY, NOW, PUSH, Push, SENT_AT, recipient};
use crate::receiver::{Receiver, answer};

const DEVICE: &str = "0011aabb";

fn credentials(url: &str, auth: ApnsAuth) -> ApnsCredentials {
    ApnsCredentials {
        topic: "com.example.app".to_owned(),
        environment: Environment::Production,
        auth,
        endpoint: Some(Endpoint { url: WebUrl::try_from(url.to_owned()).unwrap(), ca: None }),
    }
}

fn token_auth(key: &KeyPair) -> ApnsAuth {
    ApnsAuth::Token {
        team_id: "TEAM567890".to_owned(),
        key_id: "KEY4567890".to_owned(),
        key: Credential::new(key.serialize_pem()),
    }
}

fn sender(receiver: &Receiver, key: &KeyPair) -> Sender {
    Sender::apns(&credentials(&receiver.url(""), token_auth(key)), &Network::new(AddressPolicy::ANY))
}

fn problem(status: u16, reason: &str) -> Response<Bytes> {
    answer(status, json!({ "reason": reason }).to_string())
}

/// The claims of a token, whose signature must be good.
fn claims(authorization: &str, key: &KeyPair) -> (Value, Value) {
    let token = authorization.strip_prefix("bearer ").unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key_raw());
    public.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let part = |text: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    (part(header), part(claims))
}

#[tokio::test]
async fn the_whole_request() {
    let receiver = Receiver::start(|_| answer(200, "")).await;
    let key = KeyPair::generate().unwrap();
    let sender = sender(&receiver, &key);
    let notification = json!({"alert": "Hi", "ios": {"badge": "+2", "collapse_id": "news", "expiry": 3600}});
    let push = Push::of(notification).render("ios").unwrap();
    let mut recipient = recipient(DEVICE);
    recipient.badge = 5;
    assert_eq!(sender.send(&push, &recipient, NOW).await, Outcome::Delivered);

    let received = receiver.received();
    let [request] = &received[..] else { panic!("{}", received.len()) };
    assert_eq!(request.head.version, Version::HTTP_2);
    assert_eq!((request.head.method.as_str(), request.head.uri.path()), ("POST", "/3/device/0011aabb"));
    let headers = [
        ("apns-topic", "com.example.app"),
        ("apns-push-type", "alert"),
        ("apns-priority", "10"),
        ("apns-expiration", "1714568400"),
        ("apns-collapse-id", "news"),
        ("apns-id", DELIVERY),
    ];
    for (name, value) in headers {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    let (header, claims) = claims(request.header("authorization").unwrap(), &key);
    assert_eq!(header, json!({"typ": "JWT", "alg": "ES256", "kid": "KEY4567890"}));
    assert_eq!(claims["iss"], "TEAM567890");
    let age = NOW.seconds() - claims["iat"].as_i64().unwrap();
    assert!((0..50 * 60).contains(&age), "{age}");

    // What the sandbox shows is what is sent, apart from what comes with credentials.
    let shown = push.request(&recipient);
    assert_eq!(shown.body.as_bytes(), request.body);
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body["aps"]["badge"], 7);
    let sent = |name: &str| request.header(name).unwrap().to_owned();
    assert!(shown.headers.iter().all(|(name, value)| sent(name) == *value), "{:?}", shown.headers);
    assert_eq!(shown.headers.len(), headers.len() - 1, "all but the topic: {:?}", shown.headers);
}

#[tokio::test]
async fn what_a_device_gets_twice_it_shows_once() {
    let receiver = Receiver::start(|_| answer(200, "")).await;
    let sender = sender(&receiver, &KeyPair::generate().unwrap());
    let message = Some(json!({"title": "t", "body": "b"}));
    let table = [
        (Push::of(json!({"alert": "Hi"})), Some(PUSH)),
        (Push::of(json!({"ios": {"badge": 1}})), Some(PUSH)),
        (Push::of(json!({"alert": "Hi", "ios": {"collapse_id": "news"}})), Some("news")),
        // Nobody sees it, so that nothing has to be kept from being seen twice.
        (Push::of(json!({"ios": {"content_available": true}})), None),
        (Push { message, ..Push::default() }, None),
    ];
    for (push, collapse_id) in table {
        // As after a restart: rendered once more.
        for _ in 0..2 {
            sender.send(&push.render("ios").unwrap(), &recipient(DEVICE), NOW).await;
            let request = receiver.received().pop().unwrap();
            assert_eq!(request.header("apns-collapse-id"), collapse_id, "{:?}", push.notification);
        }
    }
}

#[tokio::test]
async fn a_live_activity_is_changed_under_a_topic_of_its_own() {
    let receiver = Receiver::start(|_| answer(200, "")).await;
    let key = KeyPair::generate().unwrap();
    let activity = json!({
        "name": "order-17", "event": "end", "content_state": {"step": 3}, "priority": 5, "relevance_score": 75,
        "stale_date": 1_714_565_000, "dismissal_date": 1_714_566_000, "alert": {"title": "Here", "body": "Open", "sound": "bell"},
    });
    // Everything else for iOS is without effect, apart from when it is too late.
    let ios = json!({"live_activity": activity, "badge": 3, "collapse_id": "news", "extra": {"a": 1}, "expiry": 3600});
    let push = Push::of(json!({"alert": "Hi", "ios": ios})).render("ios").unwrap();
    assert_eq!(sender(&receiver, &key).send(&push, &recipient(DEVICE), NOW).await, Outcome::Delivered);
    let received = receiver.received();
    let [request] = &received[..] else { panic!("{}", received.len()) };
    let headers = [
        ("apns-topic", Some("com.example.app.push-type.liveactivity")),
        ("apns-push-type", Some("liveactivity")),
        ("apns-priority", Some("5")),
        ("apns-expiration", Some("1714568400")),
        ("apns-collapse-id", None),
        ("apns-id", Some(DELIVERY)),
    ];
    for (name, value) in headers {
        assert_eq!(request.header(name), value, "{name}");
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let aps = json!({
        "timestamp": SENT_AT.seconds(), "event": "end", "content-state": {"step": 3}, "relevance-score": 75,
        "stale-date": 1_714_565_000, "dismissal-date": 1_714_566_000,
        "alert": {"title": "Here", "body": "Open", "sound": "bell"},
    });
    assert_eq!(body, json!({ "aps": aps }));
}

#[tokio::test]
async fn answers_about_the_token_of_a_live_activity_do_not_concern_the_device() {
    let activity = json!({"name": "order-17", "event": "end"});
    let push = Push::of(json!({"ios": {"live_activity": activity}})).render("ios").unwrap();
    let ended = "The Live Activity has ended: its token is not known any more.";
    for (status, reason, expected) in [
        (410, "Unregistered", Outcome::ActivityEnded { reason: ended.to_owned() }),
        (400, "BadDeviceToken", Outcome::ActivityEnded { reason: ended.to_owned() }),
        (
            400,
            "DeviceTokenNotForTopic",
            Outcome::Rejected { reason: "Apple answered 400: DeviceTokenNotForTopic.".to_owned() },
        ),
    ] {
        let receiver = Receiver::start(move |_| problem(status, reason)).await;
        let sender = sender(&receiver, &KeyPair::generate().unwrap());
        assert_eq!(sender.send(&push, &recipient(DEVICE), NOW).await, expected, "{reason}");
    }
}

#[tokio::test]
async fn a_path_below_the_endpoint_and_addresses_that_try_to_leave_it() {
    let receiver = Receiver::start(|_| answer(200, "")).await;
    let key = KeyPair::generate().unwrap();
    let credentials = credentials(&receiver.url("/apple/"), token_auth(&key));
    let sender = Sender::apns(&credentials, &Network::new(AddressPolicy::ANY));
    let push = Push::of(json!({"alert": "Hi"})).render("ios").unwrap();
    sender.send(&push, &recipient("../admin?x"), NOW).await;
    assert_eq!(receiver.received()[0].head.uri.path_and_query().unwrap(), "/apple/3/device/..%2Fadmin%3Fx");
}

#[tokio::test]
async fn a_token_serves_fifty_minutes_and_is_the_same_after_a_restart() {
    let receiver = Receiver::start(|_| answer(200, "")).await;
    let key = KeyPair::generate().unwrap();
    let push = Push::of(json!({"alert": "Hi"})).render("ios").unwrap();
    // The start of a period, which is a multiple of fifty minutes.
    let start = UtcMillis(50 * 60_000 * 571_000);
    let at = |minutes: u64| start.plus(Duration::from_secs(minutes * 60));
    let first = sender(&receiver, &key);
    for minutes in [0, 10, 49, 50, 99] {
        assert_eq!(first.send(&push, &recipient(DEVICE), at(minutes)).await, Outcome::Delivered);
    }
    sender(&receiver, &key).send(&push, &recipient(DEVICE), at(99)).await;
    let tokens: Vec<String> =
        receiver.received().iter().map(|request| request.header("authorization").unwrap().to_owned()).collect();
    let issued: Vec<i64> = tokens.iter().map(|token| claims(token, &key).1["iat"].as_i64().unwrap()).collect();
    let (old, new) = (start.seconds(), at(50).seconds());
    assert_eq!(issued, [old, old, old, new, new, new]);
    assert!(tokens[0] == tokens[2] && tokens[3] == tokens[4], "one signature per period");
}

#[tokio::test]
async fn an_expired_token_is_replaced_once_unless_it_is_young() {
    let receiver = Receiver::start(|_| problem(403, "ExpiredProviderToken")).await;
    let key = KeyPair::generate().unwrap();
    let push = Push::of(json!({"alert": "Hi"})).render("ios").unwrap();
    let start = UtcMillis(50 * 60_000 * 571_000);
    for (minutes, n_requests) in [(10, 1), (30, 2)] {
        let sender = sender(&receiver, &key);
        let before = receiver.received().len();
        let now = start.plus(Duration::from_secs(minutes * 60));
        let Outcome::Unauthorized { reason } = sender.send(&push, &recipient(DEVICE), now).await else { panic!() };
        assert!(reason.contains("ExpiredProviderToken") && reason.contains("clock"), "{reason}");
        assert_eq!(receiver.received().len() - before, n_requests, "{minutes}");
    }
    let last = receiver.received().pop().unwrap();
    let issued = claims(last.header("authorization").unwrap(), &key).1["iat"].as_i64().unwrap();
    assert_eq!(issued, start.seconds() + 30 * 60, "the new one states the time it was made");
}

#[tokio::test]
async fn credentials_are_checked_without_a_device() {
    let reply = Arc::new(Mutex::new((400, "BadDeviceToken")));
    let told = reply.clone();
    let receiver = Receiver::start(move |_| {
        let (status, reason) = *told.lock();
        problem(status, reason)
    })
    .await;
    let sender = sender(&receiver, &KeyPair::generate().unwrap());
    assert_eq!(sender.check(NOW).await, Ok(()));
    for (status, reason) in [(403, "InvalidProviderToken"), (400, "TopicDisallowed"), (503, "ServiceUnavailable")] {
        *reply.lock() = (status, reason);
        let why = sender.check(NOW).await.unwrap_err();
        assert!(why.contains(reason) && why.ends_with('.'), "{why}");
    }
    let request = receiver.received().remove(0);
    assert_eq!(request.header("apns-topic"), Some("com.example.app"));
    let token = request.head.uri.path().strip_prefix("/3/device/").unwrap();
    assert!(token.bytes().any(|byte| !byte.is_ascii_hexdigit()), "{token} could be a device");
}

/// An authority, and what it has signed for a name.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn issue(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }

    fn roots(&self) -> Arc<rustls::RootCertStore> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        Arc::new(roots)
    }
}

/// A server certificate from `ours`; clients need one from `clients`.
fn mutual_tls(ours: &Authority, clients: &Authority) -> Arc<rustls::ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(clients.roots(), provider.clone()).build().unwrap();
    let (certificate, key) = ours.issue("localhost");
    let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

#[tokio::test]
async fn certificates_speak_for_the_connection() {
    let (ours, apple) = (Authority::new("ours"), Authority::new("apple"));
    let receiver = Receiver::start_tls(mutual_tls(&ours, &apple), |_| answer(200, "")).await;
    let url = format!("https://localhost:{}", receiver.address.port());
    let push = Push::of(json!({"alert": "Hi"})).render("ios").unwrap();
    let sender = |issuer: &Authority, ca: Option<&Authority>| {
        let (certificate, key) = issuer.issue("com.example.app");
        let (certificate, key) = (certificate.pem(), Credential::new(key.serialize_pem()));
        let mut credentials = credentials(&url, ApnsAuth::Certificate { certificate, key });
        credentials.endpoint.as_mut().unwrap().ca = ca.map(|ca| ca.0.pem());
        Sender::apns(&credentials, &Network::new(AddressPolicy::ANY))
    };

    let good = sender(&apple, Some(&ours));
    assert_eq!(good.send(&push, &recipient(DEVICE), NOW).await, Outcome::Delivered);
    let request = receiver.received().pop().unwrap();
    assert_eq!((request.header("authorization"), request.header("apns-topic")), (None, Some("com.example.app")));

    let unknown = sender(&ours, Some(&ours));
    for _ in 0..2 {
        let outcome = unknown.send(&push, &recipient(DEVICE), NOW).await;
        let Outcome::Unauthorized { reason } = outcome else { panic!("{outcome:?}") };
        assert!(reason.contains("certificate"), "{reason}");
    }
    let distrustful = sender(&apple, None);
    let outcome = distrustful.send(&push, &recipient(DEVICE), NOW).await;
    let Outcome::Retry { reason, everybody: true, .. } = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("certificate"), "{reason}");
    assert_eq!(receiver.received().len(), 1);
}
