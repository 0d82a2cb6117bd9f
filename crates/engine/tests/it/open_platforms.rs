//! Open platforms: the handshake, the webhook, and what its answers lead to.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_engine};
use testkit::receiver::OpenReceiver;

use crate::devices::{push, register_open, status};

async fn configure(app: &TestApp, receiver: &OpenReceiver, auth: Value) {
    let path = format!("/operator/apps/{}/platforms/open::kiosk", app.app.key);
    let config = json!({"url": receiver.url(), "auth": auth, "validate": false});
    app.operator().put(&path, config).await.expect(200);
}

fn hello() -> Value {
    json!({"audience": "all", "device_types": ["open::kiosk"], "notification": {"alert": "Hello"}})
}

#[tokio::test]
async fn a_webhook_must_confirm_before_it_is_stored() {
    on_each_engine(async |app| {
        let receiver = OpenReceiver::start().await;
        let path = format!("/operator/apps/{}/platforms/open::kiosk", app.app.key);
        let config = json!({"url": receiver.url(), "auth": {"type": "none"}});
        let refused = app.operator().put(&path, &config).await.expect(400);
        assert_eq!(refused["details"]["path"], "url");
        app.operator().get(&path).await.expect(404);

        // The refusal tells the code, so that the webhook can be taught it.
        let sentence = refused["details"]["error"].as_str().unwrap();
        let code = sentence.split_whitespace().find_map(|word| word.trim_end_matches('.').parse().ok());
        receiver.confirm(code.unwrap());
        let stored = app.operator().put(&path, &config).await.expect(200);
        assert_eq!(stored["validation_code"], json!(code.unwrap()));
        app.operator().post(&format!("{path}/test"), "").await.expect(200);
        assert_eq!(receiver.received().len(), 0, "a test sends nothing");
    })
    .await;
}

#[tokio::test]
async fn messages_arrive_signed_and_in_batches() {
    on_each_engine(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &receiver, json!({"type": "signature", "secret": "whsecret"})).await;
        let original = register_open(&app, "kiosk", "lobby", json!({"tags": ["all"]})).await;
        for i in 0..3 {
            let identifiers = json!({"open_platform_name": "kiosk", "identifiers": {"floor": i.to_string()}});
            register_open(&app, "kiosk", &format!("floor-{i}"), json!({"open": identifiers})).await;
        }
        let mut body = hello();
        body["notification"]["open::kiosk"] = json!({"title": "Only here", "extra": {"a": "b"}});
        let id = push(&app, body).await;
        app.step_all().await;
        let received = receiver.received();
        let [request] = received.as_slice() else { panic!("{} requests", received.len()) };
        assert_eq!(request.headers["data-attribute"], "values");
        assert!(request.headers.contains_key("x-ua-timestamp") && request.headers.contains_key("x-ua-signature"));
        let message = &request.values()[0];
        assert_eq!(message["app_key"], json!(app.app.key));
        assert_eq!(message["push_id"], json!(id));
        assert_eq!(message["target"], json!({"address": "lobby", "channel_id": original, "identifiers": {}}));
        assert_eq!(message["payload"], json!({"alert": "Hello", "title": "Only here", "extra": {"a": "b"}}));
        assert_eq!(request.values()[2]["target"]["identifiers"], json!({"floor": "1"}));
        assert_eq!(status(&app, &id).await["platforms"]["open::kiosk"]["delivered"], 4);
    })
    .await;
}

#[tokio::test]
async fn what_fails_for_now_is_tried_again_with_the_same_id() {
    on_each_engine(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &receiver, json!({"type": "none"})).await;
        register_open(&app, "kiosk", "lobby", json!({})).await;
        receiver.answer_with([503, 429]);
        let id = push(&app, hello()).await;
        app.step_all().await;
        assert_eq!(receiver.received().len(), 1);
        assert_eq!(status(&app, &id).await["state"], "sending");
        assert!(status(&app, &id).await["platforms"]["open::kiosk"]["reason"].as_str().is_some());
        app.advance(Duration::from_secs(1));
        assert_eq!(app.step_all().await, 0, "not before its time");
        app.advance(Duration::from_secs(1));
        app.step_all().await;
        // A wait survives a restart.
        let app = app.restart().await;
        app.advance(Duration::from_secs(4));
        app.step_all().await;
        let values = receiver.values();
        assert_eq!(values.len(), 3);
        assert!(values.iter().all(|value| value["send_id"] == values[0]["send_id"]));
        let counts = status(&app, &id).await;
        assert_eq!(counts["state"], "done");
        assert_eq!(counts["platforms"]["open::kiosk"]["delivered"], 1);
    })
    .await;
}

#[tokio::test]
async fn what_keeps_failing_ends() {
    on_each_engine(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &receiver, json!({"type": "none"})).await;
        register_open(&app, "kiosk", "lobby", json!({})).await;
        receiver.answer_with([400]);
        let refused = push(&app, hello()).await;
        app.step_all().await;
        let counts = status(&app, &refused).await;
        assert_eq!((&counts["state"], &counts["platforms"]["open::kiosk"]["failed"]), (&json!("done"), &json!(1)));

        receiver.answer_with([503; 40]);
        let doomed = push(&app, hello()).await;
        for _ in 0..40 {
            app.step_all().await;
            app.advance(Duration::from_secs(300));
        }
        let counts = status(&app, &doomed).await;
        assert_eq!((&counts["state"], &counts["platforms"]["open::kiosk"]["failed"]), (&json!("done"), &json!(1)));
        assert_eq!(receiver.received().len(), 1 + 18);
    })
    .await;
}

#[tokio::test]
async fn an_unknown_platform_is_a_typing_mistake() {
    on_each_engine(async |app| {
        let refused = app.master().post("/api/push", hello()).await.expect(400);
        assert_eq!(refused["details"]["path"], "device_types");
        register_open(&app, "kiosk", "lobby", json!({})).await;
        app.master().post("/api/push", hello()).await.expect(200);
    })
    .await;
}
