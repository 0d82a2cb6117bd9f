//! Sending: what a server gets back, and what a push's status tells afterwards.

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::receiver::OpenReceiver;

fn push(alert: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}})
}

async fn register(app: &TestApp, device_type: &str, address: &str) {
    let body = json!({"channel": {"device_type": device_type, "opt_in": true, "push_address": address}});
    app.device().post("/api/channels", body).await.expect(201);
}

#[tokio::test]
async fn accepted_pushes_have_ids_and_a_status() {
    on_each_database(async |app| {
        register(&app, "android", "token").await;
        let reply = app.master().post("/api/push/", push("Hi")).await;
        let accepted = reply.expect(200);
        assert_eq!(reply.header("data-attribute"), Some("push_ids"));
        assert_eq!(accepted["ok"], true);
        assert_eq!(accepted["operation_id"].as_str().unwrap().len(), 36);
        for key in ["message_ids", "content_urls", "localized_ids"] {
            assert_eq!(accepted[key], json!([]), "{key}");
        }
        let path = format!("/api/push/{}", accepted["push_ids"][0].as_str().unwrap());
        let waiting = app.master().get(&path).await.expect(200);
        assert_eq!((&waiting["push"]["state"], &waiting["push"]["platforms"]), (&json!("accepted"), &json!({})));
        app.step_all().await;
        let done = app.master().get(&path).await.expect(200);
        assert_eq!((&done["push"]["state"], &done["push"]["push_type"]), (&json!("done"), &json!("BROADCAST_PUSH")));
        assert_eq!(done["push"]["created"], "2024-05-01T12:00:00");
        let counts =
            json!({"targeted": 1, "delivered": 1, "gone": 0, "failed": 0, "expired": 0, "canceled": 0, "pending": 0});
        assert_eq!(done["push"]["platforms"]["android"], counts);
    })
    .await;
}

#[tokio::test]
async fn arrays_are_accepted_as_a_whole_or_not_at_all() {
    on_each_database(async |app| {
        let two = app.master().post("/api/push", json!([push("a"), push("b")])).await.expect(200);
        assert_eq!(two["push_ids"].as_array().unwrap().len(), 2);
        let bad = app.master().post("/api/push", json!([push("a"), {"audience": "all"}])).await.expect(400);
        assert!(bad["details"]["path"].as_str().unwrap().starts_with("[1]."), "{bad}");
        assert_eq!(testkit::rows::row_counts(app.engine().store()).await["push"], 2);
        app.master().post("/api/push", json!([])).await.expect(400);
        app.master().post("/api/push", json!(vec![push("a"); 101])).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn validation_says_the_same_and_stores_nothing() {
    on_each_database(async |app| {
        let before = testkit::rows::row_counts(app.engine().store()).await;
        let reply = app.master().post("/api/push/validate", push("Hi")).await.expect(200);
        assert_eq!(reply["ok"], true);
        let mut unknown = push("Hi");
        unknown["device_types"] = json!(["open::nobody"]);
        for path in ["/api/push/validate", "/api/push"] {
            let refused = app.master().post(path, &unknown).await.expect(400);
            assert_eq!(refused["details"]["path"], "device_types[0]", "{path}");
        }
        assert_eq!(testkit::rows::row_counts(app.engine().store()).await, before);
    })
    .await;
}

#[tokio::test]
async fn pushes_outlive_a_restart() {
    on_each_database(async |app| {
        register(&app, "android", "token").await;
        let accepted = app.master().post("/api/push", push("Hi")).await.expect(200);
        let app = app.restart().await;
        app.step_all().await;
        let path = format!("/api/push/{}", accepted["push_ids"][0].as_str().unwrap());
        assert_eq!(app.master().get(&path).await.expect(200)["push"]["platforms"]["android"]["delivered"], 1);
    })
    .await;
}

#[tokio::test]
async fn production_apps_without_credentials_fail_with_a_reason() {
    on_each_database(async |app| {
        let production = app.another_app(Mode::Production).await;
        let master = app.nobody().basic(&production.key, &production.master_secret);
        let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ABCD".repeat(16)}});
        master.post("/api/channels", device).await.expect(201);
        let accepted = master.post("/api/push", push("Hi")).await.expect(200);
        app.step_all().await;
        let path = format!("/api/push/{}", accepted["push_ids"][0].as_str().unwrap());
        let status = master.get(&path).await.expect(200);
        assert_eq!(status["push"]["platforms"]["ios"]["failed"], 1);
        assert!(status["push"]["platforms"]["ios"]["reason"].is_string(), "{status}");
        assert_eq!(master.get("/api/sandbox").await.expect(200)["deliveries"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn open_platforms_get_their_messages() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        let path = format!("/operator/apps/{}/platforms/open::fridge", app.app.key);
        let setting = json!({"url": receiver.url(), "validate": false});
        let set = app.operator().put(&path, setting).await.expect(200);
        receiver.confirm(set["validation_code"].as_str().unwrap().parse().unwrap());
        app.operator().post(&format!("{path}/test"), "").await.expect(200);

        let open = json!({"channel": {"type": "open", "opt_in": true, "address": "kitchen",
                          "open": {"open_platform_name": "fridge", "identifiers": {"model": "F1"}}}});
        let channel = app.master().post("/api/channels/open", open).await.expect(200);
        receiver.answer_with([503]);
        let accepted = app.master().post("/api/push", push("Milk is out")).await.expect(200);
        app.step_all().await;
        assert_eq!(receiver.received().len(), 1);
        app.advance(std::time::Duration::from_secs(600));
        app.step_all().await;

        let received = receiver.wait_for(2).await;
        assert_eq!(received[0].body, received[1].body, "a retry has the same ids");
        let value = &received[1].values()[0];
        assert_eq!(value["target"]["channel_id"], channel["channel_id"]);
        assert_eq!((&value["push_id"], &value["app_key"]), (&accepted["push_ids"][0], &json!(app.app.key)));
        assert_eq!(value["payload"]["alert"], "Milk is out");
        let path = format!("/api/push/{}", accepted["push_ids"][0].as_str().unwrap());
        assert_eq!(app.master().get(&path).await.expect(200)["push"]["platforms"]["open::fridge"]["delivered"], 1);
    })
    .await;
}
