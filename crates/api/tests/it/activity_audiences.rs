//! Audiences by when the app was opened.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn register(app: &TestApp, name: &str) -> String {
    let body = json!({"channel": {
        "device_type": "ios", "opt_in": true, "push_address": name, "tags": [name], "set_tags": true,
    }});
    let made = app.device().post("/api/channels", body).await.expect(201);
    made["channel_id"].as_str().unwrap().to_owned()
}

async fn open(app: &TestApp, channel: &str) {
    let event = json!([{"type": "app_foreground", "time": app.clock().now().seconds().to_string(), "data": {}}]);
    let request = app.nobody().request(Method::POST, "/warp9/");
    let request = request.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", channel);
    app.nobody().send(request.body(Bytes::from(event.to_string())).unwrap()).await.expect(200);
}

/// Who is in an audience, by their tags.
async fn reached(app: &TestApp, selector: &Value) -> String {
    let mut names = String::new();
    for name in ["a", "b", "c", "d"] {
        let body = json!({"audience": {"and": [selector, {"tag": name}]}, "device_types": "all"});
        let explained = app.master().post("/api/audience/explain", body).await.expect(200);
        if explained["reachable"] == 1 {
            names += name;
        }
    }
    names
}

fn asked(metric: &str, more: &Value) -> Value {
    let mut selector = json!({"activity": "app_open", "metric": metric});
    selector.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    selector
}

#[tokio::test]
async fn who_opened_the_app_when() {
    on_each_database(async |app| {
        // 21 days ago a and b came, and a came back 14 days ago; c came 7 days ago; b came back today, when d came.
        let (a, b) = (register(&app, "a").await, register(&app, "b").await);
        app.advance(7 * DAY);
        open(&app, &a).await;
        app.advance(7 * DAY);
        register(&app, "c").await;
        app.advance(7 * DAY);
        open(&app, &b).await;
        register(&app, "d").await;
        let days = |after: u32| json!({"after": after, "precision": "days"});
        let between = |after: u32, before: u32| json!({"after": after, "before": before, "precision": "days"});
        let count = |operator: &str, value: u32, mut window: Value| {
            window["operator"] = json!(operator);
            window["value"] = json!(value);
            asked("count", &window)
        };
        let table = [
            (count("greater", 0, days(3)), "bd"),
            (count("greater_eq", 1, days(7)), "bcd"),
            (count("greater", 0, days(14)), "abcd"),
            (count("greater", 0, between(20, 10)), "a"),
            (count("equals", 0, days(7)), "a"),
            (count("less", 1, days(13)), "a"),
            (count("greater", 0, json!({})), "abcd"),
            (count("equals", 0, json!({"before": 10, "precision": "days"})), "cd"),
            (asked("last", &days(3)), "bd"),
            (asked("last", &json!({"before": 3, "precision": "days"})), "ac"),
            (asked("last", &between(15, 3)), "ac"),
            (asked("last", &between(10, 3)), "c"),
            (asked("last", &json!({"on": 1, "on_precision": "weeks"})), "c"),
            (asked("first", &days(7)), "cd"),
            (asked("first", &between(30, 8)), "ab"),
            (asked("first", &json!({"on": "2024-05-15T00:00:00Z", "on_precision": "days"})), "c"),
            (json!({"not": asked("last", &days(3))}), "ac"),
        ];
        for (selector, wanted) in &table {
            assert_eq!(reached(&app, selector).await, *wanted, "{selector}");
        }
        let app = app.restart_without_snapshots().await;
        for (selector, wanted) in &table {
            assert_eq!(reached(&app, selector).await, *wanted, "{selector} after a restart");
        }
        let push =
            |audience: &Value| json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hi"}});
        app.master().post("/api/push", push(&asked("last", &days(3)))).await.expect(200);
        app.step_all().await;
        let deliveries = app.master().get("/api/sandbox").await.expect(200);
        assert_eq!(deliveries["deliveries"].as_array().unwrap().len(), 2);
        for selector in [
            count("greater", 2, days(7)),
            count("greater", 0, days(96)),
            asked("last", &json!({"after": "2024-05-10T00:00:00Z"})),
            json!({"activity": "bought", "metric": "first"}),
        ] {
            let refused = app.master().post("/api/push", push(&selector)).await.expect(400);
            assert_eq!(refused["details"]["path"], "audience.activity", "{selector}");
        }
    })
    .await;
}
