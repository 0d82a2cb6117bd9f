//! Messages to Firebase: access tokens from the service account, the request, and the check of credentials.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Response, Version};
use model::json::parse;
use providers::fcm::FcmCredentials;
use providers::http::AddressPolicy;
use providers::outcome::{AddressFault, Outcome};
use providers::{Network, RenderedPush, Sender};
use serde_json::{Value, json};

use crate::fixture::{NOW, Push, recipient};
use crate::receiver::{Received, Receiver, answer};

const DEVICE: &str = "fcm:token-1";
const RSA_KEY: &str = include_str!("../../../sim/keys/service-account.pem");

fn push() -> RenderedPush {
    Push::of(json!({"alert": "Hi"})).render("android").unwrap()
}

fn sender(receiver: &Receiver) -> Sender {
    let body = json!({
        "service_account": {
            "type": "service_account",
            "project_id": "my-app-4e15a",
            "private_key_id": "key-1",
            "private_key": RSA_KEY,
            "client_email": "push@my-app-4e15a.iam.gserviceaccount.com",
            "token_uri": receiver.url("/token"),
        },
        "endpoint": {"url": receiver.url("")},
    });
    let credentials = parse(body.to_string().as_bytes(), FcmCredentials::parse).unwrap();
    Sender::fcm(&credentials, &Network::new(AddressPolicy::ANY))
}

/// Numbers its access tokens; messages are answered as told.
async fn service(messages: impl Fn(&Received) -> Response<Bytes> + Send + Sync + 'static) -> Receiver {
    let n_tokens = Arc::new(AtomicUsize::new(0));
    Receiver::start(move |request| {
        if request.head.uri.path() != "/token" {
            return messages(request);
        }
        let n = n_tokens.fetch_add(1, Ordering::SeqCst);
        answer(
            200,
            json!({"access_token": format!("token-{n}"), "expires_in": 3599, "token_type": "Bearer"}).to_string(),
        )
    })
    .await
}

fn sent() -> Response<Bytes> {
    answer(200, json!({"name": "projects/my-app-4e15a/messages/1"}).to_string())
}

fn problem(status: u16, canonical: &str, code: Option<&str>, message: &str) -> Response<Bytes> {
    let details: Vec<Value> = code.map(|code| json!({"@type": "x", "errorCode": code})).into_iter().collect();
    let error = json!({"code": status, "status": canonical, "message": message, "details": details});
    answer(status, json!({ "error": error }).to_string())
}

#[tokio::test]
async fn one_access_token_for_many_messages() {
    let service = service(|_| sent()).await;
    let sender = sender(&service);
    let push = push();
    for _ in 0..3 {
        assert_eq!(sender.send(&push, &recipient(DEVICE), NOW).await, Outcome::Delivered);
    }
    let received = service.received();
    assert_eq!(received.len(), 4);

    let form = std::str::from_utf8(&received[0].body).unwrap();
    let assertion = form.strip_prefix("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=").unwrap();
    let parts: Vec<&str> = assertion.split('.').collect();
    let part = |text: &str| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap();
    assert_eq!(part(parts[0]), json!({"typ": "JWT", "alg": "RS256", "kid": "key-1"}));
    let claims = json!({
        "iss": "push@my-app-4e15a.iam.gserviceaccount.com",
        "scope": "https://www.googleapis.com/auth/firebase.messaging",
        "aud": service.url("/token"),
        "iat": NOW.seconds(),
        "exp": NOW.seconds() + 3600,
    });
    assert_eq!(part(parts[1]), claims);
    assert_eq!(URL_SAFE_NO_PAD.decode(parts[2]).unwrap().len(), 256);

    let request = &received[1];
    assert_eq!(request.head.version, Version::HTTP_2);
    let path = "/v1/projects/my-app-4e15a/messages:send";
    assert_eq!((request.head.method.as_str(), request.head.uri.path()), ("POST", path));
    assert_eq!(request.header("authorization"), Some("Bearer token-0"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.body, push.request(&recipient(DEVICE)).body);
}

#[tokio::test]
async fn a_refused_access_token_is_replaced_once() {
    let refuses_first = service(|request| match request.header("authorization") {
        Some("Bearer token-0") => problem(401, "UNAUTHENTICATED", None, "Request had invalid credentials."),
        _ => sent(),
    })
    .await;
    let sender_of = |service| sender(service);
    assert_eq!(sender_of(&refuses_first).send(&push(), &recipient(DEVICE), NOW).await, Outcome::Delivered);
    assert_eq!(refuses_first.received().len(), 4, "two tokens, two messages");

    let refuses_all = service(|_| problem(401, "UNAUTHENTICATED", None, "Request had invalid credentials.")).await;
    let outcome = sender_of(&refuses_all).send(&push(), &recipient(DEVICE), NOW).await;
    assert!(matches!(outcome, Outcome::Unauthorized { .. }), "{outcome:?}");
    assert_eq!(refuses_all.received().len(), 4);
}

#[tokio::test]
async fn a_service_account_that_google_does_not_know() {
    let receiver = Receiver::start(|_| {
        answer(400, json!({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}).to_string())
    })
    .await;
    let sender = sender(&receiver);
    let outcome = sender.send(&push(), &recipient(DEVICE), NOW).await;
    let Outcome::Unauthorized { reason } = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("invalid_grant"), "{reason}");
    assert!(sender.check(NOW).await.unwrap_err().contains("invalid_grant"));
}

#[tokio::test]
async fn credentials_are_checked_without_a_device() {
    let bad_token = "The registration token is not a valid FCM registration token";
    let answers = [
        (sent as fn() -> Response<Bytes>, None),
        (|| problem(400, "INVALID_ARGUMENT", Some("INVALID_ARGUMENT"), "The registration token is not valid"), None),
        (|| problem(403, "PERMISSION_DENIED", None, "The API is disabled"), Some("disabled")),
        (|| problem(503, "UNAVAILABLE", Some("UNAVAILABLE"), "Try again"), Some("UNAVAILABLE")),
    ];
    for (reply, expected) in answers {
        let service = service(move |_| reply()).await;
        let checked = sender(&service).check(NOW).await;
        match expected {
            None => assert_eq!(checked, Ok(())),
            Some(word) => assert!(checked.as_ref().is_err_and(|why| why.contains(word)), "{checked:?}"),
        }
        let body: Value = serde_json::from_slice(&service.received()[1].body).unwrap();
        assert_eq!(body["validate_only"], true, "{body}");
    }
    let service = service(move |_| problem(400, "INVALID_ARGUMENT", Some("INVALID_ARGUMENT"), bad_token)).await;
    let outcome = sender(&service).send(&push(), &recipient(DEVICE), NOW).await;
    assert!(matches!(outcome, Outcome::Refused { fault: AddressFault::Unknown, .. }), "{outcome:?}");
}

#[tokio::test]
async fn messages_for_others_are_turned_down() {
    let service = service(|_| sent()).await;
    let apple = Push::of(json!({"alert": "Hi"})).render("ios").unwrap();
    let outcome = sender(&service).send(&apple, &recipient(DEVICE), NOW).await;
    assert!(matches!(outcome, Outcome::Rejected { .. }), "{outcome:?}");
    assert_eq!(service.received().len(), 0);
}
