//! What every event must look like: a table of the keys of each type, which of them have to be there, and what they hold.
//! Whatever is not in the table is wrong.

mod changes;
mod scenes;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

#[derive(Clone, Copy)]
enum Shape {
    Text,
    /// A whole number, as text.
    Digits,
    Uuid,
    /// ISO 8601 in UTC with milliseconds.
    Time,
    Flag,
    WholeNumber,
    Number,
    /// Text that is JSON after decoding.
    Base64,
    OneOf(&'static [&'static str]),
    Texts,
    /// Any keys, whose values are text.
    TextMap,
    /// Groups of tags.
    TagSets,
    /// An object of the customer's own.
    Own,
    /// Whatever somebody has entered.
    Anything,
    Object(&'static [Key]),
    List(&'static [Key]),
}

use Shape::{
    Anything, Base64, Digits, Flag, List, Number, Object, OneOf, Own, TagSets, Text, TextMap, Texts, Time, Uuid,
    WholeNumber,
};

struct Key {
    name: &'static str,
    shape: Shape,
    is_required: bool,
}

const fn must(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, is_required: true }
}

const fn may(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, is_required: false }
}

const CAMPAIGNS: Shape = Object(&[must("categories", Texts)]);
const ASSOCIATED: [Key; 5] = [
    must("push_id", Uuid),
    may("group_id", Uuid),
    may("variant_id", WholeNumber),
    may("time", Time),
    may("campaigns", CAMPAIGNS),
];
const PUSH: Shape = Object(&ASSOCIATED);

const ENVELOPE: &[Key] = &[
    must("id", Uuid),
    must("offset", Digits),
    must("occurred", Time),
    must("processed", Time),
    must("type", Text),
    may("device", Object(DEVICE)),
    may("user", Object(&[must("contact_id", Uuid), may("named_user_id", Text)])),
    // Each type has its own.
    may("body", Own),
];

const DEVICE: &[Key] = &[
    may("ios_channel", Uuid),
    may("android_channel", Uuid),
    may("amazon_channel", Uuid),
    must("channel", Uuid),
    must("device_type", OneOf(&["IOS", "ANDROID", "AMAZON", "WEB", "WNS", "SMS", "MMS", "EMAIL", "OPEN"])),
    may("open_platform_name", Text),
    may("named_user_id", Text),
    may("identifiers", TextMap),
    must("attributes", Object(ATTRIBUTES)),
];

const FLAG_TEXT: Shape = OneOf(&["true", "false"]);
const ATTRIBUTES: &[Key] = &[
    may("locale_variant", Text),
    may("app_version", Text),
    may("device_model", Text),
    may("connection_type", Text),
    may("app_package_name", Text),
    may("iana_timezone", Text),
    must("push_opt_in", FLAG_TEXT),
    may("locale_country_code", Text),
    may("device_os", Text),
    may("locale_timezone", Text),
    may("locale_language_code", Text),
    may("location_enabled", FLAG_TEXT),
    may("background_push_enabled", FLAG_TEXT),
    may("ua_sdk_version", Text),
    may("location_permission", Text),
    may("web_browser_name", Text),
    may("web_browser_type", Text),
    may("web_browser_version", Text),
    may("web_user_agent_string", Text),
];

const SHOWN: [Key; 8] = [
    may("push_id", Uuid),
    may("app_defined_id", Text),
    may("group_id", Uuid),
    may("variant_id", WholeNumber),
    may("session_id", Text),
    may("triggering_push", PUSH),
    may("campaigns", CAMPAIGNS),
    may("context", Own),
];

const RESOLUTION: &[Key] = &[
    must("type", OneOf(&["BUTTON_CLICK", "MESSAGE_CLICK", "TIMED_OUT", "USER_DISMISSED"])),
    must("duration", WholeNumber),
    may("time_sent", Time),
    may("button_id", Text),
    may("button_group", Text),
    may("button_description", Text),
];

const EXPIRATION: &[Key] = &[
    must("type", OneOf(&["REPLACED", "EXPIRED", "ALREADY_DISPLAYED"])),
    may("replacing_push", PUSH),
    may("time_sent", Time),
    may("time_expired", Time),
];

const RICH: &[Key] = &[
    must("push_id", Uuid),
    may("group_id", Uuid),
    may("variant_id", WholeNumber),
    may("time", Time),
    may("campaigns", CAMPAIGNS),
    may("context", Object(&[must("extra", TextMap)])),
];

/// The keys of the bodies, by type. Some types share keys.
const BODIES: &[(&str, &[&[Key]])] = &[
    (
        "PUSH_BODY",
        &[&[
            must("push_id", Uuid),
            may("group_id", Uuid),
            may("campaigns", CAMPAIGNS),
            must("resource", OneOf(&["PUSH", "SCHEDULES", "EXPERIMENTS", "PIPELINES"])),
            may("payload", Base64),
            must("trimmed", Flag),
        ]],
    ),
    (
        "SEND",
        &[&[
            must("push_id", Uuid),
            may("group_id", Uuid),
            may("variant_id", WholeNumber),
            may("campaigns", CAMPAIGNS),
            must("alerting", Flag),
            may("context", Object(&[must("triggered_by", Text), must("event_uuid", Uuid)])),
        ]],
    ),
    (
        "CONTROL",
        &[&[must("push_id", Uuid), may("group_id", Uuid), may("campaigns", CAMPAIGNS), may("experiment_id", Uuid)]],
    ),
    ("FIRST_OPEN", &[]),
    ("UNINSTALL", &[&[must("decay", Flag)]]),
    ("TAG_CHANGE", &[&[must("add", TagSets), must("remove", TagSets), must("current", TagSets)]]),
    ("OPEN", &[&[must("session_id", Text), may("last_delivered", PUSH), may("triggering_push", PUSH)]]),
    ("CLOSE", &[&[must("session_id", Text)]]),
    ("RICH_DELIVERY", &[RICH]),
    ("RICH_READ", &[RICH]),
    ("RICH_DELETE", &[RICH]),
    (
        "CUSTOM",
        &[&[
            must("name", Text),
            must("source", OneOf(&["API", "SDK"])),
            may("session_id", Text),
            may("value", Number),
            may("transaction", Text),
            may("interaction_id", Text),
            may("interaction_type", Text),
            may("customer_id", Text),
            may("properties", Own),
            may("last_delivered", PUSH),
            may("triggering_push", PUSH),
        ]],
    ),
    (
        "LOCATION",
        &[&[may("latitude", Text), may("longitude", Text), must("foreground", Flag), may("session_id", Text)]],
    ),
    (
        "REGION",
        &[&[
            must("action", OneOf(&["enter", "exit"])),
            must("region_id", Text),
            may("name", Text),
            must("source_info", Object(&[must("source", Text), must("region_id", Text)])),
            may("session_id", Text),
        ]],
    ),
    (
        "SCREEN_VIEWED",
        &[&[
            must("viewed_screen", Text),
            may("previous_screen", Text),
            must("duration", WholeNumber),
            may("session_id", Text),
        ]],
    ),
    ("IN_APP_MESSAGE_DISPLAY", &[&SHOWN]),
    ("IN_APP_MESSAGE_RESOLUTION", &[&SHOWN, RESOLUTION]),
    ("IN_APP_MESSAGE_EXPIRATION", &[&SHOWN, EXPIRATION]),
];

/// All types of events.
pub(crate) fn types() -> BTreeSet<String> {
    all_bodies().map(|(name, _)| (*name).to_owned()).collect()
}

fn all_bodies() -> impl Iterator<Item = &'static (&'static str, &'static [&'static [Key]])> {
    BODIES.iter().chain(scenes::BODIES).chain(changes::BODIES)
}

/// Says what is wrong with an event.
pub(crate) fn check(event: &Value) -> Result<(), String> {
    check_shape("", event, Object(ENVELOPE))?;
    let kind = event["type"].as_str().unwrap_or_default();
    let Some((_, keys)) = all_bodies().find(|(name, _)| *name == kind) else {
        return Err(format!("'{kind}' is no type of events"));
    };
    match (kind, event.get("device")) {
        ("PUSH_BODY", None) => {}
        ("PUSH_BODY", Some(_)) => return Err("a push is not about a device".to_owned()),
        // An event of a named user who has no device.
        ("CUSTOM", None) if event["body"].get("customer_id").is_some() => {}
        (_, None) => return Err("the device is missing".to_owned()),
        (_, Some(device)) => check_names(device)?,
    }
    match (kind, event.get("body")) {
        ("FIRST_OPEN" | "FIRST_OPT_IN", None) => Ok(()),
        ("FIRST_OPEN" | "FIRST_OPT_IN", Some(_)) => Err("there is nothing more to say".to_owned()),
        (_, None) => Err("the body is missing".to_owned()),
        (_, Some(body)) => check_keys("body", body, &keys.iter().copied().flatten().collect::<Vec<_>>()),
    }
}

/// The platform has a key of its own for its channel, unless it is one of the newer ones.
fn check_names(device: &Value) -> Result<(), String> {
    for (key, device_type) in [("ios_channel", "IOS"), ("android_channel", "ANDROID"), ("amazon_channel", "AMAZON")] {
        let expected = (device["device_type"] == device_type).then_some(&device["channel"]);
        if device.get(key) != expected {
            return Err(format!("device.{key} is {:?}", device.get(key)));
        }
    }
    let is_open = device["device_type"] == "OPEN";
    if device.get("open_platform_name").is_some() == is_open { Ok(()) } else { Err(format!("{device}")) }
}

fn check_keys(path: &str, value: &Value, keys: &[&Key]) -> Result<(), String> {
    let object = value.as_object().ok_or_else(|| format!("{path} is no object"))?;
    if let Some(unknown) = object.keys().find(|name| !keys.iter().any(|key| key.name == name.as_str())) {
        return Err(format!("{path} has the unknown key '{unknown}'"));
    }
    for key in keys {
        let path = format!("{path}.{}", key.name);
        match object.get(key.name) {
            Some(value) => check_shape(&path, value, key.shape)?,
            None if key.is_required => return Err(format!("{path} is missing")),
            None => {}
        }
    }
    Ok(())
}

fn check_shape(path: &str, value: &Value, shape: Shape) -> Result<(), String> {
    let text = || value.as_str().unwrap_or_default();
    let all_text = |map: &Map<String, Value>| map.values().all(Value::is_string);
    let texts = |list: &Value| list.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    let fits = match shape {
        Object(keys) => return check_keys(path, value, &keys.iter().collect::<Vec<_>>()),
        List(keys) => {
            let items = value.as_array().ok_or_else(|| format!("{path} is no array"))?;
            return items.iter().try_for_each(|item| check_keys(path, item, &keys.iter().collect::<Vec<_>>()));
        }
        Anything => true,
        Text => value.is_string(),
        Digits => !text().is_empty() && text().bytes().all(|byte| byte.is_ascii_digit()),
        Uuid => text().len() == 36 && text().parse::<uuid::Uuid>().is_ok(),
        Time => is_time(text()),
        Flag => value.is_boolean(),
        WholeNumber => value.is_u64(),
        Number => value.is_number(),
        Base64 => base64::Engine::decode(&base64::prelude::BASE64_STANDARD, text())
            .is_ok_and(|bytes| serde_json::from_slice::<Value>(&bytes).is_ok()),
        OneOf(words) => words.contains(&text()),
        Texts => texts(value),
        TextMap => value.as_object().is_some_and(all_text),
        TagSets => value.as_object().is_some_and(|groups| groups.values().all(texts)),
        Own => value.is_object(),
    };
    if fits { Ok(()) } else { Err(format!("{path} is {value}")) }
}

fn is_time(text: &str) -> bool {
    const FORM: &str = "dddd-dd-ddTdd:dd:dd.dddZ";
    let fits = |(c, form): (char, char)| if form == 'd' { c.is_ascii_digit() } else { c == form };
    text.len() == FORM.len() && text.chars().zip(FORM.chars()).all(fits)
}

#[test]
fn events_that_are_not_as_they_should_be_are_found() {
    let id = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
    let time = "2024-05-01T12:00:00.000Z";
    let device = json!({"ios_channel": id, "channel": id, "device_type": "IOS", "attributes": {"push_opt_in": "true"}});
    let good = json!({
        "id": id, "offset": "131072", "occurred": time, "processed": time, "type": "OPEN", "device": device,
        "body": {"session_id": "s", "triggering_push": {"push_id": id}},
    });
    assert_eq!(check(&good), Ok(()));
    for (pointer, value, wrong) in [
        ("/type", json!("OPENED"), "no type"),
        ("/offset", json!(131_072), ".offset is 131072"),
        ("/occurred", json!("2024-05-01T12:00:00Z"), ".occurred is"),
        ("/id", json!("x"), ".id is"),
        ("/device", json!({}), "channel is missing"),
        ("/device/attributes/push_opt_in", json!(true), "push_opt_in is true"),
        ("/device/ios_channel", json!("9c36e8c7-5a73-47c0-9716-99fd3d4197d6"), "device.ios_channel"),
        ("/body/session_id", json!(null), "session_id is null"),
        ("/body/triggering_push", json!({}), "push_id is missing"),
        ("/body", json!({"session_id": "s", "extra": 1}), "unknown key 'extra'"),
    ] {
        let mut event = good.clone();
        *event.pointer_mut(pointer).unwrap() = value;
        let said = check(&event).unwrap_err();
        assert!(said.contains(wrong), "{pointer}: {said}");
    }
    for (kind, keys) in BODIES {
        let n_required = keys.iter().copied().flatten().filter(|key| key.is_required).count();
        let mut event = good.clone();
        event["type"] = json!(kind);
        event["body"] = json!({});
        let is_empty_enough = n_required == 0 && *kind != "FIRST_OPEN";
        assert_eq!(check(&event).is_ok(), is_empty_enough, "{kind}");
    }
    assert_eq!(BODIES.len(), 18);
}
