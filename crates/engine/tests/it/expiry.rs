//! Expiries of platforms: they bind our own queue, and go before the expiry of the push.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::devices::{push, reached, register, status};

fn hello(device_types: &Value, more: &Value) -> Value {
    let mut notification = json!({"alert": "Hi"});
    notification.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"audience": "all", "device_types": device_types, "notification": notification})
}

/// Sends a push that waits for this many seconds before its deliveries may begin.
async fn push_late(app: &TestApp, body: Value, seconds: u64) -> String {
    let id = push(app, body).await;
    app.master().post(&format!("/api/push/{id}/pause"), "").await.expect(200);
    app.step_all().await;
    app.advance(Duration::from_secs(seconds));
    // The block that expires meanwhile may have ended the push.
    app.master().post(&format!("/api/push/{id}/resume"), "").await;
    app.step_all().await;
    id
}

/// How many devices of a platform got the push, and for how many it came too late.
async fn counts(app: &TestApp, id: &str, platform: &str) -> (Value, Value) {
    let counts = status(app, id).await["platforms"][platform].clone();
    (counts["delivered"].clone(), counts["expired"].clone())
}

#[tokio::test]
async fn a_platform_that_is_held_does_not_keep_what_expires_there() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let apns = format!("/operator/apps/{}/platforms/apns", app.app.key);
        app.operator().post(&format!("{apns}/pause"), json!({})).await.expect(200);
        let id = push(&app, hello(&json!(["ios"]), &json!({"ios": {"expiry": 3}}))).await;
        app.step_all().await;
        assert_eq!(status(&app, &id).await["state"], "sending");
        app.advance(Duration::from_secs(8));
        app.step_all().await;
        assert_eq!(counts(&app, &id, "ios").await, (json!(0), json!(1)));
        assert_eq!(status(&app, &id).await["state"], "done");
        app.operator().post(&format!("{apns}/resume"), "").await.expect(200);
        app.step_all().await;
        assert!(reached(&app, &id).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn the_expiry_of_a_platform_goes_before_that_of_the_push() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        register(&app, "android", "A2", json!({})).await;
        let mut longer = hello(&json!(["ios", "android"]), &json!({"ios": {"expiry": 3600}}));
        longer["options"] = json!({"expiry": 3});
        let id = push_late(&app, longer, 8).await;
        assert_eq!(counts(&app, &id, "ios").await, (json!(1), json!(0)));
        assert_eq!(counts(&app, &id, "android").await, (json!(0), json!(1)));

        let mut shorter = hello(&json!(["ios", "android"]), &json!({"android": {"time_to_live": 3}}));
        shorter["options"] = json!({"expiry": 3600});
        let id = push_late(&app, shorter, 8).await;
        assert_eq!(counts(&app, &id, "ios").await, (json!(1), json!(0)));
        assert_eq!(counts(&app, &id, "android").await, (json!(0), json!(1)));
    })
    .await;
}

#[tokio::test]
async fn what_has_expired_before_it_was_sent_is_not_sent() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        register(&app, "android", "A2", json!({})).await;
        let past = hello(&json!("all"), &json!({"ios": {"expiry": "2020-01-01T00:00:00"}}));
        let id = push(&app, past).await;
        app.step_all().await;
        assert_eq!(counts(&app, &id, "ios").await, (json!(0), json!(1)));
        assert_eq!(counts(&app, &id, "android").await, (json!(1), json!(0)));
    })
    .await;
}

#[tokio::test]
async fn every_localization_expires_by_itself() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({"locale_language": "de"})).await;
        let english = register(&app, "ios", "A2", json!({"locale_language": "en"})).await;
        let mut body = hello(&json!(["ios"]), &json!({"ios": {"expiry": 3600}}));
        body["localizations"] = json!([{"language": "de", "notification": {"alert": "Hallo", "ios": {"expiry": 3}}}]);
        let id = push_late(&app, body, 8).await;
        assert_eq!(counts(&app, &id, "ios").await, (json!(1), json!(1)));
        assert!(reached(&app, &id).await.contains(&english));
        assert_eq!(status(&app, &id).await["state"], "done");
    })
    .await;
}

#[tokio::test]
async fn amazon_keeps_nothing_for_longer_than_a_month() {
    on_each_database(async |app| {
        // It is noon on the first of May 2024.
        let until = |time: &str| hello(&json!(["amazon"]), &json!({"amazon": {"expires_after": time}}));
        for time in ["2024-05-01T12:00:30", "2024-06-02T00:00:00", "2020-01-01T00:00:00"] {
            for path in ["/api/push", "/api/push/validate"] {
                let refused = app.master().post(path, until(time)).await.expect(400);
                assert_eq!(refused["details"]["path"], "notification.amazon.expires_after", "{refused}");
            }
        }
        app.master().post("/api/push", until("2024-05-31T00:00:00")).await.expect(200);
        let later =
            json!({"schedule": {"scheduled_time": "2024-08-01T00:00:00"}, "push": until("2024-08-02T00:00:00")});
        app.master().post("/api/schedules", later).await.expect(201);
    })
    .await;
}
