//! Tests of the rules across the parts of a push, of its kind, and of the choice of a localization.

use serde_json::{Value, json};

use super::push_type::PushType;
use super::*;

const UUID: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

fn read(body: &Value) -> Result<Push, Vec<String>> {
    parse_pushes(body.to_string().as_bytes())
        .map(|pushes| pushes.as_slice()[0].clone())
        .map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect())
}

/// A push to all devices with some parts put in or replaced; `null` takes a part out.
fn with(parts: Value) -> Value {
    let mut push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
    let Value::Object(parts) = parts else { panic!("parts are an object") };
    for (key, part) in parts {
        push[key] = part;
    }
    push.as_object_mut().unwrap().retain(|_, part| !part.is_null());
    push
}

fn accepted(parts: Value) -> Push {
    let push = with(parts);
    read(&push).unwrap_or_else(|paths| panic!("{push}: {paths:?}"))
}

fn refused(parts: Value, paths: &[&str]) {
    let push = with(parts);
    assert_eq!(read(&push).expect_err(&push.to_string()), paths, "{push}");
}

#[test]
fn something_must_be_sent() {
    refused(json!({"notification": null}), &["notification"]);
    refused(json!({"notification": {"actions": {"share": "x"}}}), &["notification"]);
    accepted(json!({"notification": null, "message": {"title": "T", "body": "B"}}));
    accepted(json!({"notification": null, "in_app": {"alert": "Hi", "display_type": "banner"}}));
    accepted(json!({"notification": {"android": {"title": "T"}}}));
    accepted(json!({"notification": {"open::kiosk": {"title": "T"}}}));
    refused(json!({"notification": {"android": {}}}), &["notification"]);
}

#[test]
fn every_listed_platform_gets_something() {
    let ios_only = json!({"ios": {"alert": "Hi"}});
    accepted(json!({"device_types": ["ios"], "notification": ios_only}));
    refused(
        json!({"device_types": ["ios", "web", "open::kiosk"], "notification": ios_only}),
        &["device_types[1]", "device_types[2]"],
    );
    accepted(json!({"device_types": ["ios", "web", "wns", "sms", "open::kiosk"]}));
    accepted(json!({"device_types": ["open::kiosk"], "notification": {"open::kiosk": {"alert": "Hi"}}}));
    refused(
        json!({"device_types": ["open::kiosk"], "notification": {"open::desk": {"alert": "Hi"}}}),
        &["device_types[0]"],
    );
    refused(json!({"device_types": ["mms"]}), &["device_types[0]"]);
    refused(json!({"device_types": ["ios", "email"]}), &["notification.email"]);
    let in_app = json!({"alert": "Hi", "display_type": "banner"});
    accepted(json!({"device_types": ["ios", "android", "amazon"], "notification": null, "in_app": in_app}));
    refused(json!({"device_types": ["web"], "notification": null, "in_app": in_app}), &["device_types[0]"]);
    refused(
        json!({"device_types": ["ios", "android"], "localizations": [
            {"language": "fr", "notification": {"alert": "Salut"}},
            {"language": "de", "notification": {"ios": {"alert": "Hallo"}}}
        ]}),
        &["localizations[1].notification"],
    );
}

#[test]
fn selected_devices_must_be_on_a_listed_platform() {
    for (selector, platform, other) in [
        (json!({"ios_channel": UUID}), "ios", "android"),
        (json!({"device_token": "0A".repeat(32)}), "ios", "android"),
        (json!({"android_channel": UUID}), "android", "ios"),
        (json!({"apid": "x"}), "android", "ios"),
        (json!({"amazon_channel": UUID}), "amazon", "ios"),
        (json!({"web_channel": UUID}), "web", "ios"),
        (json!({"wns": "x"}), "wns", "ios"),
        (json!({"sms_sender": "12345"}), "sms", "ios"),
        (json!({"sms_id": {"msisdn": "1", "sender": "2"}}), "sms", "ios"),
        (json!({"open_channel": "desk-7"}), "open::kiosk", "ios"),
    ] {
        accepted(json!({"audience": selector, "device_types": [platform]}));
        accepted(json!({"audience": selector}));
        let key = selector.as_object().unwrap().keys().next().unwrap();
        refused(json!({"audience": selector, "device_types": [other]}), &[&format!("audience.{key}")]);
        refused(
            json!({"audience": {"OR": [{"tag": "a"}, {"not": [selector]}]}, "device_types": [other]}),
            &[&format!("audience.OR[1].not[0].{key}")],
        );
    }
    accepted(json!({"audience": {"channel": UUID}, "device_types": ["web"]}));
}

#[test]
fn locations_need_ios_or_android() {
    let audience = json!({"and": [{"tag": "a"}, {"location": {"id": "x", "date": {"recent": {"days": 3}}}}]});
    accepted(json!({"audience": audience, "device_types": ["ios", "web"]}));
    accepted(json!({"audience": audience, "device_types": ["android"]}));
    refused(json!({"audience": audience}), &["device_types"]);
    refused(json!({"audience": audience, "device_types": ["web"]}), &["device_types"]);
}

#[test]
fn messages_go_to_platforms_with_a_message_center() {
    let message = json!({"title": "T", "body": "B"});
    accepted(json!({"message": message, "device_types": ["ios", "android", "amazon", "web"]}));
    accepted(json!({"message": message}));
    for platform in ["wns", "sms", "open::kiosk"] {
        refused(json!({"message": message, "device_types": ["ios", platform]}), &["device_types[1]"]);
        refused(
            json!({"localizations": [{"language": "de", "message": message}], "device_types": [platform]}),
            &["device_types[0]"],
        );
    }
}

#[test]
fn buttons_need_a_platform_that_shows_them() {
    let notification = json!({"alert": "Hi", "interactive": {"type": "ua_follow"}});
    accepted(json!({"notification": notification}));
    accepted(json!({"notification": notification, "device_types": ["wns", "ios"]}));
    refused(json!({"notification": notification, "device_types": ["wns", "sms"]}), &["notification.interactive"]);
    accepted(json!({"notification": notification, "device_types": ["web"]}));
    let own_type = json!({"alert": "Hi", "interactive": {"type": "my_type"}});
    accepted(json!({"notification": own_type, "device_types": ["web", "ios"]}));
    refused(json!({"notification": own_type, "device_types": ["web", "wns"]}), &["notification.interactive"]);
}

#[test]
fn ios_rules() {
    refused(json!({"notification": {"ios": {"priority": 10}}}), &["notification.ios.priority"]);
    for visible in [
        json!({"priority": 10, "alert": "Hi"}),
        json!({"priority": 10, "badge": 1}),
        json!({"priority": 10, "sound": "x"}),
        json!({"priority": 10, "title": "x"}),
        json!({"priority": 10, "subtitle": "x"}),
        json!({"priority": 10, "template": {"fields": {"alert": "x"}}}),
    ] {
        accepted(json!({"notification": {"ios": visible}}));
    }
    accepted(json!({"notification": {"alert": "Hi", "ios": {"priority": 10}}}));
    accepted(json!({"notification": {"ios": {"priority": 5}}}));

    let in_app = json!({"alert": "Hi", "display_type": "banner"});
    let silent = |value| json!({"alert": "Hi", "ios": {"content_available": value}});
    refused(json!({"notification": silent(false), "in_app": in_app}), &["notification.ios.content_available"]);
    accepted(json!({"notification": silent(true), "in_app": in_app}));
    accepted(json!({"notification": silent(false)}));
    refused(
        json!({"localizations": [{"language": "de", "notification": silent(false), "in_app": in_app}]}),
        &["localizations[0].notification.ios.content_available"],
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    accepted(json!({"orchestration": {"type": "fan_out"}}));
    for orchestration in [
        json!({"type": "channel_priority", "channel_priority": ["app", "web"]}),
        json!({"type": "last_active"}),
        json!({"type": "triggering_channel"}),
    ] {
        refused(json!({ "orchestration": orchestration }), &["orchestration.type"]);
    }

    let scene = json!({"open": {"type": "scene", "content": {"template": {"template_id": UUID}}}});
    let buttons = json!({"type": "ua_follow", "button_actions": {"follow": scene}});
    let in_app = json!({"alert": "Hi", "display_type": "banner", "actions": scene});
    for (notification, path) in [
        (json!({"alert": "Hi", "actions": scene}), "actions"),
        (json!({"alert": "Hi", "amazon": {"actions": scene}}), "amazon.actions"),
        (json!({"alert": "Hi", "interactive": buttons}), "interactive.button_actions.follow"),
        (
            json!({"alert": "Hi", "open::kiosk": {"interactive": buttons}}),
            "open::kiosk.interactive.button_actions.follow",
        ),
        (
            json!({"alert": "Hi", "web": {"buttons": [{"id": "a", "label": "A"}, {"id": "b", "label": "B", "actions": scene}]}}),
            "web.buttons[1].actions",
        ),
        (json!({"alert": "Hi", "in_app": in_app}), "in_app.actions"),
    ] {
        refused(json!({ "notification": notification }), &[&format!("notification.{path}.open.type")]);
    }
    refused(json!({ "in_app": in_app }), &["in_app.actions.open.type"]);
    refused(
        json!({"localizations": [{"language": "de", "in_app": in_app}]}),
        &["localizations[0].in_app.actions.open.type"],
    );
}

#[test]
fn texts_are_filled_in_where_that_is_asked_for() {
    let personal = json!({"alert": "Hi {{name}}", "ios": {"title": "{{#if name}}", "subtitle": "there"}});
    accepted(json!({ "notification": personal }));
    for asked in [
        json!({"global_attributes": {"name": "Kim"}}),
        json!({"feed_references": {"feeds": [{"name": "f"}]}}),
        json!({"snippet_references": {"snippets": [{"name": "s"}]}}),
        json!({"options": {"personalization": true}}),
    ] {
        let mut with_braces = asked.clone();
        with_braces["notification"] = personal.clone();
        refused(with_braces, &["notification.ios.title"]);
        accepted(asked);
    }
    let inline =
        |title: &str| json!({"notification": {"alert": "Hi", "web": {"template": {"fields": {"title": title}}}}});
    accepted(inline("{{name}}"));
    refused(inline("{{> snippet}}"), &["notification.web.template.fields.title"]);
}

#[test]
fn what_is_kept_cannot_be_redacted() {
    let options = json!({"redact_payload": true});
    accepted(json!({"options": options}));
    refused(json!({"options": options, "message": {"title": "T", "body": "B"}}), &["options.redact_payload"]);
    accepted(json!({"options": {"redact_payload": false}, "message": {"title": "T", "body": "B"}}));
    let body = with(json!({"audience": "triggered", "options": options})).to_string();
    let problems = json::parse(body.as_bytes(), |at| Push::parse_with(at, Purpose::Pipeline)).unwrap_err();
    assert_eq!(problems.first().path, "options.redact_payload");
}

#[test]
fn content_that_lives_on_screens_is_started_with_all_that_devices_need() {
    let activity = |activity: Value| json!({"notification": {"alert": "Hi", "ios": {"live_activity": activity}}});
    let update = |update: Value| json!({"notification": {"alert": "Hi", "android": {"live_update": update}}});
    let alert = json!({"body": "Go"});
    accepted(activity(json!({"name": "n", "event": "update", "content_state": {"score": 1}, "alert": alert})));
    accepted(activity(json!({"name": "n", "event": "end"})));
    let start = json!({"name": "n", "event": "start", "attributes_type": "Match", "attributes": {}, "alert": alert});
    accepted(activity(start));
    accepted(update(json!({"name": "n", "event": "start", "type": "match"})));
    accepted(update(json!({"name": "n", "event": "end"})));
    let missing = ["attributes_type", "attributes", "alert"].map(|key| format!("notification.ios.live_activity.{key}"));
    refused(activity(json!({"name": "n", "event": "start"})), &missing.each_ref().map(String::as_str));
    let surplus = json!({"name": "n", "event": "end", "attributes_type": "Match"});
    refused(activity(surplus), &["notification.ios.live_activity.attributes_type"]);
    refused(update(json!({"name": "n", "event": "start"})), &["notification.android.live_update.type"]);
    let both = |name: &str| {
        let live = json!({"name": name, "event": "end"});
        json!({"alert": "Hi", "ios": {"live_activity": live}, "android": {"live_update": live}})
    };
    refused(
        json!({"notification": both("{{order}}"), "options": {"personalization": true}}),
        &["notification.ios.live_activity.name", "notification.android.live_update.name"],
    );
    refused(
        json!({"notification": both("n"), "localizations": [{"language": "de", "notification": {"alert": "Hallo"}}]}),
        &["notification.ios.live_activity", "notification.android.live_update"],
    );
    refused(
        json!({"localizations": [{"language": "de", "notification": both("n")}]}),
        &["localizations[0].notification.ios.live_activity", "localizations[0].notification.android.live_update"],
    );
}

#[test]
fn rules_across_parts_do_not_concern_what_was_accepted_before() {
    for parts in [
        json!({"options": {"redact_payload": true}, "message": {"title": "T", "body": "B"}}),
        json!({"audience": {"ios_channel": "00000000-0000-4000-8000-000000000000"}, "device_types": ["android"]}),
        json!({"orchestration": {"type": "last_active"}}),
        json!({"notification": {"alert": "{{name}}", "actions": {"open": {"type": "scene",
            "content": {"template": {"template_id": UUID}}}}}, "global_attributes": {"name": "Kim"}}),
        json!({"notification": {"ios": {"live_activity": {"name": "match", "event": "start"}}}}),
    ] {
        let push = with(parts);
        read(&push).expect_err(&push.to_string());
        json::parse(push.to_string().as_bytes(), |at| Push::parse_with(at, Purpose::Stored)).unwrap();
    }
    let unreadable = with(json!({"audience": 1})).to_string();
    json::parse(unreadable.as_bytes(), |at| Push::parse_with(at, Purpose::Stored)).unwrap_err();
}

#[test]
fn triggered_is_for_pipelines() {
    refused(json!({"audience": "triggered"}), &["audience"]);
    let body = with(json!({"audience": "triggered"})).to_string();
    let push = json::parse(body.as_bytes(), |at| Push::parse_with(at, Purpose::Pipeline)).unwrap();
    assert_eq!(push.push_type(), PushType::UnicastPush);
}

#[test]
fn a_phone_gets_a_text_or_a_picture() {
    let mms = json!({"fallback_text": "Hi", "slides": [
        {"media": {"url": "https://example.com/a.png", "content_type": "image/png"}}
    ]});
    accepted(json!({"device_types": ["mms"], "notification": {"mms": mms}}));
    refused(json!({"notification": {"sms": {"alert": "Hi"}, "mms": mms}}), &["notification.mms"]);
}

#[test]
fn email_has_one_message_type() {
    let email = json!({"message_type": "transactional", "subject": "S", "plaintext_body": "B", "sender_name": "N",
        "sender_address": "a@example.com", "reply_to": "b@example.com"});
    let push = |message_type: &str| json!({"device_types": ["email"], "notification": {"email": email}, "message_type": message_type});
    accepted(push("transactional"));
    refused(push("commercial"), &["notification.email.message_type"]);
}

#[test]
fn an_in_app_message_may_be_inside_the_notification() {
    let in_app = json!({"alert": "Psst", "display_type": "banner"});
    let nested = accepted(json!({"notification": {"alert": "Hi", "in_app": in_app}}));
    assert_eq!(nested.in_app().unwrap().alert, "Psst");
    let top = accepted(json!({"in_app": in_app}));
    assert_eq!(top.in_app().unwrap().alert, "Psst");
    assert_eq!(accepted(json!({})).in_app(), None);
    refused(json!({"notification": {"alert": "Hi", "in_app": in_app}, "in_app": in_app}), &["notification.in_app"]);
    accepted(json!({"notification": {"in_app": in_app}}));
}

#[test]
fn a_part_that_cannot_be_read_is_blamed_once() {
    refused(json!({"device_types": ["ios"], "notification": {"ios": {"badge": "many"}}}), &["notification.ios.badge"]);
}

#[test]
fn open_platforms_are_named() {
    let push = accepted(json!({"device_types": ["open::kiosk", "ios", "open::desk"]}));
    let names: Vec<_> = push.open_platforms().map(OpenPlatform::as_str).collect();
    assert_eq!(names, ["kiosk", "desk"]);
    assert_eq!(accepted(json!({})).open_platforms().count(), 0);
}

#[test]
fn kinds_of_pushes() {
    for (audience, kind) in [
        (json!("ALL"), "BROADCAST_PUSH"),
        (json!({"ios_channel": UUID}), "UNICAST_PUSH"),
        (json!({"channel": [UUID]}), "UNICAST_PUSH"),
        (json!({"named_user": "kim"}), "UNICAST_PUSH"),
        (json!({"open_channel": "desk-7"}), "UNICAST_PUSH"),
        (json!({"named_user": ["kim", "lee"]}), "SEGMENTS_PUSH"),
        (json!({"tag": "a"}), "TAG_PUSH"),
        (json!({"tag": ["a", "b"], "group": "g"}), "TAG_PUSH"),
        (json!({"and": [{"tag": "a"}, {"not": {"tag": "b"}}]}), "TAG_PUSH"),
        (json!({"and": [{"tag": "a"}, {"segment": UUID}]}), "SEGMENTS_PUSH"),
        (json!({"segment": UUID}), "SEGMENTS_PUSH"),
        (json!({"static_list": "vips"}), "SEGMENTS_PUSH"),
    ] {
        let kind_of = accepted(json!({"audience": audience})).push_type();
        assert_eq!(kind_of.name(), kind, "{audience}");
        assert_eq!(json!(kind_of), kind);
    }
}

#[test]
fn the_closest_localization_wins() {
    let push = accepted(json!({
        "message": {"title": "Top", "body": "B"},
        "localizations": [
            {"country": "AT", "notification": {"alert": "AT"}},
            {"language": "de", "notification": {"alert": "de"}},
            {"language": "de", "country": "AT", "notification": {"alert": "de-AT"}},
            {"language": "de", "notification": {"alert": "second de"}},
            {"language": "fr", "message": {"title": "fr", "body": "B"}},
            {"language": "it", "in_app": {"alert": "it", "display_type": "banner"}},
            {"language": "he", "notification": {"alert": "he"}},
            {"language": "in", "notification": {"alert": "id"}},
            {"language": "fil", "notification": {"alert": "fil"}},
        ],
    }));
    let alert = |language, country| push.content_for(language, country).notification.unwrap().alert.as_deref().unwrap();
    assert_eq!(alert(Some("de"), Some("AT")), "de-AT");
    assert_eq!(alert(Some("DE"), Some("at")), "de-AT");
    assert_eq!(alert(Some("de"), Some("DE")), "de");
    assert_eq!(alert(Some("de"), None), "de");
    assert_eq!(alert(Some("sl"), Some("AT")), "AT");
    assert_eq!(alert(None, Some("AT")), "AT");
    assert_eq!(alert(Some("en"), Some("US")), "Hi");
    assert_eq!(alert(None, None), "Hi");
    assert_eq!(alert(Some("fr"), None), "Hi");
    assert_eq!((alert(Some("iw"), None), alert(Some("he"), None)), ("he", "he"), "by its old and its new code");
    assert_eq!((alert(Some("id"), None), alert(Some("IN"), None)), ("id", "id"));
    assert_eq!((alert(Some("fil"), None), alert(Some("fi"), None)), ("fil", "Hi"));

    let title = |language| match &push.content_for(Some(language), None).message.unwrap().content {
        message::MessageContent::Text { title, .. } => title.as_str(),
        message::MessageContent::Template { .. } => panic!("no template was given"),
    };
    assert_eq!((title("fr"), title("de")), ("fr", "Top"));
    assert_eq!(push.content_for(Some("it"), None).in_app.unwrap().alert, "it");
    assert_eq!(push.content_for(Some("de"), None).in_app, None);
}
