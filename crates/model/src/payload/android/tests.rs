//! The Android override: what is accepted, how it prints, and where mistakes are reported.

use serde_json::{Value, json};

use super::*;
use crate::json::parse;

fn read(body: &Value) -> Result<AndroidOverride, String> {
    parse(body.to_string().as_bytes(), AndroidOverride::parse).map_err(|problems| problems.first().path.clone())
}

#[test]
fn good_overrides_print_as_they_came() {
    for body in [
        json!({}),
        json!({"alert": "a", "title": "t", "summary": "s", "sound": "x", "icon": "i", "icon_color": "#AAbb00",
            "collapse_key": "k", "notification_channel": "c", "notification_tag": "n"}),
        json!({"time_to_live": 0, "delay_while_idle": true, "local_only": false}),
        json!({"time_to_live": "2030-01-01T00:00:00Z"}),
        json!({"extra": {"a": "1", "fromage": "x"}}),
        json!({"extra": {}}),
        json!({"priority": -2, "visibility": -1, "category": "msg"}),
        json!({"priority": 2, "visibility": 1, "category": "recommendation"}),
        json!({"public_notification": {"title": "t", "alert": "a", "summary": "s"}}),
        json!({"delivery_priority": "high", "deliver_to": "opted_in"}),
        json!({"delivery_priority": "normal", "deliver_to": "all"}),
        json!({"style": {"type": "big_text", "big_text": "x"}}),
        json!({"wearable": {"background_image": "https://example.com/a.png",
            "extra_pages": [{"title": "t", "alert": "a"}, {}], "interactive": {"type": "ua_follow"}}}),
        json!({"live_update": {"name": "n", "event": "start", "content_state": {"a": 1}, "type": "t",
            "dismissal_date": 1_700_000_000, "timestamp": 1_700_000_000}}),
        json!({"interactive": {"type": "ua_share"}, "actions": {"share": "x"}}),
        json!({"template": {"fields": {"alert": "a", "icon_color": "{{color}}"}}, "sound": "x"}),
    ] {
        let android = read(&body).unwrap_or_else(|path| panic!("{body}: {path}"));
        assert_eq!(json!(android), body);
    }
    let categories = [
        "alarm",
        "call",
        "email",
        "err",
        "event",
        "msg",
        "promo",
        "recommendation",
        "service",
        "social",
        "status",
        "sys",
        "transport",
    ];
    for category in categories {
        let body = json!({"category": category});
        assert_eq!(json!(read(&body).unwrap()), body);
    }
}

#[test]
fn mistakes_are_reported_where_they_are() {
    for (body, path) in [
        (json!("hello"), ""),
        (json!({"badge": 1}), "badge"),
        (json!({"alert": {"body": "x"}}), "alert"),
        (json!({"alert": null}), "alert"),
        (json!({"icon_color": "red"}), "icon_color"),
        (json!({"time_to_live": -1}), "time_to_live"),
        (json!({"time_to_live": "1h"}), "time_to_live"),
        (json!({"delay_while_idle": 1}), "delay_while_idle"),
        (json!({"extra": {"a": 1}}), "extra.a"),
        (json!({"extra": {"from": "x"}}), "extra.from"),
        (json!({"extra": {"message_type": "x"}}), "extra.message_type"),
        (json!({"extra": {"data": "x"}}), "extra.data"),
        (json!({"extra": {"google.x": "x"}}), "extra.google.x"),
        (json!({"extra": {"gcm_x": "x"}}), "extra.gcm_x"),
        (json!({"priority": 3}), "priority"),
        (json!({"priority": "high"}), "priority"),
        (json!({"category": "message"}), "category"),
        (json!({"visibility": 2}), "visibility"),
        (json!({"public_notification": {"text": "x"}}), "public_notification.text"),
        (json!({"local_only": "true"}), "local_only"),
        (json!({"delivery_priority": "medium"}), "delivery_priority"),
        (json!({"deliver_to": "opted-in"}), "deliver_to"),
        (json!({"style": {"type": "huge"}}), "style.type"),
        (json!({"wearable": {"extra_pages": {}}}), "wearable.extra_pages"),
        (json!({"wearable": {"extra_pages": [{"body": "x"}]}}), "wearable.extra_pages[0].body"),
        (json!({"wearable": {"background_image": ""}}), "wearable.background_image"),
        (json!({"wearable": {"interactive": {}}}), "wearable.interactive.type"),
        (json!({"live_update": {"name": "x"}}), "live_update.event"),
        (json!({"live_update": {"name": "", "event": "end"}}), "live_update.name"),
        (json!({"live_update": {"name": "x", "event": "end", "timestamp": 1.5}}), "live_update.timestamp"),
        (
            json!({"interactive": {"type": "ua_share", "button_actions": {"save": {"share": "x"}}}}),
            "interactive.button_actions.save",
        ),
        (json!({"actions": {"open": {}}}), "actions.open.type"),
        (json!({"template": {"external_id": "x"}, "icon": "x"}), "icon"),
    ] {
        assert_eq!(read(&body).unwrap_err(), path, "{body}");
    }
}
