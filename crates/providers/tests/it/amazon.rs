//! Messages to Amazon's devices, through a server on loopback that hands out tokens and takes messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use providers::adm::{AdmCredentials, AdmPush, Client};
use providers::credential::Credential;
use providers::http::{AddressPolicy, WebUrl};
use providers::outcome::Outcome;
use providers::{Endpoint, Network, RenderedPush};
use serde_json::json;

use crate::fixture::{NOW, Push, recipient};
use crate::receiver::{Received, Receiver, answer};

const TOKEN_PATH: &str = "/auth/O2/token";

fn push() -> AdmPush {
    let RenderedPush::Adm(push) = Push::of(json!({"alert": "Hi"})).render("amazon").unwrap() else { panic!() };
    push
}

fn client(service: &Receiver) -> Client {
    let url = WebUrl::try_from(service.url("")).unwrap();
    let credentials = AdmCredentials {
        client_id: "amzn1.client".to_owned(),
        client_secret: Credential::new("s&cret ü"),
        endpoint: Some(Endpoint { url, ca: None }),
    };
    Client::new(&credentials, &Network::new(AddressPolicy::ANY))
}

/// Numbers its tokens; messages are answered as told.
async fn service(messages: impl Fn(&Received) -> http::Response<bytes::Bytes> + Send + Sync + 'static) -> Receiver {
    let n_tokens = Arc::new(AtomicUsize::new(0));
    Receiver::start(move |request| {
        if request.head.uri.path() != TOKEN_PATH {
            return messages(request);
        }
        let n = n_tokens.fetch_add(1, Ordering::SeqCst);
        answer(200, json!({"access_token": format!("token-{n}"), "expires_in": 3600}).to_string())
    })
    .await
}

#[tokio::test]
async fn one_token_for_many_messages() {
    let service = service(|_| answer(200, r#"{"registrationID":"amzn1.reg/1"}"#)).await;
    let client = client(&service);
    for _ in 0..3 {
        assert_eq!(client.send(&push(), &recipient("amzn1.reg/1"), NOW).await, Outcome::Delivered);
    }
    let received = service.received();
    assert_eq!(received.len(), 4);
    assert_eq!(received[0].header("content-type"), Some("application/x-www-form-urlencoded;charset=UTF-8"));
    let form =
        "grant_type=client_credentials&scope=messaging:push&client_id=amzn1.client&client_secret=s%26cret%20%C3%BC";
    assert_eq!(received[0].body, form);
    let sent = &received[1];
    assert_eq!(sent.head.uri.path(), "/messaging/registrations/amzn1.reg%2F1/messages");
    assert_eq!(sent.header("authorization"), Some("Bearer token-0"));
    assert_eq!(sent.header("x-amzn-type-version"), Some("com.amazon.device.messaging.ADMMessage@1.0"));
    assert_eq!(sent.header("x-amzn-accept-type"), Some("com.amazon.device.messaging.ADMSendResult@1.0"));
    let shown = push().request(&recipient("amzn1.reg/1"));
    assert_eq!(sent.body, shown.body, "what the sandbox shows is what is sent");
    assert_eq!(shown.url, "https://api.amazon.com/messaging/registrations/amzn1.reg%2F1/messages");
}

#[tokio::test]
async fn devices_move_and_go() {
    let service = service(|request| match request.head.uri.path().contains("gone") {
        true => answer(400, r#"{"reason":"Unregistered"}"#),
        false => answer(200, r#"{"registrationID":"new"}"#),
    })
    .await;
    let client = client(&service);
    assert_eq!(client.send(&push(), &recipient("gone"), NOW).await, Outcome::Gone { since: None });
    assert_eq!(client.send(&push(), &recipient("old"), NOW).await, Outcome::Moved { address: "new".to_owned() });
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_once() {
    let service = service(|request| match request.header("authorization") {
        Some("Bearer token-1") => answer(200, "{}"),
        _ => answer(401, r#"{"reason":"AccessTokenExpired"}"#),
    })
    .await;
    let client = client(&service);
    assert_eq!(client.send(&push(), &recipient("a"), NOW).await, Outcome::Delivered);
    assert_eq!(service.received().len(), 4, "a token, a refusal, another token, the message");
}

#[tokio::test]
async fn tokens_that_are_always_refused_stop_the_platform() {
    let service = service(|_| answer(401, r#"{"reason":"AccessTokenExpired"}"#)).await;
    let client = client(&service);
    let outcome = client.send(&push(), &recipient("a"), NOW).await;
    assert!(matches!(&outcome, Outcome::Unauthorized { reason } if reason.contains("401")), "{outcome:?}");
    assert_eq!(service.received().len(), 4);
}

#[tokio::test]
async fn credentials_prove_themselves_without_a_message() {
    let good = service(|_| panic!("no message is sent")).await;
    client(&good).check(NOW).await.unwrap();

    let bad = Receiver::start(|_| answer(401, r#"{"error":"invalid_client","error_description":"Unknown."}"#)).await;
    let why = client(&bad).check(NOW).await.unwrap_err();
    assert!(why.contains("401") && why.contains("invalid_client") && !why.contains("s&cret"), "{why}");
    let outcome = client(&bad).send(&push(), &recipient("a"), NOW).await;
    assert!(matches!(outcome, Outcome::Unauthorized { .. }), "{outcome:?}");

    let down = Receiver::start(|_| answer(503, "")).await;
    let outcome = client(&down).send(&push(), &recipient("a"), NOW).await;
    assert!(matches!(outcome, Outcome::Retry { everybody: true, .. }), "{outcome:?}");
}
