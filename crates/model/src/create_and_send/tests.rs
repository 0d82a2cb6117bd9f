//! The forms of a push that brings its recipients along.

use serde_json::{Value, json};

use crate::json;
use crate::limits;
use crate::payload::Push;
use crate::payload::push_type::PushType;
use crate::schedule::ScheduledPush;

fn push(recipients: &Value) -> Value {
    let template = json!({"fields": {"alert": "Hi {{name}}, {{day}}"},
        "variable_defaults": [{"key": "day", "default_value": "today"}]});
    json!({
        "audience": {"create_and_send": recipients}, "device_types": ["open::kiosk"],
        "notification": {"open::kiosk": {"template": template}},
    })
}

fn read(body: &Value) -> Result<Push, Vec<(String, String)>> {
    let read = json::parse(body.to_string().as_bytes(), Push::parse_create_and_send);
    read.map_err(|problems| problems.iter().map(|problem| (problem.path.clone(), problem.message.clone())).collect())
}

#[track_caller]
fn refuses(body: &Value, paths: &[&str]) {
    let problems = read(body).unwrap_err();
    assert_eq!(problems.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), paths, "{body}");
    assert!(problems.iter().all(|(_, message)| message.ends_with('.')), "{problems:?}");
}

#[test]
fn it_is_printed_as_it_came_and_can_be_read_again() {
    let body =
        push(&json!([{"ua_address": "one", "name": "Kim"}, {"ua_address": "two", "name": "Zoë", "day": "on Monday"}]));
    let read_once = read(&body).unwrap();
    assert_eq!(json!(read_once), body);
    assert_eq!(read_once.push_type(), PushType::CreateAndSendPush);
    let (platform, recipients) = read_once.recipients().unwrap();
    assert_eq!((platform.as_str(), recipients.as_slice().len()), ("kiosk", 2));
    // A value stays what it is, and null is none.
    let values = json!({"ua_address": "one", "name": 7, "day": null, "vip": false, "items": [{"name": "tea"}]});
    let read = read(&push(&json!([values]))).unwrap();
    let kept = json!({"ua_address": "one", "name": 7, "vip": false, "items": [{"name": "tea"}]});
    assert_eq!(json!(read.audience), json!({ "create_and_send": [kept] }));
}

#[test]
fn all_mistakes_are_told_at_once() {
    let recipient = |address: &str| json!({"ua_address": address, "name": "Kim"});
    refuses(&push(&json!([])), &["audience.create_and_send"]);
    refuses(&push(&json!({})), &["audience.create_and_send"]);
    refuses(
        &push(&json!([recipient("a"), recipient("b"), recipient("a")])),
        &["audience.create_and_send[2].ua_address"],
    );
    refuses(
        &push(&json!([
            {"name": "Kim"}, {"ua_address": ""}, {"ua_address": "c", "ua_opted_in": "x", "a b": 1},
        ])),
        &[
            "audience.create_and_send[0].ua_address",
            "audience.create_and_send[1].ua_address",
            "audience.create_and_send[2].a b",
            "audience.create_and_send[2].ua_opted_in",
        ],
    );
    let many: Vec<_> = (0..=limits::RECIPIENTS_PER_REQUEST).map(|n| recipient(&n.to_string())).collect();
    assert!(read(&push(&json!(many[1..]))).is_ok());
    refuses(&push(&json!(many)), &["audience.create_and_send"]);
}

#[test]
fn it_goes_to_one_open_platform() {
    let with = |key: &str, value: Value| {
        let mut body = push(&json!([{"ua_address": "a", "name": "Kim"}]));
        body[key] = value;
        body
    };
    for (types, paths) in [
        (json!(["email"]), ["device_types"].as_slice()),
        (json!(["sms"]), &["device_types"]),
        (json!(["open::kiosk", "mms"]), &["device_types"]),
        (json!("all"), &["device_types"]),
        (json!(["open::kiosk", "open::fridge"]), &["device_types", "device_types[1]"]),
        (json!(["ios"]), &["device_types", "device_types[0]"]),
    ] {
        refuses(&with("device_types", types), paths);
    }
    refuses(&with("audience", json!("all")), &["audience"]);
    refuses(&with("audience", json!({"tag": "a"})), &["audience"]);
    refuses(&with("audience", json!({"bulk_id": "x"})), &["audience.bulk_id"]);
    let both = json!({"create_and_send": [{"ua_address": "a", "name": "Kim"}], "bulk_id": "x"});
    refuses(&with("audience", both), &["audience.bulk_id"]);
    let twofold = json!({"create_and_send": [{"ua_address": "a", "name": "Kim"}], "tag": "a"});
    refuses(&with("audience", twofold), &["audience.tag"]);
    let elsewhere = json!({"alert": "Hi", "ios": {"badge": 1}, "open::fridge": {"alert": "x"}});
    refuses(&with("notification", elsewhere), &["notification.ios", "notification.open::fridge"]);
    refuses(&with("message", json!({"title": "a", "body": "b"})), &["device_types[0]"]);
}

#[test]
fn texts_are_in_the_language_of_personalization() {
    let refused = |alert: &str| {
        let mut body = push(&json!([{"ua_address": "a"}]));
        body["notification"]["open::kiosk"]["template"]["fields"]["alert"] = json!(alert);
        read(&body).err()
    };
    // Nobody has a value for any of these; other layers may have one when it is sent.
    for alert in [
        "{{#if vip}}VIP{{else}}Hello{{/if}}",
        "{{#each items}}{{this}} {{name}}{{/each}}",
        "{{shop}}, {{$def first_name \"you\"}}",
        "{{$required name}}",
    ] {
        assert_eq!(refused(alert), None, "{alert}");
    }
    let problems = refused("{{#if vip}}").unwrap();
    assert_eq!(problems[0].0, "notification.open::kiosk.template.fields.alert");
    assert!(problems[0].1.starts_with("Column 1: "), "{problems:?}");
    let many: String = (0..=limits::NAMES_PER_PUSH).map(|n| format!("{{{{k{n}}}}}")).collect();
    assert!(refused(&many).unwrap()[0].1.contains("different names"));
}

#[test]
fn other_pushes_have_no_recipients_of_their_own() {
    let body = push(&json!([{"ua_address": "a", "name": "Kim"}]));
    let problems = json::parse(body.to_string().as_bytes(), Push::parse).unwrap_err();
    assert_eq!(problems.first().path, "audience");
}

#[test]
fn it_is_scheduled_by_utc_only() {
    let scheduled = |schedule: &Value| {
        let push = push(&json!([{"ua_address": "a", "name": "Kim"}]));
        let body = json!({"schedule": schedule, "push": push});
        json::parse(body.to_string().as_bytes(), ScheduledPush::parse_create_and_send)
    };
    assert!(scheduled(&json!({"scheduled_time": "2024-05-02T10:00:00"})).is_ok());
    for (key, time) in
        [("local_scheduled_time", json!("2024-05-02T10:00:00")), ("best_time", json!({"send_date": "2024-05-02"}))]
    {
        assert_eq!(scheduled(&json!({key: time})).unwrap_err().first().path, format!("schedule.{key}"));
    }
}
