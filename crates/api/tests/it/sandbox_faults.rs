//! The sandbox as an inspector: searching and clearing it, and having it answer otherwise than a provider that takes everything.

use std::time::Duration;

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;

async fn push(app: &TestApp, alert: &str) -> String {
    let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}});
    let answer = app.master().post("/api/push", body).await.expect(200);
    app.step_all().await;
    answer["push_ids"][0].as_str().unwrap().to_owned()
}

async fn count(app: &TestApp, query: &str) -> usize {
    let found = app.master().get(&format!("/api/sandbox?{query}")).await.expect(200);
    found["deliveries"].as_array().unwrap().len()
}

async fn total(app: &TestApp, push: &str) -> Value {
    app.master().get(&format!("/api/push/{push}")).await.expect(200)["push"]["total"].clone()
}

async fn set(app: &TestApp, faults: Value) {
    app.master().put("/api/sandbox/faults", json!({ "faults": faults })).await.expect(200);
}

async fn left(app: &TestApp) -> Value {
    app.master().get("/api/sandbox/faults").await.expect(200)["faults"].clone()
}

#[tokio::test]
async fn deliveries_are_found_by_text_platform_and_time_and_can_be_cleared() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("tv", "open::tv")]).await;
        push(&app, "A STORM is coming").await;
        app.advance(Duration::from_secs(3600));
        let last = push(&app, "Nothing more").await;
        assert_eq!(count(&app, "").await, 6);
        assert_eq!((count(&app, "q=storm%20is").await, count(&app, "q=hurricane").await), (3, 0));
        assert_eq!((count(&app, "device_type=ios").await, count(&app, "device_type=open::tv&q=storm").await), (2, 1));
        assert_eq!((count(&app, "transport=fcm").await, count(&app, "transport=wns").await), (2, 0));
        assert_eq!(count(&app, "since=2024-05-01T12:30").await, 3);
        assert_eq!(count(&app, &format!("push_id={last}&transport=apns&limit=1")).await, 1);
        let newest = app.master().get("/api/sandbox?limit=1&device_type=ios").await.expect(200);
        assert_eq!(newest["deliveries"][0]["push_id"], json!(last));
        for wrong in ["device_type=toaster", "transport=pigeon", "since=soon", "q=%00"] {
            app.master().get(&format!("/api/sandbox?{wrong}")).await.expect(400);
        }

        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        assert_eq!(stranger.delete("/api/sandbox").await.status.as_u16(), 204);
        assert_eq!(stranger.get("/api/sandbox?q=storm").await.expect(200)["deliveries"], json!([]));
        assert_eq!(count(&app, "").await, 6, "another app clears its own");
        app.device().delete("/api/sandbox").await.expect(401);
        assert_eq!(app.master().delete("/api/sandbox").await.status.as_u16(), 204);
        assert_eq!(count(&app, "").await, 0);
        push(&app, "After it").await;
        assert_eq!(count(&app, "q=after").await, 3);
    })
    .await;
}

#[tokio::test]
async fn the_next_messages_are_answered_as_asked_for() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "web")]).await;
        set(&app, json!([{"answer": "gone", "device_type": "ios"}, {"answer": "refused", "device_type": "android"}]))
            .await;
        let first = push(&app, "one").await;
        let sums = total(&app, &first).await;
        assert_eq!((&sums["gone"], &sums["failed"], &sums["delivered"]), (&json!(1), &json!(1), &json!(1)));
        let platforms = &app.master().get(&format!("/api/push/{first}")).await.expect(200)["push"]["platforms"];
        assert_eq!(platforms["android"]["reason"], "The sandbox was told to refuse this message.");
        assert_eq!(count(&app, "").await, 1, "what was not taken is not kept");
        assert_eq!(crowd.look_up(&app, "a").await["installed"], json!(false));
        assert_eq!(left(&app).await, json!([]));

        set(&app, json!([{"answer": "busy", "count": 3}])).await;
        let second = push(&app, "two").await;
        assert_eq!(total(&app, &second).await["pending"], 2);
        assert_eq!(left(&app).await, json!([{"answer": "busy", "count": 1}]));
        set(&app, json!([])).await;
        app.advance(Duration::from_secs(3600));
        app.step_all().await;
        assert_eq!(total(&app, &second).await["delivered"], 2, "they were tried again");
    })
    .await;
}

#[tokio::test]
async fn faults_belong_to_a_development_app() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("a", "ios")]).await;
        let body = json!({"faults": [{"answer": "gone"}]});
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        stranger.put("/api/sandbox/faults", &body).await.expect(200);
        let sent = push(&app, "one").await;
        assert_eq!(total(&app, &sent).await["delivered"], 1);
        assert_eq!(stranger.get("/api/sandbox/faults").await.expect(200)["faults"][0]["count"], 1);
        let production = app.another_app(Mode::Production).await;
        let production = app.nobody().basic(&production.key, &production.master_secret);
        production.put("/api/sandbox/faults", &body).await.expect(409);
        app.device().put("/api/sandbox/faults", &body).await.expect(401);
        for (wrong, path) in [
            (json!({}), "faults"),
            (json!({"faults": [{"answer": "slow"}]}), "faults[0].answer"),
            (json!({"faults": [{"answer": "busy", "count": 0}]}), "faults[0].count"),
        ] {
            let refused = app.master().put("/api/sandbox/faults", &wrong).await.expect(400);
            assert_eq!(refused["details"]["path"], path);
        }
    })
    .await;
}
