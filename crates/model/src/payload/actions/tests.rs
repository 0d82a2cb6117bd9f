//! Actions: which are accepted, where mistakes are reported, and their form on devices.

use serde_json::{Value, json};

use super::*;
use crate::json::parse;

fn read(body: &Value) -> Result<Actions, String> {
    parse(body.to_string().as_bytes(), Actions::parse).map_err(|problems| problems.first().path.clone())
}

#[test]
fn good_actions_print_as_they_came() {
    for body in [
        json!({"add_tag": "news"}),
        json!({"add_tag": ["news", "news"], "remove_tag": ["old"]}),
        json!({"share": "Look at this"}),
        json!({"open": {"type": "url", "content": "https://example.com/a"}}),
        json!({"open": {"type": "url", "content": "tel:15035551234"}}),
        json!({"open": {"type": "landing_page", "content": {"url": "https://x.example"}, "fallback_url": "https://example.com"}}),
        json!({"open": {"type": "deep_link", "content": "app://x", "fallback_url": "https://example.com"}}),
        json!({"open": {"type": "landing_page", "content": {"url": "https://example.com/page"}}}),
        json!({"open": {"type": "landing_page", "content": {"body": "<p>", "content_type": "text/html"}}}),
        json!({"open": {"type": "landing_page", "content":
            {"body": "PHA+", "content_type": "text/html", "content_encoding": "base64"}}}),
        json!({"open": {"type": "scene", "content":
            {"template": {"template_id": "7f7b2c3e-0d1f-4f0e-9a51-5b8f3b9d0c11"}}}}),
        json!({"open": {"type": "home"}}),
        json!({"app_defined": {"my_action": {"deep": [1, null]}, "^u": "https://example.com"}}),
        json!({"share": "x", "app_defined": {"^u": "https://example.com"}}),
        json!({"add_custom_event": {"name": "tapped", "value": 1.5, "properties": {"a": [true]}}}),
        json!({"attributes": [
            {"action": "set", "type": "channel", "name": "color", "value": "red"},
            {"action": "remove", "type": "contact", "name": "size"}]}),
        json!({"tags": [{"type": "channel", "action": "add", "group": "g", "tags": ["t"]},
            {"type": "contact", "action": "remove", "tags": "t"}]}),
        json!({"subscription_list": [
            {"type": "contact", "action": "subscribe", "list_id": "weekly", "scope": "app"},
            {"type": "channel", "action": "unsubscribe", "list_id": "daily"}]}),
    ] {
        let actions = read(&body).unwrap_or_else(|path| panic!("{body}: {path}"));
        assert_eq!(json!(actions), body);
    }
}

#[test]
fn mistakes_are_reported_where_they_are() {
    let landing_page = |content: Value| json!({"open": {"type": "landing_page", "content": content}});
    for (body, path) in [
        (json!(null), ""),
        (json!({}), ""),
        (json!([]), ""),
        (json!({"tag": "x"}), "tag"),
        (json!({"add_tag": null}), "add_tag"),
        (json!({"add_tag": []}), "add_tag"),
        (json!({"add_tag": ["a", null]}), "add_tag[1]"),
        (json!({"add_tag": "x".repeat(129)}), "add_tag"),
        (json!({"remove_tag": ["a", ""]}), "remove_tag[1]"),
        (json!({"remove_tag": vec!["a"; 101]}), "remove_tag"),
        (json!({"share": ""}), "share"),
        (json!({"share": "x".repeat(1025)}), "share"),
        (json!({"open": "https://example.com"}), "open"),
        (json!({"open": {"content": "https://example.com"}}), "open.type"),
        (json!({"open": {"type": "uri", "content": "x"}}), "open.type"),
        (json!({"open": {"type": "url"}}), "open.content"),
        (json!({"open": {"type": "url", "content": ""}}), "open.content"),
        (json!({"open": {"type": "url", "content": "x", "fallback_url": "http://x"}}), "open.fallback_url"),
        (json!({"open": {"type": "deep_link", "content": "x".repeat(1025)}}), "open.content"),
        (json!({"open": {"type": "deep_link", "content": "x", "fallback_url": "x"}}), "open.fallback_url"),
        (json!({"open": {"type": "home", "content": "x"}}), "open.content"),
        (
            json!({"open": {"type": "scene", "content": {"template": {"template_id": "x"}}}}),
            "open.content.template.template_id",
        ),
        (landing_page(json!("<p>")), "open.content"),
        (landing_page(json!({"body": "<p>"})), "open.content.content_type"),
        (landing_page(json!({"content_type": "text/html"})), "open.content.body"),
        (landing_page(json!({"body": "", "content_type": "text/html"})), "open.content.body"),
        (landing_page(json!({"body": "x".repeat(8193), "content_type": "text/html"})), "open.content.body"),
        (landing_page(json!({"body": "x", "content_type": "html"})), "open.content.content_type"),
        (
            landing_page(json!({"body": "x", "content_type": "a/b", "content_encoding": "gzip"})),
            "open.content.content_encoding",
        ),
        (landing_page(json!({"body": "%", "content_type": "a/b", "content_encoding": "base64"})), "open.content.body"),
        (landing_page(json!({"url": "x"})), "open.content.url"),
        (landing_page(json!({"url": "https://x", "body": "x"})), "open.content.body"),
        (json!({"app_defined": []}), "app_defined"),
        (json!({"share": "x", "app_defined": {"^s": "y"}}), "app_defined.^s"),
        (json!({"share": "x", "app_defined": {"share_action": "y"}}), "app_defined.share_action"),
        (json!({"share": "x", "app_defined": {"share": "y"}}), "app_defined.share"),
        (json!({"add_tag": "x", "app_defined": {"add_tags_action": "y"}}), "app_defined.add_tags_action"),
        (json!({"open": {"type": "url", "content": "x"}, "app_defined": {"^u": "y"}}), "app_defined.^u"),
        (json!({"add_custom_event": {"value": 1}}), "add_custom_event.name"),
        (json!({"add_custom_event": {"name": "x", "value": "1"}}), "add_custom_event.value"),
        (json!({"attributes": []}), "attributes"),
        (json!({"attributes": [{"action": "set", "type": "channel", "name": "a"}]}), "attributes[0].value"),
        (
            json!({"attributes": [{"action": "set", "type": "channel", "name": "a", "value": null}]}),
            "attributes[0].value",
        ),
        (
            json!({"attributes": [{"action": "remove", "type": "channel", "name": "a", "value": 1}]}),
            "attributes[0].value",
        ),
        (json!({"attributes": [{"action": "set", "type": "user", "name": "a", "value": 1}]}), "attributes[0].type"),
        (json!({"tags": [{"type": "channel", "action": "set", "tags": ["t"]}]}), "tags[0].action"),
        (json!({"tags": [{"type": "channel", "action": "add", "tags": []}]}), "tags[0].tags"),
        (
            json!({"subscription_list": [{"type": "channel", "action": "add", "list_id": "x"}]}),
            "subscription_list[0].action",
        ),
        (
            json!({"subscription_list": [{"type": "channel", "action": "subscribe", "list": "x"}]}),
            "subscription_list[0].list_id",
        ),
    ] {
        assert_eq!(read(&body).unwrap_err(), path, "{body}");
    }
}

#[test]
fn devices_know_actions_by_short_names() {
    let actions = read(&json!({
        "add_tag": ["a", "b"],
        "remove_tag": "c",
        "share": "text",
        "open": {"type": "landing_page", "content": {"body": "<p>", "content_type": "text/html"}},
        "app_defined": {"mine": {"x": 1}},
        "add_custom_event": {"name": "tapped", "value": 2},
        "attributes": [
            {"action": "set", "type": "channel", "name": "color", "value": "red"},
            {"action": "set", "type": "contact", "name": "size", "value": 4},
            {"action": "remove", "type": "contact", "name": "a"},
            {"action": "remove", "type": "contact", "name": "b"}],
        "tags": [{"type": "channel", "action": "add", "group": "g", "tags": "t"}],
        "subscription_list": [{"type": "contact", "action": "subscribe", "list_id": "weekly", "scope": "app"}]
    }))
    .unwrap();
    let named = actions.for_device(|page| format!("https://pages.example/{}", page.body.len()));
    let expected = json!({
        "^+t": ["a", "b"],
        "^-t": "c",
        "^s": "text",
        "^p": {"url": "https://pages.example/3"},
        "mine": {"x": 1},
        "add_custom_event_action": {"event_name": "tapped", "event_value": 2},
        "^a": {
            "channel": {"set": {"color": "red"}},
            "named_user": {"set": {"size": 4}, "remove": ["a", "b"]}
        },
        "^t": [{"type": "channel", "action": "add", "group": "g", "tags": ["t"]}],
        "^sl": [{"type": "contact", "action": "subscribe", "list": "weekly", "scope": "app"}]
    });
    assert_eq!(Value::Object(named), expected);

    for (open, expected) in [
        (json!({"type": "url", "content": "https://e.com"}), json!({"^u": "https://e.com"})),
        (json!({"type": "deep_link", "content": "app://x"}), json!({"^d": "app://x"})),
        (json!({"type": "landing_page", "content": {"url": "https://e.com"}}), json!({"^p": {"url": "https://e.com"}})),
        (json!({"type": "home"}), json!({})),
    ] {
        let actions = read(&json!({"open": open})).unwrap();
        let named = actions.for_device(|_| panic!("there is no inline page"));
        assert_eq!(Value::Object(named), expected);
        let in_browser = actions.for_browser(|_| panic!("there is no inline page"));
        assert_eq!(Value::Object(in_browser), expected);
    }
    let link =
        json!({"share": "x", "open": {"type": "deep_link", "content": "app://x", "fallback_url": "https://e.com"}});
    let actions = read(&link).unwrap();
    let no_page = |_: &InlinePage| panic!("there is no inline page");
    assert_eq!(Value::Object(actions.for_device(no_page)), json!({"^s": "x", "^d": "app://x"}));
    assert_eq!(Value::Object(actions.for_browser(no_page)), json!({"^s": "x", "^u": "https://e.com"}));
}

#[test]
fn names_in_use() {
    let actions = read(&json!({"share": "x", "app_defined": {"mine": 1}})).unwrap();
    for (name, used) in [("^s", true), ("share_action", true), ("mine", true), ("share", false), ("^u", false)] {
        assert_eq!(actions.uses_device_name(name), used, "{name}");
    }
    assert!(actions.inline_page().is_none());
    let page = json!({"open": {"type": "landing_page", "content":
        {"body": "aGk=", "content_type": "text/plain", "content_encoding": "base64"}}});
    assert_eq!(read(&page).unwrap().inline_page().unwrap().bytes(), b"hi");
}
