//! Open platforms: the handshake, the endpoint, and what its answers lead to.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
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
async fn an_endpoint_must_confirm_before_it_is_stored() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        let path = format!("/operator/apps/{}/platforms/open::kiosk", app.app.key);
        let config = json!({"url": receiver.url(), "auth": {"type": "none"}});
        let refused = app.operator().put(&path, &config).await.expect(400);
        assert_eq!(refused["details"]["path"], "url");
        app.operator().get(&path).await.expect(404);

        // The refusal tells the code, so that the endpoint can be taught it.
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
    on_each_database(async |app| {
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
    on_each_database(async |app| {
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
async fn one_refused_message_takes_no_other_with_it() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &receiver, json!({"type": "none"})).await;
        for i in 0..10 {
            register_open(&app, "kiosk", &format!("floor-{i}"), json!({})).await;
        }
        receiver.refuse("floor-6", 422);
        let id = push(&app, hello()).await;
        app.step_all().await;
        let counts = status(&app, &id).await;
        assert_eq!(counts["state"], "done");
        let kiosk = &counts["platforms"]["open::kiosk"];
        assert_eq!((&kiosk["delivered"], &kiosk["failed"]), (&json!(9), &json!(1)));
        assert!(kiosk["reason"].as_str().unwrap().contains("422"), "{kiosk}");
        // Ten at once, then by halves: five and five, two and three, and so on down to the one.
        assert!(receiver.received().len() <= 9, "{} requests", receiver.received().len());
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_that_is_being_deployed_loses_nothing() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &receiver, json!({"type": "none"})).await;
        register_open(&app, "kiosk", "lobby", json!({})).await;
        let statuses = [301, 404, 405, 409, 410];
        receiver.answer_with(statuses);
        let id = push(&app, hello()).await;
        for _ in 0..=statuses.len() {
            app.step_all().await;
            app.advance(Duration::from_secs(300));
        }
        assert_eq!(receiver.received().len(), statuses.len() + 1);
        assert_eq!(status(&app, &id).await["platforms"]["open::kiosk"]["delivered"], 1);
    })
    .await;
}

#[tokio::test]
async fn what_keeps_failing_ends() {
    on_each_database(async |app| {
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
async fn a_push_with_an_expiry_is_tried_until_then() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &receiver, json!({"type": "none"})).await;
        register_open(&app, "kiosk", "lobby", json!({})).await;
        receiver.answer_with([503; 25]);
        let mut patient = hello();
        patient["options"] = json!({"expiry": 6 * 3600});
        let id = push(&app, patient).await;
        for _ in 0..26 {
            app.step_all().await;
            app.advance(Duration::from_secs(300));
        }
        let counts = status(&app, &id).await;
        assert_eq!(counts["platforms"]["open::kiosk"]["delivered"], 1, "more than an hour is no reason: {counts}");
    })
    .await;
}

#[tokio::test]
async fn an_unknown_platform_is_a_typing_mistake() {
    on_each_database(async |app| {
        let refused = app.master().post("/api/push", hello()).await.expect(400);
        assert_eq!(refused["details"]["path"], "device_types[0]");
        register_open(&app, "kiosk", "lobby", json!({})).await;
        app.master().post("/api/push", hello()).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn who_changes_between_two_tries_is_respected() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &receiver, json!({"type": "none"})).await;
        let former = register_open(&app, "kiosk", "lobby", json!({"tags": ["kept"]})).await;
        let leaver = register_open(&app, "kiosk", "cellar", json!({})).await;
        receiver.answer_with([503]);
        let id = push(&app, hello()).await;
        app.step_all().await;
        // One loses its address to another channel, the other opts out.
        let renamed = json!({"channel_id": register_open(&app, "kiosk", "attic", json!({})).await});
        register_open(&app, "kiosk", "lobby", renamed).await;
        register_open(&app, "kiosk", "cellar", json!({"opt_in": false})).await;
        app.advance(Duration::from_secs(2));
        app.step_all().await;
        assert_eq!(receiver.received().len(), 1, "nobody is left to send to");
        let counts = status(&app, &id).await;
        assert_eq!((&counts["state"], &counts["platforms"]["open::kiosk"]["gone"]), (&json!("done"), &json!(2)));
        for (channel, tags) in [(former, json!(["kept"])), (leaver, json!([]))] {
            let channel = app.master().get(&format!("/api/channels/{channel}")).await.expect(200)["channel"].clone();
            assert_eq!((&channel["installed"], &channel["tags"]), (&json!(true), &tags));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_hangs_holds_up_nobody_else() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &receiver, json!({"type": "none"})).await;
        register_open(&app, "kiosk", "lobby", json!({})).await;
        crate::devices::register(&app, "android", "A1", json!({})).await;
        receiver.hold();
        for _ in 0..30 {
            push(&app, hello()).await;
        }
        let other = json!({"audience": "all", "device_types": ["android"], "notification": {"alert": "Hello"}});
        let other = push(&app, other).await;
        let (stop, stops) = tokio::sync::watch::channel(false);
        let worker = tokio::spawn(app.engine().worker().run(stops));
        let path = format!("/api/sandbox?push_id={other}&wait=30");
        let delivered = app.master().get(&path).await.expect(200)["deliveries"].clone();
        assert_eq!(delivered.as_array().unwrap().len(), 1);
        assert!(receiver.received().len() <= 2, "a lane has two places");
        receiver.release();
        stop.send_replace(true);
        worker.await.unwrap();
    })
    .await;
}
