//! Events as libraries of several generations send them, and what becomes of each.

use serde_json::{Value, json};
use testkit::app::on_each_database;

use super::{event, push_to, register, told, upload};

const SESSION: &str = "5c4b8c3e-1f0a-4d35-9a0c-6d1f5f1a2b3c";

/// What a device sends, and what customers see of it.
fn shapes() -> Vec<(Value, &'static str, Value)> {
    let session = json!({"session_id": SESSION});
    vec![
        (
            event(
                "app_init",
                json!({
                    "session_id": SESSION, "foreground": "true", "os_version": "11.2", "lib_version": "10.2.2", "time_zone": -25200,
                    "daylight_savings": "true", "notification_types": ["alert"], "connection_type": "wifi", "carrier": "Telco",
                }),
            ),
            "OPEN",
            session.clone(),
        ),
        (event("app_init", json!({"session_id": SESSION, "foreground": "false"})), "", Value::Null),
        (
            event("app_foreground", json!({"session_id": SESSION, "push_id": "", "time_zone": 3600})),
            "OPEN",
            session.clone(),
        ),
        (event("app_background", json!({"session_id": SESSION})), "CLOSE", session.clone()),
        (event("app_exit", json!({"session_id": SESSION, "connection_type": "cell"})), "CLOSE", session),
        (
            event(
                "custom_event",
                json!({
                    "session_id": SESSION, "event_name": "bought", "event_value": "12500000", "transaction_id": "t-1",
                    "interaction_id": "i", "interaction_type": "ua_mcrap",
                    "properties": {"color": "\"red\"", "price": "12.5", "new": "true", "sizes": ["s", "m"]},
                }),
            ),
            "CUSTOM",
            json!({
                "name": "bought", "source": "SDK", "session_id": SESSION, "value": 12.5, "transaction": "t-1",
                "interaction_id": "i", "interaction_type": "ua_mcrap",
                "properties": {"color": "red", "price": 12.5, "new": true, "sizes": ["s", "m"]},
            }),
        ),
        (
            event(
                "enhanced_custom_event",
                json!({
                    "session_id": SESSION, "event_name": "Bought", "event_value": 1, "properties": {"text": "\"red\"", "deep": {"a": [1]}},
                }),
            ),
            "CUSTOM",
            json!({
                "name": "Bought", "source": "SDK", "session_id": SESSION, "value": 0.000_001,
                "properties": {"text": "\"red\"", "deep": {"a": [1]}},
            }),
        ),
        (
            event(
                "screen_tracking",
                json!({
                    "session_id": SESSION, "screen": "cart", "previous_screen": "home", "entered_time": "1.0", "exited_time": "3.25",
                    "duration": "2.25",
                }),
            ),
            "SCREEN_VIEWED",
            json!({"viewed_screen": "cart", "previous_screen": "home", "duration": 2250, "session_id": SESSION}),
        ),
        (
            event(
                "region_event",
                json!({
                    "session_id": SESSION, "region_id": "r-1", "source": "gimbal", "action": "enter",
                    "proximity": {"proximity_id": "p", "major": "1", "minor": "2", "rssi": "-59"},
                }),
            ),
            "REGION",
            json!({
                "action": "enter", "region_id": "r-1", "source_info": {"source": "gimbal", "region_id": "r-1"},
                "session_id": SESSION,
            }),
        ),
        (
            event(
                "location",
                json!({
                    "session_id": SESSION, "lat": "45.5230000", "long": "-122.676000", "requested_accuracy": "100",
                    "update_type": "SINGLE", "provider": "GPS", "h_accuracy": "5", "foreground": "true",
                }),
            ),
            "LOCATION",
            json!({"foreground": true, "session_id": SESSION}),
        ),
        (
            event(
                "in_app_display",
                json!({
                    "session_id": SESSION, "id": {"message_id": "welcome", "campaigns": {"categories": ["onboarding"]}},
                    "source": "app-defined", "context": {"reporting_context": {"a": 1}},
                }),
            ),
            "IN_APP_MESSAGE_DISPLAY",
            json!({
                "app_defined_id": "welcome", "session_id": SESSION, "campaigns": {"categories": ["onboarding"]},
                "context": {"reporting_context": {"a": 1}},
            }),
        ),
        (
            event(
                "in_app_resolution",
                json!({
                    "session_id": SESSION, "id": "welcome",
                    "resolution": {"type": "button_click", "display_time": "1.50", "button_id": "yes", "button_description": "Yes"},
                }),
            ),
            "IN_APP_MESSAGE_RESOLUTION",
            json!({
                "app_defined_id": "welcome", "session_id": SESSION, "type": "BUTTON_CLICK", "duration": 1500, "button_id": "yes",
                "button_description": "Yes",
            }),
        ),
        (
            event(
                "in_app_resolution",
                json!({
                    "session_id": SESSION, "id": "welcome", "resolution": {"type": "expired", "expiry": "2024-05-01T11:00:00"},
                }),
            ),
            "IN_APP_MESSAGE_EXPIRATION",
            json!({
                "app_defined_id": "welcome", "session_id": SESSION, "type": "EXPIRED", "time_expired": "2024-05-01T11:00:00.000Z",
            }),
        ),
        (event("push_received", json!({"push_id": "MISSING_SEND_ID"})), "", Value::Null),
        (event("push_arrived", json!({"push_id": SESSION, "metadata": "x"})), "", Value::Null),
        (event("device_registration", json!({"channel_id": "x", "device_token": "y"})), "", Value::Null),
        (event("install_attribution", json!({"google_play_referrer": "x"})), "", Value::Null),
    ]
}

#[tokio::test]
async fn every_shape_becomes_the_event_that_customers_know() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let shapes = shapes();
        upload(&app, &channel, shapes.iter().map(|(sent, _, _)| sent.clone()).collect()).await;
        let told = told(&app).await;
        let shown: Vec<_> = shapes.into_iter().filter(|(_, kind, _)| !kind.is_empty()).collect();
        assert_eq!(told.len(), shown.len(), "{told:?}");
        for (told, (sent, kind, body)) in told.iter().zip(shown) {
            assert_eq!((&told["type"], &told["body"]), (&json!(kind), &body), "{sent}");
            assert_eq!((&told["id"], &told["occurred"]), (&sent["event_id"], &json!("2024-05-01T12:00:00.000Z")));
            assert_eq!(told["device"]["ios_channel"], json!(channel));
        }
    })
    .await;
}

#[tokio::test]
async fn in_app_messages_of_pushes_name_the_push() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let first = push_to(&app, &[&channel], json!({"alert": "one"})).await;
        let second = push_to(&app, &[&channel], json!({"alert": "two"})).await;
        let resolution = |resolution: Value| json!({"session_id": "s", "id": first, "resolution": resolution});
        upload(
            &app,
            &channel,
            json!([
                event("in_app_display", json!({"session_id": "s", "id": first, "source": "urban-airship"})),
                event("in_app_resolution", resolution(json!({"type": "timed_out", "display_time": "30"}))),
                event("in_app_resolution", resolution(json!({"type": "replaced", "replacement_id": second}))),
            ]),
        )
        .await;
        let told = told(&app).await;
        let sent = "2024-05-01T12:00:00.000Z";
        let bodies: Vec<&Value> = told.iter().map(|event| &event["body"]).collect();
        assert_eq!(*bodies[0], json!({"push_id": first, "session_id": "s"}));
        let resolved =
            json!({"push_id": first, "session_id": "s", "type": "TIMED_OUT", "duration": 30_000, "time_sent": sent});
        assert_eq!(*bodies[1], resolved);
        let replaced = json!({"push_id": first, "session_id": "s", "type": "REPLACED", "time_sent": sent,
                              "replacing_push": {"push_id": second, "time": sent}});
        assert_eq!(*bodies[2], replaced);
    })
    .await;
}
