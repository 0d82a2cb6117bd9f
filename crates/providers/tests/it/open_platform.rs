//! The endpoint of an open platform: the handshake, deliveries and what its answers mean.

use std::io::Read;
use std::time::Duration;

use flate2::read::GzDecoder;
use model::time::UtcMillis;
use providers::credential::Credential;
use providers::http::{AddressPolicy, Client, Timeouts, WebUrl};
use providers::open::{Batch, BatchOutcome, HandshakeError, OpenAuth, OpenPlatformConfig, deliver, validate};
use providers::outcome::{Contact, Outcome};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::receiver::{Receiver, answer};

const NOW: UtcMillis = UtcMillis(1_536_947_409_000);
const CODE: Uuid = Uuid::from_u128(0x1234);

fn config(url: String) -> OpenPlatformConfig {
    let url = WebUrl::try_from(url).unwrap();
    OpenPlatformConfig { url, auth: OpenAuth::None, validation_code: CODE, enabled: true, gzip: false }
}

fn client() -> Client {
    let timeouts = Timeouts { connect: Duration::from_secs(5), total: Duration::from_secs(5) };
    Client::with_timeouts(AddressPolicy::ANY, timeouts)
}

/// Sends a body as if it held one message.
async fn deliver_one(client: &Client, config: &OpenPlatformConfig, body: &'static str) -> Outcome {
    match deliver(client, config, Batch { body: body.into(), n_values: 1 }, NOW).await {
        BatchOutcome::Each(outcome) => outcome,
        BatchOutcome::Split => panic!("a single message cannot be split"),
    }
}

fn signed() -> OpenAuth {
    OpenAuth::Signature { secret: Credential::new("whsecret") }
}

fn json_answer(status: u16, body: String, content_type: &'static str) -> http::Response<bytes::Bytes> {
    let mut answer = answer(status, body);
    answer.headers_mut().insert("content-type", http::HeaderValue::from_static(content_type));
    answer
}

#[tokio::test]
async fn the_handshake_needs_our_code() {
    let right = format!("{{\"confirmation_code\":\"{CODE}\",\"more\":1}}");
    let receiver = Receiver::start(move |_| json_answer(200, right.clone(), "Application/JSON; charset=utf-8")).await;
    let mut config = config(receiver.url("/hook/"));
    config.auth = signed();
    validate(&client(), &config, NOW).await.unwrap();

    let asked = &receiver.received()[0];
    assert_eq!((asked.head.method.as_str(), asked.head.uri.path()), ("GET", "/hook/validate"));
    assert_eq!(asked.header("x-ua-timestamp"), Some("1536947409"));
    let of_nothing = "1e37c7f91bf625cc665a4aad97f7f71425c5fe390747a587e1427c2383c10a06";
    assert_eq!(asked.header("x-ua-signature"), Some(of_nothing));
    assert!(asked.body.is_empty());
}

#[tokio::test]
async fn the_handshake_says_what_was_wrong() {
    let other = Uuid::from_u128(9);
    let answers = [
        (500, format!("{{\"confirmation_code\":\"{CODE}\"}}"), "answered 500"),
        (204, String::new(), "answered 204"),
        (302, String::new(), "answered 302"),
        (200, "hello".to_owned(), "did not answer with JSON"),
        (200, "{}".to_owned(), "did not answer with JSON"),
        (200, "{\"confirmation_code\":7}".to_owned(), "did not answer with JSON"),
        (200, format!("{{\"confirmation_code\":\"{other}\"}}"), "another confirmation code"),
    ];
    for (status, body, said) in answers {
        let receiver = Receiver::start(move |_| json_answer(status, body.clone(), "application/json")).await;
        let error = validate(&client(), &config(receiver.url("")), NOW).await.unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("/validate"), "{error}");
    }

    for content_type in ["text/html", "text/plain; charset=utf-8", "application/jsonp", "application/json+x", ""] {
        let right = format!("{{\"confirmation_code\":\"{CODE}\"}}");
        let receiver = Receiver::start(move |_| json_answer(200, right.clone(), content_type)).await;
        let error = validate(&client(), &config(receiver.url("")), NOW).await.unwrap_err().to_string();
        assert!(error.contains("application/json"), "{content_type}: {error}");
    }

    let public = Client::new(AddressPolicy::PUBLIC_ONLY);
    let error = validate(&public, &config("http://127.0.0.1:1/".to_owned()), NOW).await.unwrap_err();
    assert!(matches!(error, HandshakeError::NoAnswer { .. }));
    assert!(error.to_string().contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"), "{error}");
}

#[tokio::test]
async fn a_delivery_is_posted_plain_and_signed() {
    let receiver = Receiver::start(|_| answer(202, "")).await;
    let mut config = config(receiver.url("/hook?tenant=7"));
    config.auth = signed();
    let outcome = deliver_one(&client(), &config, r#"{"values":[]}"#).await;
    assert_eq!(outcome, Outcome::Delivered);

    let posted = &receiver.received()[0];
    assert_eq!((posted.head.method.as_str(), posted.head.uri.to_string().as_str()), ("POST", "/hook/push?tenant=7"));
    assert_eq!(posted.header("content-type"), Some("application/vnd.urbanairship+json; version=3"));
    assert_eq!(posted.header("data-attribute"), Some("values"));
    assert_eq!(posted.header("content-encoding"), None);
    assert_eq!(posted.header("content-length"), Some("13"));
    let signature = "88128308d521173d63edc7b6ddd5c4142f6112884a1988c7d140df09154a71ee";
    assert_eq!(posted.header("x-ua-signature"), Some(signature));
    assert_eq!(posted.body.as_ref(), br#"{"values":[]}"#);
}

#[tokio::test]
async fn compression_is_an_option_and_the_signature_is_of_the_text() {
    let receiver = Receiver::start(|_| answer(200, "")).await;
    let mut config = config(receiver.url(""));
    (config.gzip, config.auth) = (true, signed());
    let outcome = deliver_one(&client(), &config, r#"{"values":[]}"#).await;
    assert_eq!(outcome, Outcome::Delivered);

    let posted = &receiver.received()[0];
    assert_eq!(posted.header("content-encoding"), Some("gzip"));
    let signature = "88128308d521173d63edc7b6ddd5c4142f6112884a1988c7d140df09154a71ee";
    assert_eq!(posted.header("x-ua-signature"), Some(signature));
    let mut text = String::new();
    GzDecoder::new(posted.body.as_ref()).read_to_string(&mut text).unwrap();
    assert_eq!(text, r#"{"values":[]}"#);
}

#[tokio::test]
async fn basic_credentials_are_sent() {
    let receiver = Receiver::start(|request| match request.header("authorization") {
        Some("Basic dTpw") => answer(200, ""),
        _ => answer(401, ""),
    })
    .await;
    let mut config = config(receiver.url(""));
    config.auth = OpenAuth::Basic { user: "u".to_owned(), password: Credential::new("p") };
    assert_eq!(deliver_one(&client(), &config, "").await, Outcome::Delivered);
    config.auth = OpenAuth::None;
    assert!(matches!(deliver_one(&client(), &config, "").await, Outcome::Unauthorized { .. }));
}

#[tokio::test]
async fn answers_and_failures_become_outcomes() {
    let receiver = Receiver::start(|request| {
        let status = request.head.uri.path().split('/').nth(1).unwrap().parse().unwrap();
        let mut answer = answer(status, "");
        answer.headers_mut().insert("retry-after", "30".parse().unwrap());
        answer
    })
    .await;
    let to = async |path: &str| deliver_one(&client(), &config(receiver.url(path)), "").await;
    assert_eq!(to("/200").await, Outcome::Delivered);
    let half_minute = Some(Duration::from_secs(30));
    assert!(matches!(to("/429").await, Outcome::Retry { after, .. } if after == half_minute));
    assert!(matches!(to("/503").await, Outcome::Retry { after, .. } if after == half_minute));
    assert!(matches!(to("/410").await, Outcome::Retry { .. }));
    assert!(matches!(to("/307").await, Outcome::Retry { .. }));
    assert!(matches!(to("/400").await, Outcome::Rejected { .. }));
    assert!(matches!(to("/403").await, Outcome::Unauthorized { .. }));
    let two = Batch { body: "{}".into(), n_values: 2 };
    assert_eq!(deliver(&client(), &config(receiver.url("/422")), two, NOW).await, BatchOutcome::Split);
}

#[tokio::test]
async fn no_answer_is_tried_again_but_a_refused_address_is_not() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_url = format!("http://{}/", silent.local_addr().unwrap());
    let timeouts = Timeouts { connect: Duration::from_secs(5), total: Duration::from_millis(50) };
    let impatient = Client::with_timeouts(AddressPolicy::ANY, timeouts);
    let outcome = deliver_one(&impatient, &config(silent_url.clone()), "").await;
    assert!(matches!(outcome, Outcome::Retry { after: None, .. }), "{outcome:?}");

    drop(silent);
    let outcome = deliver_one(&client(), &config(silent_url.clone()), "").await;
    assert!(matches!(outcome, Outcome::Retry { after: None, contact: Contact::NotMade, .. }), "{outcome:?}");

    let public = Client::new(AddressPolicy::PUBLIC_ONLY);
    match deliver_one(&public, &config(silent_url), "").await {
        Outcome::Unauthorized { reason } => {
            assert!(reason.contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}
