//! What is found, and what is left alone.

use serde_json::{Value, json};

use super::*;
use crate::json::parse;
use crate::payload::Push;
use crate::selector::Purpose;

const CHANNEL: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
const TOKEN: &str = "FE66489F304DC75B8D6E8200DFF8A456E8DAEACEC428B427E9518741C92C6660";

fn redaction(identifiers: &[&str]) -> Redaction {
    let identifiers: Vec<Identifier> = identifiers.iter().filter_map(|text| Identifier::new(*text)).collect();
    Redaction::of(&identifiers)
}

fn cleaned(identifiers: &[&str], body: &Value) -> Option<Value> {
    redaction(identifiers).json(&body.to_string()).map(|text| serde_json::from_str(&text).unwrap())
}

#[test]
fn a_short_name_is_replaced_where_it_names_somebody_and_nowhere_else() {
    let body = json!({"audience": {"OR": [{"named_user": ["all", "bob"]}, {"tag": "all"}]}, "device_types": "all"});
    let expected =
        json!({"audience": {"OR": [{"named_user": [ERASED, "bob"]}, {"tag": "all"}]}, "device_types": "all"});
    assert_eq!(cleaned(&["all"], &body), Some(expected));
    assert_eq!(cleaned(&["news"], &json!({"audience": {"tag": "news"}, "alert": "news"})), None);
}

#[test]
fn a_name_that_nothing_else_has_is_replaced_within_texts() {
    let text = redaction(&["ann@example.com", TOKEN, CHANNEL]);
    assert_eq!(text.text("To ann@example.com, again."), Some("To (erased), again.".to_owned()));
    assert_eq!(text.text("joann@example.com ann@example.company"), None);
    let path = format!("/3/device/{}", TOKEN.to_lowercase());
    assert_eq!(text.text(&path), Some(format!("/3/device/{ERASED_TOKEN}")));
    let body = json!({CHANNEL.to_uppercase(): {"at": [CHANNEL]}});
    assert_eq!(text.json(&body.to_string()), Some(json!({ERASED_UUID: {"at": [ERASED_UUID]}}).to_string()));
}

#[test]
fn bodies_within_texts_and_escaped_letters_are_seen_through() {
    let inner = json!({"audience": {"named_user": "ann"}}).to_string();
    let expected = json!({"payload": json!({"audience": {"named_user": ERASED}}).to_string()});
    assert_eq!(cleaned(&["ann"], &json!({"payload": inner})), Some(expected));
    let escaped = r#"{"named_user":"\u0061nn"}"#;
    assert_eq!(redaction(&["ann"]).json(escaped), Some(json!({"named_user": ERASED}).to_string()));
    assert_eq!(redaction(&["ann"]).bytes(b"\\ \xff ann"), None, "not text at all");
}

#[test]
fn a_number_names_somebody_where_its_digits_would() {
    let body = json!({"named_user_id": 12345, "channel": [7, 12345], "count": 12345, "properties": {"n": 12345}});
    let expected = json!({"named_user_id": ERASED, "channel": [7, ERASED], "count": 12345, "properties": {"n": 12345}});
    assert_eq!(cleaned(&["12345"], &body), Some(expected), "a short number is like a short word");
    let body = json!({"properties": {"customer": 20_260_117, "all": [{"of": 20_260_117}]}, "limit": 20_260_117,
                      "audience": {"attribute": "no", "operator": "equals", "value": 20_260_117},
                      "not": {"attribute": "no", "operator": "less", "value": 20_260_117}});
    let expected = json!({"properties": {"customer": ERASED, "all": [{"of": ERASED}]}, "limit": 20_260_117,
                          "audience": {"attribute": "no", "operator": "equals", "value": ERASED},
                          "not": {"attribute": "no", "operator": "less", "value": 20_260_117}});
    assert_eq!(cleaned(&["20260117"], &body), Some(expected), "a limit of our own stays readable");
    assert_eq!(cleaned(&["20260117"], &json!({"properties": {"customer": 202_601_170}})), None);
    let recipients = |friend: Value| json!({"create_and_send": [{"ua_address": "b", "friend": friend, "n": 3}]});
    assert_eq!(cleaned(&["20260117"], &recipients(json!(20_260_117))), Some(recipients(json!(ERASED))));
}

#[test]
fn pushes_stay_readable() {
    let audiences = [
        json!({"OR": [{"ios_channel": CHANNEL}, {"named_user": "ann"}, {"device_token": TOKEN}, {"apid": "a"}]}),
        json!({"create_and_send": [{"ua_address": "a", "name": "Ann"}]}),
        json!({"create_and_send": [{"ua_address": "a", "name": "Ann"}, {"ua_address": "ann", "name": "Ann"}]}),
    ];
    let redaction = redaction(&[CHANNEL, "ann", TOKEN, "a"]);
    for audience in audiences {
        let push = json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hi"}});
        let cleaned = redaction.json(&push.to_string()).unwrap();
        for gone in [CHANNEL, TOKEN, "Ann", "\"ann\""] {
            assert!(!cleaned.contains(gone), "{gone} in {cleaned}");
        }
        assert_eq!(redaction.json(&cleaned), None, "once is enough: {cleaned}");
        let read = parse(cleaned.as_bytes(), |at| Push::parse_with(at, Purpose::Stored));
        assert!(read.is_ok(), "{cleaned}");
    }
    assert!(Identifier::new("").is_none());
}
