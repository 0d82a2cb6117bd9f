//! Sends with keys that others made and writes down what was sent, for `scripts/peers` to have it checked by others.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::channel::WebSubscription;
use model::json::parse;
use model::time::Clock;
use providers::apns::{ApnsAuth, ApnsCredentials, Environment};
use providers::credential::Credential;
use providers::fcm::FcmCredentials;
use providers::http::{AddressPolicy, WebUrl};
use providers::outcome::Outcome;
use providers::webpush::{PushHosts, WebPushCredentials};
use providers::{Endpoint, Network, RenderedPush, Sender};
use serde_json::{Map, Value, json};

use crate::fixture::{Push, recipient};
use crate::receiver::{Received, Receiver, answer};

const FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/peers");

fn written(received: &Received, kind: &str, more: Value) -> Value {
    let headers: Map<String, Value> = (received.head.headers.iter())
        .map(|(name, value)| (name.to_string(), Value::from(value.to_str().unwrap())))
        .collect();
    let mut written = json!({"kind": kind, "headers": headers, "body": STANDARD.encode(&received.body)});
    if let (Value::Object(written), Value::Object(more)) = (&mut written, more) {
        written.extend(more);
    }
    written
}

fn endpoint(receiver: &Receiver) -> Option<Endpoint> {
    Some(Endpoint { url: WebUrl::try_from(receiver.url("")).unwrap(), ca: None })
}

async fn send(sender: &Sender, push: &RenderedPush, address: &str, keys: Option<&WebSubscription>) {
    let mut recipient = recipient(address);
    recipient.web_keys = keys;
    let outcome = sender.send(push, &recipient, Clock::System.now()).await;
    assert_eq!(outcome, Outcome::Delivered);
}

/// Messages of all lengths, with a key pair from elsewhere and with one of our own making.
async fn to_browsers(keys: &Value, network: &Network) -> Vec<Value> {
    let service = Receiver::start(|_| answer(201, "")).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let browser = WebSubscription { p256dh: text(&keys["browser"]["p256dh"]), auth: text(&keys["browser"]["auth"]) };
    let theirs = parse(keys["vapid"].to_string().as_bytes(), WebPushCredentials::parse).unwrap();
    let ours = WebPushCredentials::generate(theirs.subject.clone()).unwrap();
    let mut requests = Vec::new();
    for credentials in [theirs, ours] {
        let credentials = WebPushCredentials { endpoint: endpoint(&service), ..credentials };
        let sender = Sender::web_push(&credentials, network, PushHosts::default());
        for alert in ["", "Hi", "Grüße \u{1F600}", &"x".repeat(2000), &"x".repeat(3700)] {
            let push = Push::of(json!({"web": {"alert": alert}})).render("web").unwrap();
            send(&sender, &push, &service.url("/subscription"), Some(&browser)).await;
            let message = push.request(&recipient("")).body;
            let more = json!({"message": message, "origin": service.url(""), "public_key": credentials.public_key});
            requests.push(written(service.received().last().unwrap(), "web_push", more));
        }
    }
    requests
}

async fn to_apple(keys: &Value, network: &Network) -> Vec<Value> {
    let service = Receiver::start(|_| answer(200, "")).await;
    let text = |name: &str| keys["apns"][name].as_str().unwrap().to_owned();
    let auth = ApnsAuth::Token { team_id: text("team_id"), key_id: text("key_id"), key: Credential::new(text("key")) };
    let credentials = ApnsCredentials {
        topic: "com.example.app".to_owned(),
        environment: Environment::Production,
        auth,
        endpoint: endpoint(&service),
    };
    let push = Push::of(json!({"alert": "Hi"})).render("ios").unwrap();
    send(&Sender::apns(&credentials, network), &push, "0011aabb", None).await;
    service.received().iter().map(|received| written(received, "apns", json!({}))).collect()
}

async fn to_firebase(keys: &Value, network: &Network) -> Vec<Value> {
    let service = Receiver::start(|request| match request.head.uri.path() {
        "/token" => answer(200, r#"{"access_token":"t","expires_in":3599}"#),
        _ => answer(200, r#"{"name":"projects/peers/messages/1"}"#),
    })
    .await;
    let token_uri = service.url("/token");
    let mut account = keys["fcm"].clone();
    account["token_uri"] = json!(token_uri);
    let body = json!({"service_account": account, "endpoint": {"url": service.url("")}});
    let credentials = parse(body.to_string().as_bytes(), FcmCredentials::parse).unwrap();
    let push = Push::of(json!({"alert": "Hi"})).render("android").unwrap();
    send(&Sender::fcm(&credentials, network), &push, "fcm:token", None).await;
    let asked = service.received().into_iter().filter(|received| received.head.uri.path() == "/token");
    asked.map(|received| written(&received, "fcm", json!({"token_uri": token_uri}))).collect()
}

#[tokio::test]
#[ignore = "scripts/peers makes the keys it needs and checks what it sends"]
async fn send_what_the_peers_check() {
    let keys = fs::read_to_string(Path::new(FOLDER).join("keys.json")).unwrap();
    let keys: Value = serde_json::from_str(&keys).unwrap();
    let network = Network::new(AddressPolicy::ANY);
    let requests =
        [to_browsers(&keys, &network).await, to_apple(&keys, &network).await, to_firebase(&keys, &network).await];
    fs::write(Path::new(FOLDER).join("requests.json"), Value::from(requests.concat()).to_string()).unwrap();
}
