//! Uploads of devices, old and new, and the events that are read from them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::*;
use crate::event::{ExpirationKind, RegionAction, ResolutionKind};

const ID: &str = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const PUSH: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

fn content(kind: &str, data: Value) -> Option<Content> {
    let mut event = json!({"type": kind, "event_id": ID, "time": "1714564800.12"});
    event["data"] = data;
    let events = DeviceEvents::read(json!([event]).to_string().as_bytes()).unwrap();
    assert_eq!(events.events.len() + events.n_unreadable, 1);
    events.events.into_iter().next().map(|event| event.content)
}

fn metadata() -> String {
    STANDARD.encode(json!({"version_id": 1, "time": 1_714_564_800_000_i64, "push_id": PUSH}).to_string())
}

#[test]
fn the_envelope_is_read() {
    let body = json!({"type": "app_background", "event_id": ID, "time": 1_714_564_800.5, "data": {"session_id": "s"}});
    let events = DeviceEvents::read(body.to_string().as_bytes()).unwrap();
    let event = DeviceEvent {
        id: ID.parse().unwrap(),
        is_id_of_text: false,
        time: Some(UtcMillis(1_714_564_800_500)),
        session: Some("s".to_owned()),
        content: Content::Closed,
    };
    assert_eq!(events, DeviceEvents { events: vec![event], n_unreadable: 0 });
}

#[test]
fn one_bad_event_does_not_lose_the_others() {
    let good = json!({"type": "app_exit", "event_id": ID, "data": {}});
    let bad = [
        json!(7),
        json!(null),
        json!({}),
        json!({"type": 5}),
        json!({"type": ""}),
        json!({"type": "custom_event", "data": {}}),
        json!({"type": "custom_event", "data": {"event_name": "\u{0}"}}),
        json!({"type": "region_event", "data": {"region_id": "r", "action": "hover"}}),
        json!({"type": "location", "data": {"lat": "91", "long": "0"}}),
        json!({"type": "location", "data": {"lat": "north", "long": "0"}}),
        json!({"type": "screen_tracking", "data": {}}),
        json!({"type": "in_app_display", "data": {"id": {}}}),
        json!({"type": "interactive_notification_action", "data": {"send_id": PUSH}}),
        json!({"type": "x", "data": "y".repeat(limits::EVENT_BYTES)}),
    ];
    for bad in bad {
        let text = json!([good, bad, good]).to_string();
        let events = DeviceEvents::read(text.as_bytes()).unwrap();
        assert_eq!((events.events.len(), events.n_unreadable), (2, 1), "{}", &text[..text.len().min(200)]);
    }
    let half_a_character = format!(r#"[{good}, {{"type": "\ud800"}}, {good}]"#);
    assert_eq!(DeviceEvents::read(half_a_character.as_bytes()).unwrap().n_unreadable, 1);
    let deep = format!("[{good}, {{\"type\": \"x\", \"data\": {}{}}}]", "[".repeat(500), "]".repeat(500));
    assert_eq!(DeviceEvents::read(deep.as_bytes()).unwrap().n_unreadable, 1);
    let many = Value::Array(vec![good; limits::EVENTS_PER_UPLOAD + 3]).to_string();
    let events = DeviceEvents::read(many.as_bytes()).unwrap();
    assert_eq!((events.events.len(), events.n_unreadable), (limits::EVENTS_PER_UPLOAD, 3));
}

#[test]
fn what_is_no_upload_is_refused() {
    for body in ["", "[", "7", "\"x\"", "null", "[{]", "{} {}"] {
        assert!(DeviceEvents::read(body.as_bytes()).is_err(), "{body}");
    }
    assert_eq!(DeviceEvents::read(b" [ ] "), Ok(DeviceEvents::default()));
}

#[test]
fn an_event_without_an_id_always_gets_the_same() {
    let read = |text: &str| DeviceEvents::read(text.as_bytes()).unwrap().events[0].id;
    let event = r#"{"type":"x","data":{"a":1}}"#;
    assert_eq!(read(event), read(&format!("[{event}]")));
    assert_ne!(read(event), read(r#"{"type":"x","data":{"a":2}}"#));
}

#[test]
fn openings() {
    let opening_of = |kind, data| match content(kind, data) {
        Some(Content::Opened(opened)) => Some(opened),
        Some(Content::Other(_)) => None,
        other => panic!("{other:?}"),
    };
    let plain = opening_of("app_foreground", json!({"connection_type": "wifi", "time_zone": -25200, "carrier": ""}));
    let expected = AppOpening {
        connection_type: Some("wifi".to_owned()),
        utc_offset_seconds: Some(-25_200),
        ..AppOpening::default()
    };
    assert_eq!(plain, Some(expected));
    for (offset, known) in
        [(50_400, Some(50_400)), (-43_200, Some(-43_200)), (50_401, None), (86_400, None), (-46_800, None)]
    {
        let opened = opening_of("app_foreground", json!({ "time_zone": offset })).unwrap();
        assert_eq!(opened.utc_offset_seconds, known, "no clock on earth shows that");
    }
    let push = PushEcho { id: PUSH.parse().unwrap(), variant_id: None };
    for data in [
        json!({"push_id": PUSH, "metadata": metadata()}),
        json!({"push_id": "MISSING_SEND_ID", "metadata": metadata().trim_end_matches('=')}),
        json!({"push_id": PUSH, "metadata": "!"}),
        json!({"push_id": PUSH}),
    ] {
        let opened = opening_of("app_foreground", data.clone()).unwrap();
        assert_eq!(opened.echo, Echo { tapped: Some(push), received: None }, "{data}");
    }
    let opened = opening_of("app_foreground", json!({"push_id": "", "last_metadata": metadata()})).unwrap();
    assert_eq!(opened.echo, Echo { tapped: None, received: Some(push) });
    for (foreground, opens) in
        [(json!("true"), true), (json!(true), true), (json!("false"), false), (json!(null), false)]
    {
        assert_eq!(opening_of("app_init", json!({"foreground": foreground})).is_some(), opens, "{foreground}");
    }
}

#[test]
fn custom_events_of_old_and_new_libraries() {
    let old = json!({
        "event_name": "bought", "event_value": "12345678", "transaction_id": "t", "interaction_id": "i",
        "interaction_type": "ua_mcrap", "conversion_send_id": PUSH,
        "properties": {"color": "\"red\"", "new": "true", "price": "12.5", "odd": "red", "sizes": ["1", "2"]},
    });
    let Some(Content::Custom(old)) = content("custom_event", old) else { panic!() };
    assert_eq!(old.event.value, Some(12.345_678));
    let wanted = json!({"color": "red", "new": true, "price": 12.5, "odd": "red", "sizes": ["1", "2"]});
    assert_eq!(Value::Object(old.event.properties), wanted);
    assert_eq!(old.echo.tapped.map(|push| push.id.to_string()).as_deref(), Some(PUSH));
    let new = json!({"event_name": "Bought", "event_value": -1_000_000, "conversion_metadata": metadata(),
                     "properties": {"color": "\"red\"", "nested": {"a": [1, {"b": null}]}}});
    let Some(Content::Custom(new)) = content("enhanced_custom_event", new) else { panic!() };
    assert_eq!((new.event.name.as_str(), new.event.value), ("Bought", Some(-1.0)));
    assert_eq!(Value::Object(new.event.properties)["color"], "\"red\"");
    let huge = json!({"event_name": "x", "event_value": 1e30});
    let Some(Content::Custom(huge)) = content("enhanced_custom_event", huge) else { panic!() };
    assert_eq!(huge.event.value, None);
}

#[test]
fn the_other_types() {
    let Some(Content::Screen(screen)) =
        content("screen_tracking", json!({"screen": "home", "duration": "1.5", "session_id": "s"}))
    else {
        panic!()
    };
    assert_eq!((screen.duration, screen.session_id.as_deref()), (1500, Some("s")));
    let Some(Content::Region(region)) =
        content("region_event", json!({"region_id": "r", "source": "gimbal", "action": "EXIT"}))
    else {
        panic!()
    };
    assert_eq!((region.action, region.source_info.source.as_str()), (RegionAction::Exit, "gimbal"));
    let Some(Content::Location(location)) =
        content("location", json!({"lat": "45.523", "long": "-122.676", "foreground": "true", "h_accuracy": "5"}))
    else {
        panic!()
    };
    assert_eq!((location.latitude.as_str(), location.foreground), ("45.523", true));
    let Some(Content::Button(button)) =
        content("interactive_notification_action", json!({"send_id": PUSH, "button_id": "yes", "foreground": "false"}))
    else {
        panic!()
    };
    assert_eq!((button.button.as_str(), button.foreground), ("yes", false));
    let ids = json!({"com.urbanairship.aaid": "x", "age": 7, "bad": [], "session_id": "s"});
    let Some(Content::Identifiers(ids)) = content("associate_identifiers", ids) else { panic!() };
    assert_eq!(json!(ids), json!({"com.urbanairship.aaid": "x", "age": "7"}));
    let Some(Content::Other(other)) = content("feature_flag_interaction", json!({"flag_name": "f"})) else { panic!() };
    assert_eq!((other.kind.as_str(), other.data), ("feature_flag_interaction", json!({"flag_name": "f"})));
}

#[test]
fn events_of_other_types_keep_whatever_they_carry() {
    for data in [
        json!("text"),
        json!("\u{e9}\n"),
        json!([1, [2.5, {"a": null}]]),
        json!(-7),
        json!(7),
        json!(0.25),
        json!(true),
    ] {
        let Some(Content::Other(other)) = content("own", data.clone()) else { panic!("{data}") };
        assert_eq!((other.kind.as_str(), &other.data), ("own", &data));
    }
    let Some(Content::Other(other)) = content("own", Value::Null) else { panic!() };
    assert_eq!(other.data, json!({}), "nothing is as good as an object without keys");
}

#[test]
fn receipts() {
    let kinds = [
        ("push_received", ReceiptKind::Received),
        ("push_arrived", ReceiptKind::Received),
        ("push_click", ReceiptKind::Clicked),
        ("push_dismiss", ReceiptKind::Dismissed),
    ];
    for (name, kind) in kinds {
        let data = json!({"push_id": PUSH, "button_id": "yes"});
        let Some(Content::Receipt(receipt)) = content(name, data.clone()) else { panic!("{name}") };
        assert_eq!((receipt.kind, receipt.button.as_deref()), (kind, Some("yes")));
        assert_eq!(receipt.push.map(|push| push.id.to_string()).as_deref(), Some(PUSH));
        assert_eq!((receipt.whole.kind.as_str(), receipt.whole.data), (name, data));
    }
}

#[test]
fn in_app_messages() {
    let Some(Content::InAppDisplay(shown)) = content("in_app_display", json!({"id": PUSH, "source": "urban-airship"}))
    else {
        panic!()
    };
    assert_eq!(shown.id, PUSH);
    let resolution = |resolution: Value| {
        let id = json!({"message_id": "welcome", "campaigns": {"categories": ["a"]}});
        content("in_app_resolution", json!({"id": id, "resolution": resolution}))
    };
    let click = json!({"type": "button_click", "display_time": "2.25", "button_id": "ok"});
    let Some(Content::InAppEnd(in_app, InAppEnd::Resolved(end))) = resolution(click) else { panic!() };
    assert_eq!((in_app.id.as_str(), in_app.campaigns.map(|c| c.categories)), ("welcome", Some(vec!["a".to_owned()])));
    assert_eq!((end.kind, end.duration, end.button_id.as_deref()), (ResolutionKind::ButtonClick, 2250, Some("ok")));
    let replaced = json!({"type": "replaced", "replacement_id": PUSH});
    let Some(Content::InAppEnd(_, InAppEnd::Expired(end, by))) = resolution(replaced) else { panic!() };
    assert_eq!((end.kind, by.as_deref()), (ExpirationKind::Replaced, Some(PUSH)));
    assert!(matches!(resolution(json!({"type": "interrupted"})), Some(Content::Other(_))));
}

#[test]
fn an_event_is_not_nested_deeper_than_its_record_can_be_read() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"[{{"type": "own", "data": {{"text": "[[[[\"[[", "deep": {open}{close}}}}}]"#)
    };
    let read = |depth| DeviceEvents::read(nested(depth).as_bytes()).unwrap();
    assert_eq!((read(90).events.len(), read(90).n_unreadable), (1, 0));
    assert_eq!((read(110).events.len(), read(110).n_unreadable), (0, 1));
}
