//! Every type of event, caused in the way it is caused in real life, has the form that customers were told of.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{START, TestApp, on_each_database};

use crate::event_schema;
use crate::inbox::{self, Phone};
use crate::web_channels;

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
                    "q2": {"type": "toggle", "value": true}, "q3": {"type": "hologram", "value": 1},
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
    data["rendered_locale"] = json!({"language": "nb", "country": "NO"});
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

/// What happens to other channels than apps' own, whose user is known.
async fn live_elsewhere(app: &TestApp) {
    let kiosk = json!({"type": "open", "opt_in": true, "address": "K1", "open": {"open_platform_name": "kiosk"}});
    app.master().post("/api/channels/open", json!({ "channel": kiosk })).await.expect(200);
    let (channel, secret) = web_channels::register(app).await;
    let browser = app.nobody().basic(&channel, &secret);
    let opted_in = json!({"channel": {"device_type": "web", "opt_in": true, "live": true}});
    browser.put(&format!("/api/web-channels/{channel}"), opted_in).await.expect(200);
    let user = json!({"channel_id": channel, "device_type": "web", "named_user_id": "kim"});
    app.master().post("/api/named_users/associate", user).await.expect(200);
    let about = json!({"named_user_id": "kim"});
    let attributes = json!({"audience": about, "attributes": [{"action": "set", "key": "city", "value": "Oslo"}]});
    app.master().post("/api/channels/attributes", attributes).await.expect(200);
    let lists = json!({"audience": about, "subscription_lists": [{"action": "subscribe", "list_id": "weekly"}]});
    app.master().post("/api/channels/subscription_lists", lists).await.expect(202);
    let push = json!({"audience": {"channel": channel}, "device_types": ["web"], "notification": {"alert": "Hi"}});
    let sent = app.master().post("/api/push", &push).await.expect(200);
    app.step_all().await;
    let event = |n: u32, kind: &str, data: Value| {
        let id = format!("00000000-0000-4000-9000-{n:012}");
        json!({"type": kind, "event_id": id, "time": app.clock().now().seconds().to_string(), "data": data})
    };
    let click = event(1, "push_click", json!({"push_id": sent["push_ids"][0]}));
    let session = event(2, "app_foreground", json!({"session_id": "s"}));
    browser.post("/api/web-events", json!([click, session])).await.expect(200);
    let kiosk = json!({"audience": "all", "device_types": ["open::kiosk"], "notification": {"alert": "Hi"}});
    let faults = json!({"faults": [{"answer": "refused"}]});
    app.master().put("/api/sandbox/faults", faults).await.expect(200);
    app.master().post("/api/push", kiosk).await.expect(200);
    app.step_all().await;
}

#[tokio::test]
async fn every_type_of_event_has_its_form() {
    on_each_database(async |app| {
        live(&app).await;
        live_elsewhere(&app).await;
        let reply = app.master().get("/api/events?follow=false").await;
        let mut seen = BTreeSet::new();
        for line in reply.text().lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            event_schema::check(&event).unwrap_or_else(|wrong| panic!("{wrong}: {event}"));
            match event.get("device").map(|device| (&device["channel"], device.get("named_user_id"))) {
                Some((_, Some(user))) => assert_eq!(event["user"]["named_user_id"], *user, "{event}"),
                Some((channel, None)) => assert_eq!(event["user"], json!({"contact_id": channel}), "{event}"),
                None => assert_eq!(event.get("user"), None, "{event}"),
            }
            if event["type"].as_str().unwrap().starts_with("RICH_") {
                assert_eq!(event["body"]["context"], json!({"extra": {"k": "v"}}), "{event}");
            }
            seen.insert(event["type"].as_str().unwrap().to_owned());
        }
        assert_eq!(seen, event_schema::types());
    })
    .await;
}
