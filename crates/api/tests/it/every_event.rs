//! Every type of event, caused in the way it is caused in real life, has the form that customers were told of.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{START, TestApp, on_each_database};

use crate::event_schema;
use crate::inbox::{self, Phone};

/// One event of each type that devices upload.
fn uploads() -> Value {
    let kinds = [
        ("app_foreground", json!({"session_id": "s"})),
        ("app_background", json!({"session_id": "s"})),
        ("enhanced_custom_event", json!({"session_id": "s", "event_name": "bought", "event_value": 1_500_000})),
        ("screen_tracking", json!({"session_id": "s", "screen": "home", "duration": "1.5"})),
        ("region_event", json!({"session_id": "s", "region_id": "r", "source": "gimbal", "action": "enter"})),
        ("location", json!({"session_id": "s", "lat": "45.523", "long": "-122.676", "foreground": "true"})),
        ("in_app_display", json!({"session_id": "s", "id": "welcome", "source": "app-defined"})),
        (
            "in_app_resolution",
            json!({"session_id": "s", "id": "welcome", "resolution": {"type": "user_dismissed", "display_time": "2"}}),
        ),
        (
            "in_app_resolution",
            json!({"session_id": "s", "id": "welcome", "resolution": {"type": "expired", "expiry": "2024-05-01T11:00:00"}}),
        ),
        ("in_app_button_tap", about(json!({"button_identifier": "ok"}))),
        (
            "in_app_page_view",
            about(json!({
                "pager_identifier": "p", "page_identifier": "p1", "page_index": 0, "page_count": 2, "viewed_count": 1, "completed": false,
            })),
        ),
        (
            "in_app_page_swipe",
            about(json!({
                "pager_identifier": "p", "from_page_index": 0, "from_page_identifier": "p1", "to_page_index": 1,
                "to_page_identifier": "p2",
            })),
        ),
        (
            "in_app_pager_completed",
            about(json!({
                "pager_identifier": "p", "page_identifier": "p2", "page_index": 1, "page_count": 2,
            })),
        ),
        (
            "in_app_pager_summary",
            about(json!({
                "pager_identifier": "p", "page_count": 2, "completed": true, "viewed_pages": [
                    {"page_identifier": "p1", "page_index": 0, "display_time": "1.50"},
                ],
            })),
        ),
        (
            "in_app_form_display",
            about(json!({"form_identifier": "f", "form_type": "nps", "form_response_type": "nps"})),
        ),
        (
            "in_app_form_result",
            about(json!({"forms": {"f": {
                "type": "nps", "response_type": "nps", "score_id": "s1", "children": {
                    "s1": {"type": "score", "value": 9}, "q1": {"type": "text_input", "value": "Fine"},
                },
            }}})),
        ),
        ("in_app_resolution", about(json!({"resolution": {"type": "control"}}))),
        ("in_app_resolution", about(json!({"resolution": {"type": "audience_check_excluded"}}))),
        (
            "feature_flag_interaction",
            json!({
                "session_id": "s", "flag_name": "checkout", "eligible": true, "device": {},
                "reporting_metadata": {"flag_id": "0190b1c5-5c7e-7000-8000-000000000000", "variant_id": "blue"},
            }),
        ),
    ];
    let event = |(n, (kind, data)): (usize, (&str, Value))| {
        let id = format!("00000000-0000-4000-8000-{n:012}");
        json!({"type": kind, "event_id": id, "time": format!("{}.000", START.0 / 1000), "data": data})
    };
    kinds.into_iter().enumerate().map(event).collect()
}

/// The data of an event about a scene, with where in it that happened.
fn about(mut data: Value) -> Value {
    data["session_id"] = json!("s");
    data["id"] = json!({"message_id": "welcome"});
    data["context"] = json!({
        "reporting_context": {"content_types": ["scene"]},
        "pager": {"identifier": "p", "page_identifier": "p1", "page_index": 0, "completed": false, "count": 2, "page_history": []},
        "form": {"identifier": "f", "submitted": false, "type": "nps", "response_type": "nps"},
    });
    data
}

/// Does everything that can happen.
async fn live(app: &TestApp) {
    let phone = Phone::new(app, "ios", json!({"opt_in": true, "push_address": "A1"})).await;
    inbox::send(app, "Hello", json!({"notification": {"alert": "Hello"}, "campaigns": {"categories": ["spring"]}}))
        .await;
    let message = phone.messages(app).await[0]["message_id"].clone();
    let marked = json!({"messages": [{"message_id": message}]});
    phone.caller(app).post(&phone.path("messages/unread"), &marked).await.expect(200);
    phone.caller(app).post(&phone.path("messages/delete"), &marked).await.expect(200);
    let variant = |alert: &str| json!({"push": {"notification": {"alert": alert}}});
    let experiment = json!({
        "name": "Nobody", "audience": "all", "device_types": "all", "control": 0.999_999,
        "variants": [variant("One"), variant("Two")],
    });
    app.master().post("/api/experiments", experiment).await.expect(201);
    app.step_all().await;
    let upload = app.nobody().request(Method::POST, "/warp9/");
    let upload = upload.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", &phone.channel);
    app.nobody().send(upload.body(Bytes::from(uploads().to_string())).unwrap()).await.expect(200);
    let tags = json!({"audience": {"channel": phone.channel}, "add": {"crew": ["a"]}});
    app.master().post("/api/channels/tags", tags).await.expect(200);
    let uninstall = json!([{"channel_id": phone.channel, "device_type": "ios"}]);
    app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
    app.step_all().await;
}

#[tokio::test]
async fn every_type_of_event_has_its_form() {
    on_each_database(async |app| {
        live(&app).await;
        let reply = app.master().get("/api/events?follow=false").await;
        let mut seen = BTreeSet::new();
        for line in reply.text().lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            event_schema::check(&event).unwrap_or_else(|wrong| panic!("{wrong}: {event}"));
            let anonymous = event.get("device").map(|device| json!({"contact_id": device["channel"]}));
            assert_eq!(event.get("user"), anonymous.as_ref(), "{event}");
            if event["type"].as_str().unwrap().starts_with("RICH_") {
                assert_eq!(event["body"]["context"], json!({"extra": {"k": "v"}}), "{event}");
            }
            seen.insert(event["type"].as_str().unwrap().to_owned());
        }
        assert_eq!(seen, event_schema::types());
    })
    .await;
}
