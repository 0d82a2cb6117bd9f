//! Messages to browsers, through a push service on loopback.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Response, Version};
use model::channel::WebSubscription;
use providers::http::{AddressPolicy, WebUrl};
use providers::outcome::{AddressFault, Contact, Outcome};
use providers::webpush::{Client, PushHosts, WebPush, WebPushCredentials};
use providers::{Endpoint, Network, RenderedPush};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};

use crate::fixture::{NOW, Push, recipient};
use crate::receiver::{Received, Receiver, answer};

fn push() -> WebPush {
    let push = Push { expiry: Some(3600), ..Push::of(json!({"alert": "Hi"})) };
    let RenderedPush::WebPush(push) = push.render("web").unwrap() else { panic!("not for browsers") };
    push
}

/// Keys from the example of RFC 8291.
fn keys() -> WebSubscription {
    WebSubscription {
        p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4".to_owned(),
        auth: "BTBZMqHH6r4Tts7J_aSIgg".to_owned(),
    }
}

fn credentials(endpoint: &str) -> WebPushCredentials {
    let url = WebUrl::try_from(endpoint.to_owned()).unwrap();
    let credentials = WebPushCredentials::generate("mailto:push@example.com".to_owned()).unwrap();
    WebPushCredentials { endpoint: Some(Endpoint { url, ca: None }), ..credentials }
}

/// Push services on loopback are of no browser.
fn hosts() -> PushHosts {
    PushHosts::default().and_others()
}

fn client(service: &Receiver) -> Client {
    Client::new(&credentials(&service.url("")), &Network::new(AddressPolicy::ANY), hosts())
}

async fn send(client: &Client, address: &str) -> Outcome {
    let keys = keys();
    let mut recipient = recipient(address);
    recipient.web_keys = Some(&keys);
    client.send(&push(), &recipient, NOW).await
}

fn claims(received: &Received) -> Value {
    let token = received.header("authorization").unwrap().strip_prefix("vapid t=").unwrap();
    let claims = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

#[tokio::test]
async fn encrypted_signed_and_with_a_lifetime() {
    let service = Receiver::start(|_| answer(201, "")).await;
    let client = client(&service);
    client.check(NOW).unwrap();
    for path in ["/a", "/b?c=d"] {
        assert_eq!(send(&client, &service.url(path)).await, Outcome::Delivered);
    }
    let received = service.received();
    let first = &received[0];
    assert_eq!((first.head.method.as_str(), first.head.uri.path()), ("POST", "/a"));
    assert_eq!(received[1].head.uri.to_string(), "/b?c=d");
    let headers = [
        ("ttl", "3540"),
        ("urgency", "normal"),
        ("content-encoding", "aes128gcm"),
        ("content-type", "application/octet-stream"),
    ];
    for (name, value) in headers {
        assert_eq!(first.header(name), Some(value), "{name}");
    }
    // What the sandbox shows is what is encrypted.
    let message = push().request(&recipient("")).body;
    assert_eq!(first.body.len(), message.len() + 103);
    assert_ne!(first.body, received[1].body, "every message has a key and a salt of its own");
    assert_eq!(claims(first)["aud"], service.url(""));
    assert_eq!(first.header("authorization"), received[1].header("authorization"), "one token serves a whole service");
}

/// TLS with a certificate that vouches for itself, in PEM, and these protocols.
fn tls(protocols: &[&[u8]]) -> (Arc<rustls::ServerConfig>, String) {
    let (key, params) = (KeyPair::generate().unwrap(), CertificateParams::new(["localhost".to_owned()]).unwrap());
    let certificate = params.self_signed(&key).unwrap();
    let mut config = rustls::ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    (Arc::new(config), certificate.pem())
}

#[tokio::test]
async fn http2_where_it_is_spoken() {
    let spoken: [(&[&[u8]], Version); 4] = [
        (&[b"h2", b"http/1.1"], Version::HTTP_2),
        (&[b"h2"], Version::HTTP_2),
        (&[b"http/1.1"], Version::HTTP_11),
        (&[], Version::HTTP_11),
    ];
    for (protocols, version) in spoken {
        let (config, ca) = tls(protocols);
        let service = Receiver::start_tls(config, |_| answer(201, "")).await;
        let url = format!("https://localhost:{}", service.address.port());
        let mut credentials = credentials(&url);
        credentials.endpoint.as_mut().unwrap().ca = Some(ca);
        let client = Client::new(&credentials, &Network::new(AddressPolicy::ANY), hosts());
        for _ in 0..2 {
            assert_eq!(send(&client, &format!("{url}/a")).await, Outcome::Delivered);
        }
        let versions: Vec<Version> = service.received().iter().map(|received| received.head.version).collect();
        assert_eq!(versions, [version, version]);
    }
}

#[tokio::test]
async fn what_services_answer_is_what_becomes_of_the_browser() {
    let service = Receiver::start(|request| match request.head.uri.path() {
        "/gone" => answer(410, ""),
        "/foreign" => answer(403, r#"{"errno":109,"message":"key mismatch"}"#),
        "/large" => answer(413, ""),
        _ => answer(429, ""),
    })
    .await;
    let client = client(&service);
    assert_eq!(send(&client, &service.url("/gone")).await, Outcome::Gone { since: None });
    let Outcome::Refused { reason, fault: AddressFault::Foreign } = send(&client, &service.url("/foreign")).await
    else {
        panic!()
    };
    assert!(reason.contains("key mismatch"), "{reason}");
    assert!(matches!(send(&client, &service.url("/large")).await, Outcome::Rejected { .. }));
    assert!(matches!(send(&client, &service.url("/busy")).await, Outcome::Retry { after: None, .. }));
}

#[tokio::test]
async fn only_services_that_somebody_vouches_for_count_as_asked() {
    let service = Receiver::start(|_| answer(429, "")).await;
    let client = client(&service);
    let own = service.url("/a");
    let table = [
        (own.as_str(), Contact::Made),
        ("https://fcm.googleapis.com/fcm/send/a", Contact::Made),
        ("https://127.0.0.1:9/a", Contact::Unclear),
    ];
    for (address, expected) in table {
        let Outcome::Retry { contact, .. } = send(&client, address).await else { panic!("{address}") };
        assert_eq!(contact, expected, "{address}");
    }
}

/// The answer of a service that wants to be left alone for a minute.
fn to_rest(_: &Received) -> Response<Bytes> {
    Response::builder().status(503).header("retry-after", "60").body(Bytes::new()).unwrap()
}

#[tokio::test]
async fn a_service_that_nobody_vouches_for_is_not_out_of_reach_because_it_wants_to_rest() {
    let service = Receiver::start(to_rest).await;
    let client = client(&service);
    let keys = keys();
    let mut recipient = recipient("https://127.0.0.1:9/a");
    recipient.web_keys = Some(&keys);
    recipient.is_proven = true;
    for _ in 0..2 {
        let Outcome::Retry { contact, .. } = client.send(&push(), &recipient, NOW).await else { panic!() };
        assert_eq!(contact, Contact::Unclear);
    }
    assert_eq!(service.received().len(), 1, "it was left alone");
}

#[tokio::test]
async fn a_service_that_wants_to_rest_is_left_alone_and_others_are_not() {
    let service = Receiver::start(to_rest).await;
    let client = client(&service);
    for _ in 0..3 {
        let Outcome::Retry { after, everybody: false, .. } = send(&client, &service.url("/a")).await else { panic!() };
        assert_eq!(after, Some(Duration::from_secs(60)));
    }
    assert_eq!(service.received().len(), 1);
    // Another service gets its request, although the endpoint takes the place of both.
    let elsewhere = send(&client, "https://127.0.0.1:9/b?c=d").await;
    assert!(matches!(elsewhere, Outcome::Retry { .. }), "{elsewhere:?}");
    let received = service.received();
    assert_eq!((received.len(), received[1].head.uri.to_string()), (2, "/b?c=d".to_owned()));
    assert_eq!(
        claims(&received[1])["aud"],
        "https://127.0.0.1:9",
        "it is signed for the service that the browser named"
    );
    // A minute later it is asked again.
    let (keys, later) = (keys(), NOW.plus(Duration::from_secs(60)));
    let address = service.url("/a");
    let mut recipient = recipient(&address);
    recipient.web_keys = Some(&keys);
    client.send(&push(), &recipient, later).await;
    assert_eq!(service.received().len(), 3);
}

#[tokio::test]
async fn addresses_from_browsers_are_not_trusted() {
    let service = Receiver::start(|_| answer(201, "")).await;
    let elsewhere = client(&Receiver::start(|_| answer(201, "")).await);
    let plain = send(&elsewhere, &service.url("/a")).await;
    assert!(matches!(&plain, Outcome::Rejected { reason } if reason.contains("https")), "{plain:?}");
    for address in ["", "no url", "/a", "ftp://push.example/"] {
        assert!(matches!(send(&elsewhere, address).await, Outcome::Rejected { .. }), "{address}");
    }
    let careful = Client::new(&credentials("https://push.example"), &Network::new(AddressPolicy::PUBLIC_ONLY), hosts());
    let private = send(&careful, "https://127.0.0.1/a").await;
    assert!(matches!(&private, Outcome::Rejected { reason } if reason.contains("loopback")), "{private:?}");
    assert!(service.received().is_empty());
}

#[tokio::test]
async fn browsers_without_usable_keys_get_nothing() {
    let service = Receiver::start(|_| answer(201, "")).await;
    let (client, address) = (client(&service), service.url("/a"));
    let mut recipient = recipient(&address);
    assert!(matches!(client.send(&push(), &recipient, NOW).await, Outcome::Rejected { .. }));
    let point = URL_SAFE_NO_PAD.encode([vec![4], vec![1; 64]].concat());
    let off_the_curve = WebSubscription { p256dh: point, ..keys() };
    recipient.web_keys = Some(&off_the_curve);
    assert!(matches!(client.send(&push(), &recipient, NOW).await, Outcome::Rejected { .. }));
    assert!(service.received().is_empty());
}
