//! Notifications: which are accepted, how they print, what each platform inherits, and where mistakes are reported.

use serde_json::{Value, json};

use super::*;
use crate::device_type::DeviceType;
use crate::device_type::OpenPlatform;
use crate::json::parse;
use crate::payload::ios::ApnsPriority;

fn read(body: &Value) -> Result<Notification, String> {
    parse(body.to_string().as_bytes(), Notification::parse).map_err(|problems| problems.first().path.clone())
}

fn good(body: &Value) -> Notification {
    read(body).unwrap_or_else(|path| panic!("{body}: {path}"))
}

#[test]
fn good_notifications_print_as_they_came() {
    for body in [
        json!({"alert": "Hello"}),
        json!({"alert": ""}),
        json!({"actions": {"add_tag": "x"}, "alert": "a", "interactive": {"type": "ua_follow"}}),
        json!({"ios": {}, "android": {}, "amazon": {}, "web": {}, "sms": {}}),
        json!({"ios": {"badge": 1}, "android": {"title": "t"}, "amazon": {"title": "t"}, "web": {"title": "t"},
            "wns": {"badge": {"value": 4}}, "mms": {"fallback_text": "f", "slides": [{"media":
                {"url": "https://example.com/a.png", "content_type": "image/png"}}]},
            "email": {"message_type": "commercial", "subject": "s", "plaintext_body": "p", "sender_name": "n",
                "sender_address": "a@example.com", "reply_to": "a@example.com"}}),
        json!({"open::toaster": {"alert": "a"}, "open::fridge": {"extra": {"a": "b"}}}),
        json!({"alert": "a", "in_app": {"alert": "b", "display_type": "banner"}}),
        json!({"alert": "a", "actions": {"share": "x"}, "ios": {"extra": {"share": "y", "^u": "z"}}}),
        json!({"actions": {"app_defined": {"mine": 1}},
            "ios": {"alert": "a", "actions": {"share": "x"}, "extra": {"mine": 1}}}),
    ] {
        assert_eq!(json!(good(&body)), body);
    }
}

#[test]
fn mistakes_are_reported_where_they_are() {
    for (body, path) in [
        (json!("Hello"), ""),
        (json!({}), ""),
        (json!({"alert": 5}), "alert"),
        (json!({"alert": null}), "alert"),
        (json!({"alert": {"body": "x"}}), "alert"),
        (json!({"colour": "red"}), "colour"),
        (json!({"blackberry": {}}), "blackberry"),
        (json!({"actions": {}}), "actions"),
        (json!({"interactive": null}), "interactive"),
        (json!({"ios": null}), "ios"),
        (json!({"ios": {"badge": "x"}}), "ios.badge"),
        (json!({"android": []}), "android"),
        (json!({"amazon": {"expires_after": 1}}), "amazon.expires_after"),
        (json!({"web": {"buttons": []}}), "web.buttons"),
        (json!({"wns": {}}), "wns"),
        (json!({"sms": {"alert": ""}}), "sms.alert"),
        (json!({"mms": {}}), "mms.fallback_text"),
        (json!({"email": {}}), "email.message_type"),
        (json!({"open": {}}), "open"),
        (json!({"open::": {}}), "open::"),
        (json!({"open::a b": {}}), "open::a b"),
        (json!({"open::toaster": {"alert": 1}}), "open::toaster.alert"),
        (json!({"in_app": {}}), "in_app.alert"),
        (json!({"sms": {"alert": "a"}, "mms": {"template": {"external_id": "x"}}}), "mms"),
        (json!({"actions": {"share": "x"}, "ios": {"extra": {"^s": "y"}}}), "ios.extra.^s"),
        (json!({"actions": {"share": "x"}, "ios": {"extra": {"share_action": "y"}}}), "ios.extra.share_action"),
        (json!({"actions": {"app_defined": {"mine": 1}}, "ios": {"extra": {"mine": 1}}}), "ios.extra.mine"),
        (json!({"ios": {"actions": {"open": {"type": "url", "content": "x"}}, "extra": {"^u": 1}}}), "ios.extra.^u"),
    ] {
        assert_eq!(read(&body).unwrap_err(), path, "{body}");
    }
}

#[test]
fn all_problems_are_found_at_once() {
    let body = json!({"alert": 1, "ios": {"badge": "x", "sound": 2}, "open::a": {"title": 3}, "what": 4});
    let problems = parse(body.to_string().as_bytes(), Notification::parse).unwrap_err();
    let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["alert", "ios.badge", "ios.sound", "open::a.title", "what"]);
}

#[test]
fn a_key_given_twice_is_refused() {
    let problems = parse(br#"{"alert":"a","alert":"b"}"#, Notification::parse).unwrap_err();
    assert_eq!(problems.first().path, "alert");
}

/// The notification for every platform, printed; null when there is none.
fn views(body: &Value) -> Value {
    let notification = good(body);
    let toaster = OpenPlatform::new("toaster").unwrap();
    json!({
        "ios": notification.for_ios(),
        "android": notification.for_android(),
        "amazon": notification.for_amazon(),
        "web": notification.for_web(),
        "wns": notification.for_wns(),
        "open": notification.for_open(&toaster),
    })
}

#[test]
fn platforms_inherit_alert_actions_and_buttons() {
    let all = json!({"alert": "a", "actions": {"share": "x"}, "interactive": {"type": "ua_share"}});
    let alert = json!({"alert": "a"});
    let mut web = all.clone();
    web["buttons"] = json!([{"id": "share", "label": "Share"}]);
    assert_eq!(views(&all), json!({"ios": all, "android": all, "amazon": all, "web": web, "wns": alert, "open": all}));
}

#[test]
fn overrides_win() {
    let own = json!({"alert": "own", "title": "t", "actions": {"add_tag": "y"}, "interactive": {"type": "ua_like"}});
    let open = json!({"alert": "own", "title": "t", "interactive": {"type": "ua_like"}});
    let body = json!({"alert": "a", "actions": {"share": "x"}, "interactive": {"type": "ua_share"},
        "ios": own, "android": own, "amazon": own, "web": own, "wns": {"badge": {"value": 2}}, "open::toaster": open});
    let open = json!({"alert": "own", "title": "t", "interactive": {"type": "ua_like"}, "actions": {"share": "x"}});
    let mut web = own.clone();
    web["buttons"] = json!([{"id": "like", "label": "Like", "background": true}]);
    assert_eq!(
        views(&body),
        json!({"ios": own, "android": own, "amazon": own, "web": web, "wns": {"badge": {"value": 2}}, "open": open})
    );
}

#[test]
fn an_override_is_enough_and_nothing_is_not() {
    let nothing = json!({"ios": null, "android": null, "amazon": null, "web": null, "wns": null, "open": null});
    assert_eq!(views(&json!({"actions": {"share": "x"}})), nothing);
    assert_eq!(views(&json!({"ios": {}, "android": {}, "amazon": {}, "web": {}, "open::toaster": {}})), nothing);
    let title = json!({"title": "t"});
    let titles = json!({"ios": title, "android": title, "amazon": title, "web": title, "wns": null, "open": title});
    assert_eq!(
        views(&json!({"ios": title, "android": title, "amazon": title, "web": title, "open::toaster": title})),
        titles
    );
}

#[test]
fn inline_templates_fill_the_texts() {
    let template = json!({"fields": {"alert": "own", "title": "t"}});
    let body = json!({"alert": "a", "ios": {"template": template}, "open::toaster": {"template": template},
        "android": {"template": {"fields": {"icon": "i", "icon_color": "#ffffff"}}}});
    let views = views(&body);
    assert_eq!(views["ios"], json!({"alert": "own", "title": "t", "template": template}));
    assert_eq!(views["open"], json!({"alert": "own", "title": "t"}));
    assert_eq!((&views["android"]["alert"], &views["android"]["icon"]), (&json!("a"), &json!("i")));
    assert_eq!(views["android"]["icon_color"], "#ffffff");
}

#[test]
fn ios_facts() {
    let ios = |body: Value| good(&body).for_ios().unwrap();
    let silent = ios(json!({"ios": {"content_available": true}}));
    assert!(!silent.is_visible());
    assert_eq!(silent.apns_priority(), ApnsPriority::Considerate);
    for visible in [json!({"alert": "a"}), json!({"ios": {"badge": 0}}), json!({"ios": {"sound": "x"}})] {
        assert!(ios(visible.clone()).is_visible(), "{visible}");
        assert_eq!(ios(visible).apns_priority(), ApnsPriority::Immediate);
    }
    assert_eq!(ios(json!({"alert": "a", "ios": {"priority": 5}})).apns_priority(), ApnsPriority::Considerate);

    let titled = ios(json!({"alert": "a", "ios": {"title": "t", "subtitle": "s"}}));
    assert_eq!(json!(titled.full_alert()), json!({"title": "t", "subtitle": "s", "body": "a"}));
    let only_title = ios(json!({"ios": {"title": "t"}}));
    assert_eq!(json!(only_title.full_alert()), json!({"title": "t"}));
    assert!(only_title.is_visible());

    let buttons = ios(json!({"alert": "a", "interactive": {"type": "ua_share"}, "ios": {"category": "c"}}));
    assert_eq!(buttons.apns_category(), Some("ua_share"));
    assert_eq!(ios(json!({"alert": "a", "ios": {"category": "c"}})).apns_category(), Some("c"));
    assert!(ios(json!({"ios": {"media_attachment": {"url": "https://example.com"}}})).is_mutable());
    assert!(!ios(json!({"alert": "a"})).is_mutable());
}

#[test]
fn overrides_by_device_type() {
    let open = |name: &str| DeviceType::Open(OpenPlatform::new(name).unwrap());
    let every_type = || DeviceType::NAMED.into_iter().map(|(_, device_type)| device_type).chain([open("toaster")]);
    let overridden = |body: Value| -> Vec<String> {
        let notification = good(&body);
        let types: Vec<_> = every_type().filter(|device_type| notification.has_override(device_type)).collect();
        types.iter().map(ToString::to_string).collect()
    };
    assert!(overridden(json!({"alert": "a", "ios": {}, "open::toaster": {}})).is_empty());
    assert_eq!(overridden(json!({"open::toaster": {"alert": "a"}})), ["open::toaster"]);
    assert_eq!(overridden(json!({"mms": {"template": {"external_id": "x"}}})), ["sms", "mms"]);
    assert_eq!(overridden(json!({"sms": {"alert": "a"}, "wns": {"alert": "a"}})), ["wns", "sms"]);
    let title = json!({"title": "t"});
    let titles = json!({"ios": title, "android": title, "amazon": title, "web": title});
    assert_eq!(overridden(titles), ["ios", "android", "amazon", "web"]);
    assert!(!good(&json!({"open::fridge": title})).has_override(&open("toaster")));
}

#[test]
fn pages_are_found_wherever_they_are_opened() {
    let page =
        |body: &str| json!({"open": {"type": "landing_page", "content": {"body": body, "content_type": "text/html"}}});
    let buttons = |body: &str| json!({"type": "ua_share", "button_actions": {"share": page(body)}});
    let notification = good(&json!({
        "actions": page("1"), "interactive": buttons("2"),
        "ios": {"actions": page("3"), "interactive": buttons("4")},
        "android": {"actions": page("5"), "interactive": buttons("6"), "wearable": {"interactive": buttons("7")}},
        "amazon": {"actions": page("8"), "interactive": buttons("9")},
        "web": {"actions": page("10"), "buttons": [{"id": "b", "label": "l", "actions": page("11")}]},
        "open::toaster": {"interactive": buttons("12")},
        "in_app": {"alert": "a", "display_type": "banner", "actions": page("13"), "interactive": buttons("14")},
    }));
    let mut found: Vec<u32> = notification.inline_pages().iter().map(|page| page.body.parse().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, (1..=14).collect::<Vec<_>>());
}

#[test]
fn browsers_get_built_in_buttons_in_their_own_form() {
    let web = |body: &Value| json!(parse(body.to_string().as_bytes(), Notification::parse).unwrap().for_web().unwrap());
    let interactive = json!({"type": "ua_yes_no_background", "button_actions": {"no": {"add_tag": "bored"}}});
    let built_in = web(&json!({"alert": "Hi", "interactive": interactive}));
    let expected = json!([
        {"id": "yes", "label": "Yes", "background": true},
        {"id": "no", "label": "No", "actions": {"add_tag": "bored"}, "background": true},
    ]);
    assert_eq!(built_in["buttons"], expected);
    let own = json!([{"id": "go", "label": "Go"}]);
    let chosen = web(&json!({"alert": "Hi", "interactive": interactive, "web": {"buttons": own}}));
    assert_eq!(chosen["buttons"], own);
    assert_eq!(web(&json!({"alert": "Hi", "interactive": {"type": "my_type"}})).get("buttons"), None);
}
