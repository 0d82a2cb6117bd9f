//! Reading operations, and their effects.

use serde_json::json;

use super::*;

const A: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
const NOON: UtcMillis = UtcMillis(1_714_564_800_000);

fn operation(body: &str) -> AttributeOperation {
    let mut operations = accepted(&format!(r#"{{"attributes":{body}}}"#), AttributesOfOne::parse).0;
    assert_eq!(operations.len(), 1);
    operations.remove(0)
}

fn refused(body: &str, paths: &[&str]) {
    let problems = json::parse(body.as_bytes(), AttributeUpdate::parse).expect_err(body);
    let found: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(found, paths, "{body}: {problems}");
}

#[test]
fn values_have_the_type_they_look_like() {
    let text = |text: &str| AttributeValue::Text(text.to_owned());
    for (value, wanted) in [
        (json!("Oslo"), text("Oslo")),
        (json!(""), text("")),
        (json!("7"), text("7")),
        (json!(7), AttributeValue::Number(7.into())),
        (json!(0), AttributeValue::Number(0.into())),
        (json!("2024-05-01T12:00:00"), AttributeValue::Date(NOON)),
        (json!("2024-05-01 12:00:00"), AttributeValue::Date(NOON)),
        (json!("2024-05-01T12:00:00Z"), AttributeValue::Date(NOON)),
        (json!("2024-05-01T14:00:00+02:00"), AttributeValue::Date(NOON)),
        (json!("2024-05-01T12:00:00.250Z"), AttributeValue::Date(UtcMillis(NOON.0 + 250))),
        (json!("2024-05-01"), text("2024-05-01")),
        (json!("2024-05-01 at noon"), text("2024-05-01 at noon")),
        (json!("2024-05-32T12:00:00"), text("2024-05-32T12:00:00")),
        (json!("12:00"), text("12:00")),
    ] {
        let operation = operation(&format!(r#"{{"action":"set","key":"k","value":{value}}}"#));
        assert_eq!(operation.action, AttributeAction::Set(wanted.clone()), "{value}");
        let stored = serde_json::to_string(&wanted).unwrap();
        assert_eq!(serde_json::from_str::<AttributeValue>(&stored).unwrap(), wanted, "{value}");
    }
    assert_eq!(serde_json::to_string(&AttributeValue::Date(NOON)).unwrap(), r#""2024-05-01T12:00:00""#);
    let object = operation(r##"{"action":"set","key":"k#1","value":{"a":[1,{"b":null}]}}"##);
    assert_eq!(operation(r#"{"action":"set","key":"k","value":{"a":[1,{"b":null}]}}"#).action, object.action);
    let AttributeAction::Set(value) = object.action else { panic!("{object:?}") };
    assert_eq!(serde_json::to_value(&value).unwrap(), json!({"a": [1, {"b": null}]}));
    assert!(serde_json::from_str::<AttributeValue>("[]").is_err());
}

#[test]
fn timestamps_come_in_several_forms() {
    for (timestamp, wanted) in [
        (r#","timestamp":"2024-05-01 12:00:00""#, Some(NOON)),
        (r#","timestamp":"2024-05-01T12:00:00""#, Some(NOON)),
        (r#","timestamp":"2024-05-01T12:00:00.000Z""#, Some(NOON)),
        (r#","timestamp":"2024-05-01T07:00:00-05:00""#, Some(NOON)),
        (r#","timestamp":null"#, None),
        ("", None),
    ] {
        let remove = operation(&format!(r#"{{"action":"remove","key":"k"{timestamp}}}"#));
        assert_eq!((remove.timestamp, remove.action), (wanted, AttributeAction::Remove), "{timestamp}");
    }
}

#[test]
fn audiences() {
    let one = r#""attributes":{"action":"set","key":"k","value":1}"#;
    let channels =
        accepted(&format!(r#"{{"audience":{{"channel":["{A}"],"web_channel":"{A}"}},{one}}}"#), AttributeUpdate::parse);
    assert_eq!((channels.audience.channels().len(), channels.audience.named_users().len()), (1, 0));
    let users = accepted(&format!(r#"{{"audience":{{"named_user_id":["kim","jo"]}},{one}}}"#), AttributeUpdate::parse);
    assert_eq!((users.audience.channels().len(), users.audience.named_users().len()), (0, 2));
    refused(&format!(r#"{{"audience":{{}},{one}}}"#), &["audience"]);
    refused(
        &format!(r#"{{"audience":{{"email_address":"a@b.c","sms_id":{{}}}},{one}}}"#),
        &["audience.email_address", "audience.sms_id"],
    );
    refused(&format!(r#"{{"audience":{{"open_channel":"{A}"}},{one}}}"#), &["audience.open_channel"]);
    refused("{}", &["audience", "attributes"]);
}

#[test]
fn bad_operations() {
    let long = "é".repeat(65);
    for (attributes, paths) in [
        ("[]".to_owned(), &["attributes"][..]),
        ("[7]".to_owned(), &["attributes[0]"]),
        (r#"{"action":"add","key":"k","value":1}"#.to_owned(), &["attributes.action"]),
        (r#"{"action":"remove","key":"k","value":1}"#.to_owned(), &["attributes.value"]),
        (
            r#"{"action":"set","key":"","value":null,"timestamp":5}"#.to_owned(),
            &["attributes.key", "attributes.timestamp", "attributes.value"],
        ),
        (format!(r#"{{"action":"set","key":"{long}","value":1}}"#), &["attributes.key"]),
        (format!(r##"{{"action":"remove","key":"k#{long}"}}"##), &["attributes.key"]),
        (r##"{"action":"remove","key":"k#"}"##.to_owned(), &["attributes.key"]),
        (r#"{"action":"remove","key":"a\u0000b"}"#.to_owned(), &["attributes.key"]),
        (r##"{"action":"set","key":"k#1","value":"a"}"##.to_owned(), &["attributes.value"]),
        (
            r#"[{"action":"set","key":"k","value":true},{"action":"set","key":"k","value":[]}]"#.to_owned(),
            &["attributes[0].value", "attributes[1].value"],
        ),
        (format!(r#"{{"action":"set","key":"k","value":"{}"}}"#, "é".repeat(256)), &["attributes.value"]),
        (format!(r##"{{"action":"set","key":"k#1","value":{{"a":"{}"}}}}"##, "x".repeat(8192)), &["attributes.value"]),
        (r##"{"action":"set","key":"k#1","value":{"exp":"soon"}}"##.to_owned(), &["attributes.value.exp"]),
        (
            r#"{"action":"remove","key":"k","timestamp":"yesterday","type":"channel"}"#.to_owned(),
            &["attributes.timestamp", "attributes.type"],
        ),
    ] {
        refused(&format!(r#"{{"audience":{{"channel":"{A}"}},"attributes":{attributes}}}"#), paths);
    }
}

#[test]
fn nothing_is_decided_in_the_future() {
    for (timestamp, wanted) in [
        ("", NOON),
        (r#","timestamp":"2024-05-01T11:59:59""#, UtcMillis(NOON.0 - 1000)),
        (r#","timestamp":"2099-01-01T00:00:00""#, NOON),
    ] {
        let operation = operation(&format!(r#"{{"action":"remove","key":"k"{timestamp}}}"#));
        assert_eq!(operation.decided(NOON), wanted, "{timestamp}");
    }
}

#[test]
fn a_value_that_was_left_out_is_zero_or_empty() {
    let value = |text: &str| serde_json::from_str::<AttributeValue>(text).unwrap();
    for (key, current, wanted) in [
        ("k", None, "0"),
        ("k", Some("7"), "0"),
        ("k", Some(r#""Oslo""#), r#""""#),
        ("k", Some(r#""2024-05-01T12:00:00""#), r#""""#),
        ("k#1", None, "{}"),
        ("k#1", Some(r#"{"a":1}"#), "{}"),
    ] {
        let operation = operation(&format!(r#"{{"action":"set","key":"{key}"}}"#));
        assert_eq!(operation.value(current.map(value).as_ref()), Some(value(wanted)), "{key} {current:?}");
    }
    let set = operation(r#"{"action":"set","key":"k","value":"a"}"#);
    assert_eq!(set.value(Some(&value("7"))), Some(value(r#""a""#)));
    assert_eq!(operation(r#"{"action":"remove","key":"k"}"#).value(Some(&value("7"))), None);
}
