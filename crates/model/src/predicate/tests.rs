//! Which events predicates hold for, and what is wrong with some.

use serde_json::{Value, json};

use super::Predicate;
use crate::json::parse;

fn holds(predicate: &Value, value: &Value) -> bool {
    parse(predicate.to_string().as_bytes(), Predicate::parse).unwrap().holds(value)
}

#[test]
fn every_matcher_says_yes_and_no() {
    let event = json!({
        "type": "CUSTOM", "device": {"device_type": "ANDROID", "attributes": {"app_version": "2.4.1"}},
        "body": {"name": "Bought", "value": 12.5, "properties": {"items": ["hat", "shoe"], "gift": true, "none": null}},
    });
    let at = |scope: &[&str], key: &str, value: Value| json!({"scope": scope, "key": key, "value": value});
    let items = |value: Value| at(&["body", "properties"], "items", value);
    let version = |range: &str| at(&["device", "attributes"], "app_version", json!({"version_matches": range}));
    let is = |text: &str| json!({"value": {"equals": text}});
    let name = |value: Value| at(&["body"], "name", value);
    for (predicate, wanted) in [
        (json!({"key": "type", "value": {"equals": "CUSTOM"}}), true),
        (json!({"key": "type", "value": {"equals": "custom"}}), false),
        (json!({"key": "type", "value": {"equals": "custom"}, "ignore_case": true}), true),
        (json!({"scope": "device", "key": "device_type", "value": {"equals": "ANDROID"}}), true),
        (at(&["body"], "value", json!({"equals": 12.5})), true),
        (at(&["body"], "value", json!({"at_least": 12.5, "at_most": 13})), true),
        (at(&["body"], "value", json!({"at_least": 13})), false),
        (name(json!({"at_least": 1})), false),
        (at(&["body", "properties"], "none", json!({"is_present": false})), true),
        (at(&["body", "nothing"], "none", json!({"is_present": true})), false),
        (at(&["body", "properties"], "gift", json!({"equals": true})), true),
        (items(json!({"equals": ["hat", "shoe"]})), true),
        (items(json!({"equals": ["shoe", "hat"]})), false),
        (items(json!({"array_contains": is("shoe")})), true),
        (items(json!({"array_contains": is("shoe"), "index": 0})), false),
        (items(json!({"array_contains": is("shoe"), "index": 9})), false),
        (items(json!({"array_length": {"value": {"equals": 2.0}}})), true),
        (name(json!({"string_begins": "Bou"})), true),
        (name(json!({"string_ends": "GHT"})), false),
        (name(json!({"string_contains": "ugh"})), true),
        (version("2.4.1"), true),
        (version("2.+"), true),
        (version("+"), true),
        (version("24.+"), false),
        (version("2.4+"), true),
        (version("2.5+"), false),
        (version("2.4.1b"), true),
        (version("[2.4,2.5["), true),
        (version("]2.4.1,3.0]"), false),
        (version("[2.4.1.0,)"), true),
        (version("(,2.4]"), false),
        (name(json!({"version": "1.0"})), false),
        (json!({"and": [name(json!({"equals": "Bought"})), version("2.+")]}), true),
        (json!({"or": [name(json!({"equals": "Sold"})), version("1.+")]}), false),
        (json!({"not": [name(json!({"equals": "Sold"}))]}), true),
        (json!({"not": name(json!({"equals": "Bought"}))}), false),
        (json!({"and": []}), true),
        (json!({"or": []}), false),
    ] {
        assert_eq!(holds(&predicate, &event), wanted, "{predicate}");
    }
}

#[test]
fn a_predicate_is_printed_as_it_came() {
    let sent = json!({"not": [{"scope": "body", "key": "name", "value": {"version": "1.+"}}]});
    let read = parse(sent.to_string().as_bytes(), Predicate::parse).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), sent);
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    for (sent, path) in [
        (json!({}), "value: "),
        (json!({"value": {}}), "value: A matcher is exactly one of"),
        (json!({"value": {"equals": 1, "at_least": 1}}), "value: A matcher is exactly one of"),
        (json!({"and": [{"value": {"at_least": "1"}}]}), "and[0].value.at_least: "),
        (json!({"not": []}), "not: "),
        (json!({"value": {"version_matches": "[1.0"}}), "value.version_matches: This must be a version"),
        (json!({"value": {"version_matches": "(,)"}}), "value.version_matches: This must be a version"),
        (json!({"value": {"version_matches": "one"}}), "value.version_matches: This must be a version"),
        (json!({"value": {"array_contains": {"value": {}}}}), "value.array_contains.value: "),
        (json!({"and": vec![json!({"or": []}); 101]}), "A predicate has at most 100 matchers."),
    ] {
        let said = parse(sent.to_string().as_bytes(), Predicate::parse).unwrap_err().to_string();
        assert!(said.starts_with(path), "{sent}: {said}");
    }
}
