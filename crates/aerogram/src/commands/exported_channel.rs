//! A channel as lookups show it, written as the line of an import: `aerogram export` and `aerogram import airship` read the one and
//! write the other.

use model::tag::TagGroup;
use serde_json::{Map, Value, json};

/// Keys that lookups and imports have in common.
const COMMON: [&str; 16] = [
    "channel_id",
    "device_type",
    "opt_in",
    "background",
    "live",
    "push_address",
    "named_user_id",
    "alias",
    "tags",
    "attributes",
    "subscription_lists",
    "ios",
    "android",
    "web",
    "address",
    "open",
];
/// What devices report, as lookups call it and as registrations do.
const REPORTED: [(&str, &str); 8] = [
    ("ua_app_version", "app_version"),
    ("ua_sdk_version", "sdk_version"),
    ("ua_device_model", "device_model"),
    ("ua_device_os", "device_os"),
    ("ua_carrier", "carrier"),
    ("ua_local_tz", "timezone"),
    ("ua_language", "locale_language"),
    ("ua_country", "locale_country"),
];
/// Groups of tags that tell of the same where there are no attributes of the device.
const DERIVED: [(&str, &str); 3] =
    [("timezone", "timezone"), ("ua_locale_language", "locale_language"), ("ua_locale_country", "locale_country")];
/// Their tags where nothing is known, which is nothing to import.
const UNKNOWN: [&str; 2] = ["Unknown", "NO_TIME_ZONE"];

/// Why a channel is left out.
pub(super) enum LeftOut {
    Uninstalled,
    /// The device type, of which there are no channels here.
    Type(String),
}

/// The line of an import for a channel.
pub(super) fn line_of(mut channel: Map<String, Value>) -> Result<Value, LeftOut> {
    if channel.get("installed") == Some(&Value::Bool(false)) {
        return Err(LeftOut::Uninstalled);
    }
    let device_type = channel.get("device_type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !["ios", "android", "amazon", "web", "wns", "open"].contains(&device_type.as_str()) {
        return Err(LeftOut::Type(device_type));
    }
    let mut line = Map::new();
    for key in COMMON {
        if let Some(value) = channel.remove(key).filter(|value| !is_nothing(value)) {
            line.insert(key.to_owned(), value);
        }
    }
    if device_type == "open" {
        line.insert("type".to_owned(), json!("open"));
        // It would rename the channel once more.
        if let Some(Value::Object(open)) = line.get_mut("open") {
            open.remove("old_address");
        }
    }
    let (groups, reported) = (taken(&mut channel, "tag_groups"), taken(&mut channel, "device_attributes"));
    let reports_itself = device_type != "open";
    for (shown, key) in REPORTED {
        let is_taken = reports_itself || key.starts_with("locale") || key == "timezone";
        if let Some(Value::String(value)) = reported.get(shown).filter(|_| is_taken) {
            line.insert(key.to_owned(), json!(value));
        }
    }
    if let Some(Value::String(is_on)) = reported.get("ua_location_settings").filter(|_| reports_itself) {
        line.insert("location_settings".to_owned(), json!(is_on == "true"));
    }
    for (group, key) in DERIVED {
        let derived = groups.get(group).and_then(|tags| tags.get(0)?.as_str()).filter(|tag| !UNKNOWN.contains(tag));
        if let Some(value) = derived.filter(|_| !line.contains_key(key)) {
            line.insert(key.to_owned(), json!(value));
        }
    }
    let held: Map<String, Value> = groups.into_iter().filter(|(group, _)| is_held(group)).collect();
    if !held.is_empty() {
        line.insert("tag_groups".to_owned(), Value::Object(held));
    }
    Ok(Value::Object(line))
}

/// Nothing is said by what is empty, and a line is the shorter without it.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(keys) => keys.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn taken(channel: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match channel.remove(key) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// Whether the tags of a group are assigned, and do not follow from what the device reports.
fn is_held(group: &str) -> bool {
    group != "device" && TagGroup::new(group).is_ok_and(|group| !group.is_read_only())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(channel: Value) -> Value {
        let Value::Object(channel) = channel else { panic!("{channel}") };
        line_of(channel).unwrap_or_else(|_| panic!("left out"))
    }

    #[test]
    fn a_looked_up_channel_becomes_a_line() {
        let shown = json!({
            "channel_id": "c", "device_type": "ios", "installed": true, "opt_in": true, "background": false, "push_address": "AB",
            "created": "2024-01-01T00:00:00", "last_registration": "2024-01-01T00:00:00", "named_user_id": null, "alias": null,
            "tags": ["a"], "tag_groups": {"loyalty": ["gold"], "timezone": ["Europe/Berlin"], "ua_locale_language": ["de"],
                "ua_opt_in": ["true"]},
            "attributes": {}, "subscription_lists": ["weekly"], "ios": {"badge": 2},
            "device_attributes": {"ua_app_version": "3", "ua_location_settings": "true", "ua_country": "DE"},
        });
        let wanted = json!({
            "channel_id": "c", "device_type": "ios", "opt_in": true, "background": false, "push_address": "AB", "tags": ["a"],
            "tag_groups": {"loyalty": ["gold"]}, "subscription_lists": ["weekly"], "ios": {"badge": 2}, "app_version": "3",
            "location_settings": true, "locale_country": "DE", "locale_language": "de", "timezone": "Europe/Berlin",
        });
        assert_eq!(line(shown), wanted);
    }

    #[test]
    fn what_is_not_known_of_a_device_is_not_written() {
        let shown = json!({
            "channel_id": "c", "device_type": "ios", "opt_in": true, "push_address": "AB",
            "tag_groups": {"timezone": ["NO_TIME_ZONE"], "ua_locale_language": ["de"], "ua_locale_country": ["Unknown"]},
        });
        let wanted = json!({
            "channel_id": "c", "device_type": "ios", "opt_in": true, "push_address": "AB", "locale_language": "de",
        });
        assert_eq!(line(shown), wanted);
    }

    #[test]
    fn channels_that_nobody_can_reach_here_are_left_out() {
        let of = |channel: Value| line_of(channel.as_object().unwrap().clone());
        assert!(matches!(of(json!({"device_type": "ios", "installed": false})), Err(LeftOut::Uninstalled)));
        assert!(matches!(of(json!({"device_type": "email"})), Err(LeftOut::Type(name)) if name == "email"));
    }
}
