//! The iOS override: what is accepted, how it prints, and where mistakes are reported.

use serde_json::{Value, json};

use super::*;
use crate::json::parse;

fn read(body: &Value) -> Result<IosOverride, String> {
    parse(body.to_string().as_bytes(), IosOverride::parse).map_err(|problems| problems.first().path.clone())
}

#[test]
fn good_overrides_print_as_they_came() {
    for body in [
        json!({}),
        json!({"alert": "Hello"}),
        json!({"alert": ""}),
        json!({"alert": {"body": "Hello"}}),
        json!({"alert": {
            "title": "t", "subtitle": "s", "body": "b",
            "title-loc-key": "TK", "title-loc-args": ["a"],
            "subtitle-loc-key": "SK", "subtitle-loc-args": [],
            "loc-key": "K", "loc-args": ["a", "b"], "action-loc-key": "AK",
            "launch-image": "i.png", "summary-arg": "x", "summary-arg-count": 3}}),
        json!({"badge": 0}),
        json!({"badge": 2_147_483_647}),
        json!({"badge": "auto"}),
        json!({"badge": "+12"}),
        json!({"badge": "-3"}),
        json!({"sound": "cat.caf"}),
        json!({"sound": {"name": "cat.caf", "volume": 0.5, "critical": true}}),
        json!({"sound": {"name": "cat.caf", "volume": 1}}),
        json!({"content_available": true, "mutable_content": false}),
        json!({"extra": {"a": {"b": [1, null]}, "from": "x"}}),
        json!({"expiry": 0}),
        json!({"expiry": "2030-01-01T00:00:00"}),
        json!({"priority": 5}),
        json!({"priority": 10}),
        json!({"interruption_level": "time-sensitive", "relevance_score": 0.75}),
        json!({"collapse_id": "é".repeat(32)}),
        json!({"title": "t", "subtitle": "s", "category": "c", "thread_id": "t", "target_content_id": "w",
            "filter_criteria": "f"}),
        json!({"interactive": {"type": "ua_follow"}, "actions": {"add_tag": "x"}}),
        json!({"media_attachment": {"url": "https://example.com/a.gif",
            "content": {"title": "t", "subtitle": "s", "body": "b"},
            "options": {"crop": {"x": 0, "y": 0.25, "width": 1.0, "height": 1}, "time": 10, "hidden": true}}}),
        json!({"live_activity": {"name": "match-1", "event": "update", "alert": {"title": "t", "body": "b", "sound": "s"},
            "content_state": {"score": [1, 0]}, "priority": 10, "relevance_score": 50, "stale_date": 1_700_000_000,
            "dismissal_date": 1_700_000_000, "timestamp": 1_700_000_000, "attributes": {"home": "x"},
            "attributes_type": "MatchAttributes"}}),
        json!({"template": {"fields": {"alert": "Hi {{name}}", "title": "t", "subtitle": "s"}}, "badge": 1}),
    ] {
        let ios = read(&body).unwrap_or_else(|path| panic!("{body}: {path}"));
        assert_eq!(json!(ios), body);
    }
}

#[test]
fn tolerated_spellings_print_in_one_form() {
    for (body, printed) in [
        (json!({"content-available": 1}), json!({"content_available": true})),
        (json!({"content-available": true}), json!({"content_available": true})),
        (json!({"content_available": 0}), json!({"content_available": false})),
        (json!({"mutable-content": 1}), json!({"mutable_content": true})),
        (json!({"relevance-score": 0.5}), json!({"relevance_score": 0.5})),
        (
            json!({"thread-id": "t", "collapse-id": "c", "target-content-id": "w", "interruption-level": "passive"}),
            json!({"thread_id": "t", "collapse_id": "c", "target_content_id": "w", "interruption_level": "passive"}),
        ),
        (json!({"badge": "+007"}), json!({"badge": "+7"})),
        (json!({"alert": {"body": "b", "action-loc-key": null}}), json!({"alert": {"body": "b"}})),
    ] {
        assert_eq!(json!(read(&body).unwrap()), printed);
    }
}

#[test]
fn mistakes_are_reported_where_they_are() {
    let media = |options: Value| json!({"media_attachment": {"url": "https://example.com", "options": options}});
    for (body, path) in [
        (json!([]), ""),
        (json!({"colour": "red"}), "colour"),
        (json!({"alert": 1}), "alert"),
        (json!({"alert": null}), "alert"),
        (json!({"alert": {}}), "alert"),
        (json!({"alert": {"text": "x"}}), "alert.text"),
        (json!({"alert": {"body": 1}}), "alert.body"),
        (json!({"alert": {"loc-args": ["a", 1]}}), "alert.loc-args[1]"),
        (json!({"alert": {"loc-args": "a"}}), "alert.loc-args"),
        (json!({"alert": {"summary-arg-count": -1}}), "alert.summary-arg-count"),
        (json!({"badge": "1"}), "badge"),
        (json!({"badge": "+"}), "badge"),
        (json!({"badge": "+1.5"}), "badge"),
        (json!({"badge": "++1"}), "badge"),
        (json!({"badge": "+99999999999"}), "badge"),
        (json!({"badge": "Auto"}), "badge"),
        (json!({"badge": -1}), "badge"),
        (json!({"badge": 1.5}), "badge"),
        (json!({"badge": true}), "badge"),
        (json!({"sound": 1}), "sound"),
        (json!({"sound": {}}), "sound.name"),
        (json!({"sound": {"name": ""}}), "sound.name"),
        (json!({"sound": {"name": "x", "volume": 1.1}}), "sound.volume"),
        (json!({"sound": {"name": "x", "critical": 1}}), "sound.critical"),
        (json!({"sound": {"name": "x", "loud": true}}), "sound.loud"),
        (json!({"content_available": 2}), "content_available"),
        (json!({"content_available": "true"}), "content_available"),
        (json!({"content_available": true, "content-available": 1}), "content-available"),
        (json!({"extra": []}), "extra"),
        (json!({"extra": {"aps": {}}}), "extra.aps"),
        (json!({"expiry": -1}), "expiry"),
        (json!({"expiry": "soon"}), "expiry"),
        (json!({"priority": 7}), "priority"),
        (json!({"priority": "10"}), "priority"),
        (json!({"interruption_level": "loud"}), "interruption_level"),
        (json!({"relevance_score": 1.2}), "relevance_score"),
        (json!({"relevance_score": 1, "relevance-score": 1}), "relevance-score"),
        (json!({"collapse_id": "a", "collapse-id": "a"}), "collapse-id"),
        (json!({"interruption-level": "loud"}), "interruption-level"),
        (json!({"collapse_id": ""}), "collapse_id"),
        (json!({"collapse_id": "a\nb"}), "collapse_id"),
        (json!({"collapse_id": "é".repeat(33)}), "collapse_id"),
        (json!({"interactive": {"type": "ua_nothing"}}), "interactive.type"),
        (json!({"actions": {}}), "actions"),
        (json!({"actions": null}), "actions"),
        (json!({"media_attachment": {}}), "media_attachment.url"),
        (json!({"media_attachment": {"url": "a.gif"}}), "media_attachment.url"),
        (
            json!({"media_attachment": {"url": "https://e.com", "content": {"text": "x"}}}),
            "media_attachment.content.text",
        ),
        (media(json!({"crop": {"x": -0.1}})), "media_attachment.options.crop.x"),
        (media(json!({"crop": {"height": 1.1}})), "media_attachment.options.crop.height"),
        (media(json!({"crop": {"z": 1}})), "media_attachment.options.crop.z"),
        (media(json!({"time": -1})), "media_attachment.options.time"),
        (media(json!({"hidden": "yes"})), "media_attachment.options.hidden"),
        (json!({"live_activity": {"event": "start"}}), "live_activity.name"),
        (json!({"live_activity": {"name": "x"}}), "live_activity.event"),
        (json!({"live_activity": {"name": "x", "event": "stop"}}), "live_activity.event"),
        (json!({"live_activity": {"name": "x", "event": "end", "priority": 1}}), "live_activity.priority"),
        (json!({"live_activity": {"name": "x", "event": "end", "content_state": []}}), "live_activity.content_state"),
        (json!({"live_activity": {"name": "x", "event": "end", "stale_date": "x"}}), "live_activity.stale_date"),
        (json!({"live_activity": {"name": "x", "event": "end", "alert": "x"}}), "live_activity.alert"),
        (json!({"template": {"fields": {"body": "x"}}}), "template.fields.body"),
        (json!({"template": {"external_id": "x"}, "subtitle": "x"}), "subtitle"),
    ] {
        assert_eq!(read(&body).unwrap_err(), path, "{body}");
    }
}

#[test]
fn an_alert_takes_titles_it_lacks() {
    let text = IosAlert::Text("b".to_owned());
    assert_eq!(text.clone().with_titles(None, None), text);
    assert_eq!(json!(text.with_titles(Some("t"), None)), json!({"body": "b", "title": "t"}));
    let own = IosAlert::Object(Box::new(AlertObject { title: Some("own".to_owned()), ..AlertObject::default() }));
    assert_eq!(json!(own.with_titles(Some("t"), Some("s"))), json!({"title": "own", "subtitle": "s"}));
}
