//! Pushes that are too large for a platform are refused when they come in, with the part that is to blame.

use serde_json::{Value, json};
use testkit::app::on_each_database;

const PATHS: [&str; 2] = ["/api/push", "/api/push/validate"];

fn push(device_types: Value, notification: Value) -> Value {
    let mut push = json!({"audience": "all"});
    (push["device_types"], push["notification"]) = (device_types, notification);
    push
}

fn text(n_bytes: usize) -> String {
    "x".repeat(n_bytes)
}

#[tokio::test]
async fn each_platform_has_its_own_limit() {
    // The length of an alert that fits and of one that does not: the limits less what every message has besides.
    let table = [
        ("ios", 3850, 4097),
        ("android", 3600, 4097),
        ("amazon", 5600, 6145),
        ("web", 3700, 3994),
        ("wns", 4900, 5001),
    ];
    on_each_database(async |app| {
        for (device_type, fits, too_large) in table {
            for path in PATHS {
                let good = push(json!([device_type]), json!({"alert": text(fits)}));
                app.master().post(path, good).await.expect(200);
                let bad = push(json!([device_type]), json!({"alert": text(too_large)}));
                let refused = app.master().post(path, bad).await.expect(400);
                assert_eq!(refused["details"]["path"], "notification.alert", "{device_type}");
                let why = refused["error"].as_str().unwrap();
                assert!(why.contains(&format!("too large for {device_type}")), "{why}");
            }
        }
        let open = json!({"channel": {"type": "open", "address": "a", "opt_in": true, "open": {"open_platform_name": "chat"}}});
        app.master().post("/api/channels/open", open).await.expect(200);
        app.master().post("/api/push", push(json!(["open::chat"]), json!({"alert": text(9000)}))).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn all_problems_come_at_once_with_their_places() {
    on_each_database(async |app| {
        let extra = push(json!(["ios", "android"]), json!({"alert": "Hi", "ios": {"extra": {"k": text(5000)}}}));
        let everywhere = push(json!("all"), json!({"alert": text(9000)}));
        let bodies = json!([push(json!(["ios"]), json!({"alert": "Hi"})), extra, everywhere]);
        for path in PATHS {
            let reply = app.master().post(path, &bodies).await;
            let refused = reply.expect(400);
            assert_eq!(reply.header("aerogram-problems"), Some("6"), "{refused}");
            assert_eq!(refused["details"]["path"], "[1].notification.ios.extra");
        }
        assert_eq!(testkit::rows::row_counts(app.engine().store()).await["push"], 0);
    })
    .await;
}

#[tokio::test]
async fn localizations_are_measured_too() {
    on_each_database(async |app| {
        let mut localized = push(json!(["web"]), json!({"alert": "Hi"}));
        localized["localizations"] = json!([{"language": "de", "notification": {"web": {"title": text(5000)}}}]);
        let refused = app.master().post("/api/push", localized).await.expect(400);
        assert_eq!(refused["details"]["path"], "localizations[0].notification.web.title");
    })
    .await;
}
