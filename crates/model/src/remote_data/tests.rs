//! What devices could not read is refused, with the path to it.

use serde_json::{Value, json};

use super::*;
use crate::json::parse;
use crate::limits;

/// The path of the first problem, or the value as it is printed.
fn read<T: Serialize>(body: &Value, parse_it: fn(&At<'_>) -> Option<T>) -> Result<Value, String> {
    let parsed = parse(body.to_string().as_bytes(), parse_it).map_err(|problems| problems.first().path.clone())?;
    Ok(serde_json::to_value(parsed).unwrap())
}

fn modal() -> Value {
    json!({
        "type": "in_app_message",
        "triggers": [{"type": "custom_event_count", "goal": 1, "predicate": {"and": [
            {"key": "event_name", "value": {"equals": "viewed_cart"}},
        ]}}],
        "limit": 3, "interval": 86400, "priority": 5, "start": "2030-05-01T00:00:00", "end": "2030-06-01T00:00:00",
        "campaigns": {"categories": ["spring"]}, "message_type": "commercial",
        "reporting_context": {"content_types": ["in_app"]},
        "delay": {"seconds": 5, "app_state": "foreground", "screen": ["cart"]},
        "audience": {"notification_opt_in": true, "locale": ["nb", "en-US"], "tags": {"not": {"tag": "staff"}},
                     "miss_behavior": "skip"},
        "message": {"name": "Cart", "display_type": "modal", "display": {
            "heading": {"text": "Sale"}, "body": {"text": "Today only", "size": 14, "color": "#222222"},
            "template": "header_media_body", "button_layout": "separate",
            "buttons": [{"id": "go", "label": {"text": "Show"}, "behavior": "dismiss", "actions": {"^u": "https://a.example"}}],
        }},
    })
}

/// The modal, with something else at a place.
fn with(pointer: &str, value: Value) -> Value {
    let mut body = modal();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = if parent.is_empty() { &mut body } else { body.pointer_mut(parent).unwrap() };
    parent.as_object_mut().unwrap().insert(key.to_owned(), value);
    body
}

#[test]
fn tags_in_a_message_are_found_and_judged() {
    let heading = |text: &str| with("/message/display/heading/text", json!(text));
    let mark = |body: &Value| read(body, InAppMessage::parse).map(|printed| printed.get("personalization").cloned());
    assert_eq!(mark(&modal()), Ok(None));
    assert_eq!(mark(&heading("Hi {{name}}")), Ok(Some(json!(true))));
    let button = with("/message/display/buttons/0/actions", json!({"^u": "https://a.example/{{id}}"}));
    assert_eq!(mark(&button), Ok(Some(json!(true))));
    let words = json!([{"locale": {"language": "nb"}, "message": {"display": {"body": {"text": "Hei {{name}}"}}}}]);
    assert_eq!(mark(&with("/localizations", words)), Ok(Some(json!(true))));
    assert_eq!(mark(&with("/personalization", json!(true))), Ok(None), "there is nothing to fill in");
    for text in ["{{#if name}}", "{{> snippet}}"] {
        assert_eq!(mark(&heading(text)), Err("message.display.heading.text".to_owned()));
    }
    let mut literal = heading("{{#if name}}");
    literal["personalization"] = json!(false);
    assert_eq!(mark(&literal), Ok(Some(json!(false))));
    let names: String = (0..=limits::NAMES_PER_PUSH).map(|n| format!("{{{{n{n}}}}}")).collect();
    assert_eq!(mark(&heading(&names)), Err("message.display.heading.text".to_owned()));
}

#[test]
fn a_message_is_printed_for_devices() {
    let printed = read(&modal(), InAppMessage::parse).unwrap();
    assert_eq!(printed["triggers"][0]["id"], "t1", "a trigger without an id gets one");
    assert_eq!(printed["end"], "2030-06-01T00:00:00");
    let again = read(&printed, InAppMessage::parse).unwrap();
    assert_eq!(again, printed, "what was answered can be sent back");
    let banner = json!({"display_type": "banner", "display": {"body": {"text": "Hi"}, "media": {
        "url": "https://a.example/b.png", "type": "image",
    }}});
    let printed = read(&with("/message", banner), InAppMessage::parse).unwrap();
    assert_eq!(printed["message"]["display"]["duration"], 15.0);
    assert_eq!(printed["message"]["display"]["media"]["description"], "");
    let region = read(&with("/delay", json!({"region": "shop"})), InAppMessage::parse).unwrap();
    assert_eq!(region["delay"], json!({"region": "shop", "region_id": "shop"}));
}

#[test]
fn a_message_that_devices_would_drop_is_refused() {
    let label = json!({"text": "x"});
    let button = |id: &str| json!({"id": id, "label": label});
    for (pointer, value, path) in [
        ("/type", json!("popup"), "type"),
        ("/triggers", json!([]), "triggers"),
        ("/triggers", json!([{"type": "shake", "goal": 1}]), "triggers[0].type"),
        ("/triggers", json!([{"type": "screen"}]), "triggers[0].goal"),
        (
            "/triggers",
            json!([{"type": "and", "goal": 1, "children": [{"trigger": {"type": "screen", "goal": 1}}]}]),
            "triggers[0].id",
        ),
        (
            "/triggers",
            json!([{"type": "chain", "id": "c", "goal": 1, "children": [{"trigger": {"type": "shake"}}]}]),
            "triggers[0].children[0].trigger.type",
        ),
        (
            "/triggers",
            json!([{"type": "screen", "goal": 1, "predicate": {"value": {}}}]),
            "triggers[0].predicate.value",
        ),
        ("/triggers", json!([{"type": "screen", "goal": 1, "predicate": {"key": "a"}}]), "triggers[0].predicate.value"),
        ("/end", json!("2030-04-01T00:00:00"), "end"),
        ("/end", json!("tomorrow"), "end"),
        ("/delay/screen", json!("cart"), "delay.screen"),
        (
            "/delay/execution_window",
            json!({"include": [{"type": "daily"}]}),
            "delay.execution_window.include[0].time_range",
        ),
        ("/audience/tags", json!({"tag": "a", "and": []}), "audience.tags.and"),
        ("/audience/tags", json!({}), "audience.tags.tag"),
        (
            "/audience/hash",
            json!({"audience_hash": {}, "audience_subset": {}}),
            "audience.hash.audience_hash.hash_prefix",
        ),
        ("/audience/new_user", json!("yes"), "audience.new_user"),
        ("/audience/miss_behavior", json!("wait"), "audience.miss_behavior"),
        (
            "/compound_audience",
            json!({"selector": {"type": "and", "selectors": []}}),
            "compound_audience.miss_behavior",
        ),
        ("/message/display_type", json!("toast"), "message.display_type"),
        ("/message/display/heading", json!({"text": ""}), ""),
        ("/message/display/buttons", json!([button("a"), button("b"), button("c")]), "message.display.buttons"),
        ("/message/display/buttons", json!([{"id": "a", "label": "text"}]), "message.display.buttons[0].label"),
        ("/message/display/buttons", json!([button("")]), "message.display.buttons[0].id"),
        ("/message/display/background_color", json!("red"), "message.display.background_color"),
        ("/message/display/media", json!({"url": "https://a.example"}), "message.display.media.type"),
        ("/message", json!({"display_type": "html", "display": {"url": "http://a.example"}}), "message.display.url"),
        ("/message", json!({"display_type": "banner", "display": {"buttons": []}}), "message.display"),
        ("/localizations", json!([{"locale": {}, "message": {}}]), "localizations[0].locale"),
        (
            "/localizations",
            json!([{"locale": {"language": "nb"}, "message": {"display": {"heading": 5}}}]),
            "localizations[0].message",
        ),
        ("/server_audience", json!({"tag": 5}), "server_audience.tag"),
        ("/surprise", json!(1), "surprise"),
    ] {
        let mut body = with(pointer, value.clone());
        if path.is_empty() {
            // Neither of the texts says anything.
            body["message"]["display"]["body"] = json!({"text": ""});
            assert_eq!(read(&body, InAppMessage::parse).unwrap_err(), "message.display");
            continue;
        }
        assert_eq!(read(&body, InAppMessage::parse).unwrap_err(), path, "{pointer}: {value}");
    }
}

fn scene() -> Value {
    let color = json!({"default": {"type": "hex", "hex": "#111111", "alpha": 1}});
    let label = json!({"type": "label", "text": "Hi", "text_appearance": {"font_size": 18, "color": color}});
    let size = json!({"width": "100%", "height": "auto"});
    json!({
        "version": 1,
        "presentation": {"type": "modal", "default_placement": {"size": {"width": "80%", "height": "auto"}}},
        "view": {"type": "linear_layout", "direction": "vertical", "items": [
            {"size": size, "view": label},
            {"size": size, "view": {"type": "label_button", "identifier": "ok", "label": label, "button_click": ["dismiss"]}},
        ]},
    })
}

#[test]
fn scenes_are_checked_as_far_as_libraries_need_it() {
    assert_eq!(read(&scene(), Layout::parse).unwrap(), scene(), "passed on as it was given");
    for (pointer, value, path) in [
        ("/version", json!(3), "version"),
        ("/presentation/type", json!("poster"), "presentation.type"),
        ("/presentation/default_placement", json!({}), "presentation.default_placement.size"),
        ("/view/type", json!("circle"), "view.type"),
        ("/view/items/0/view/type", json!("circle"), "view.items[0].view.type"),
        ("/view/items/0/view", json!({"type": "label"}), "view.items[0].view.text"),
        ("/view/items/1/view/label/text_appearance", json!({}), "view.items[1].view.label.text_appearance.color"),
        ("/view/items/1", json!({"view": {"type": "empty_view"}}), "view.items[1].size"),
    ] {
        let mut body = scene();
        *body.pointer_mut(pointer).unwrap() = value;
        assert_eq!(read(&body, Layout::parse).unwrap_err(), path);
    }
}

#[test]
fn forms_flags_and_constraints() {
    let form = |item: Value| json!({"form": {"id": "news", "sections": [{"type": "section", "id": "s", "items": [item]}]}, "platforms": ["ios"]});
    let switch =
        json!({"type": "channel_subscription", "id": "i", "subscription_id": "weekly", "display": {"name": "Weekly"}});
    assert_eq!(read(&form(switch.clone()), PreferenceForm::parse).unwrap(), form(switch));
    let item = "form.sections[0].items[0]";
    for (broken, path) in [
        (json!({"type": "channel_subscription", "id": "i"}), "subscription_id"),
        (json!({"type": "contact_subscription", "id": "i", "subscription_id": "w", "scopes": []}), "scopes"),
        (json!({"type": "contact_management", "id": "i"}), "type"),
        (
            json!({"type": "alert", "id": "i", "conditions": [{"type": "sms_opt_in", "when_status": "opt_in"}]}),
            "conditions[0].type",
        ),
    ] {
        assert_eq!(read(&form(broken), PreferenceForm::parse).unwrap_err(), format!("{item}.{path}"));
    }
    let twice = form(json!({"type": "alert", "id": "s"}));
    assert_eq!(read(&twice, PreferenceForm::parse).unwrap_err(), "form.sections");

    let flag = json!({"name": "checkout", "variables": {"type": "variant", "variants": [{"id": "a", "data": {"color": "blue"}}]}});
    assert_eq!(read(&flag, FeatureFlag::parse).unwrap(), flag);
    for (broken, path) in [
        (json!({"name": ""}), "name"),
        (json!({"name": "a", "variables": {"type": "fixed", "data": 5}}), "variables.data"),
        (json!({"name": "a", "variables": {"type": "variant", "variants": [{"id": "a"}, {"id": "a"}]}}), "variables"),
        (
            json!({"name": "a", "variables": {"type": "variant", "variants": [{"id": "a", "server_audience": {"tag": "x"}}]}}),
            "variables",
        ),
        (
            json!({"name": "a", "server_audience": {"tag": "x"}, "variables": {"type": "variant", "variants": [
                {"id": "a", "audience_selector": {}},
            ]}}),
            "variables",
        ),
        (
            json!({"name": "a", "time_criteria": {"start_timestamp": 2, "end_timestamp": 1}}),
            "time_criteria.end_timestamp",
        ),
    ] {
        assert_eq!(read(&broken, FeatureFlag::parse).unwrap_err(), path, "{broken}");
    }

    let constraint =
        |period: &str| json!({"frequency_constraints": [{"id": "f", "range": 2, "period": period, "boundary": 1}]});
    let weeks = read(&constraint("weeks"), FrequencyConstraints::parse).unwrap();
    let days = json!({"id": "f", "range": 14, "period": "days", "boundary": 1});
    assert_eq!(weeks["frequency_constraints"], json!([days]));
    assert_eq!(
        read(&constraint("fortnights"), FrequencyConstraints::parse).unwrap_err(),
        "frequency_constraints[0].period"
    );
    let twice = json!({"frequency_constraints": [days, days]});
    assert_eq!(read(&twice, FrequencyConstraints::parse).unwrap_err(), "frequency_constraints");

    let group = json!({"name": "5 %", "audience_selector": {"hash": {
        "audience_hash": {"hash_prefix": "g:", "num_hash_buckets": 100, "hash_identifier": "contact", "hash_algorithm": "farm_hash"},
        "audience_subset": {"min_hash_bucket": 0, "max_hash_bucket": 4},
    }}, "message_exclusions": [{"message_type": {"value": {"equals": "transactional"}}}]});
    assert_eq!(read(&group, HoldoutGroup::parse).unwrap(), group);
    let mut broken = group;
    broken["audience_selector"]["hash"]["audience_subset"]["max_hash_bucket"] = json!(100);
    assert_eq!(read(&broken, HoldoutGroup::parse).unwrap_err(), "audience_selector.hash.audience_subset");
}
