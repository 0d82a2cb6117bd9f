//! The files and pushes of bulk sending.

use serde_json::json;

use super::*;
use crate::device_type::OpenPlatform;
use crate::json;

const CHANNEL_ID: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

fn open() -> DeviceType {
    DeviceType::Open(OpenPlatform::new("kiosk").unwrap())
}

fn read(device_type: &DeviceType, text: &str, piece: usize) -> Result<(Vec<BulkRow>, Vec<String>), FileFault> {
    let mut csv = BulkCsv::new(device_type);
    let mut rows = Vec::new();
    for chunk in text.as_bytes().chunks(piece) {
        rows.extend(csv.feed(chunk)?);
    }
    let (last, names) = csv.finish()?;
    rows.extend(last);
    Ok((rows, names))
}

#[test]
fn files_are_read_however_they_are_cut() {
    let text = format!("name,ua_channel_id,day\r\nKim,{CHANNEL_ID},\"Mon, day\"\n\nLee,{CHANNEL_ID},");
    for piece in [1, 7, text.len()] {
        let (rows, names) = read(&DeviceType::Ios, &text, piece).unwrap();
        assert_eq!(names, ["name", "ua_channel_id", "day"]);
        let recipient = BulkRecipient::Channel(CHANNEL_ID.parse().unwrap());
        let values = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>()
        };
        let expected = [
            BulkRow { recipient: recipient.clone(), values: values(&[("name", "Kim"), ("day", "Mon, day")]) },
            BulkRow { recipient, values: values(&[("name", "Lee")]) },
        ];
        assert_eq!(rows, expected, "in pieces of {piece}");
    }
    let (rows, _) = read(&open(), "ua_address\nlobby-1\n", 4).unwrap();
    assert_eq!(rows[0].recipient, BulkRecipient::Address("lobby-1".to_owned()));
}

#[test]
fn files_that_cannot_be_used_are_refused_with_the_reason() {
    let row = |line, problem: &str| FileFault::Row { line, problem: problem.to_owned() };
    let id = CHANNEL_ID;
    for (device_type, text, fault) in [
        (open(), String::new(), FileFault::Empty),
        (open(), "ua_address\n".to_owned(), FileFault::Empty),
        (DeviceType::Ios, "ua_address\nlobby\n".to_owned(), FileFault::NoRecipient),
        (open(), format!("ua_address,ua_channel_id\nlobby,{id}\n"), FileFault::NoRecipient),
        (open(), "ua_address,a,a\n".to_owned(), FileFault::Duplicate("a".to_owned())),
        (
            open(),
            "ua_address\n\n\u{1}\n".to_owned(),
            row(3, "An address has 1 to 128 characters, none of them a control character."),
        ),
        (DeviceType::Ios, "ua_channel_id\nlobby\n".to_owned(), row(2, "The id of a channel is a UUID.")),
        (DeviceType::Ios, format!("ua_channel_id,a\n{id}\n"), row(2, "The row has 1 cells, and there are 2 columns.")),
    ] {
        assert_eq!(read(&device_type, &text, 5), Err(fault), "{text}");
    }
    for name in ["ua_opted_in", "a b", "_a"] {
        let refused = read(&open(), &format!("ua_address,{name}\nlobby,x\n"), 100);
        assert!(matches!(refused, Err(FileFault::Column(..))), "{name}: {refused:?}");
    }
    let columns: Vec<String> = (0..101).map(|n| format!("c{n}")).collect();
    let text = format!("ua_address,{}\n", columns.join(","));
    assert_eq!(read(&open(), &text, 1000), Err(FileFault::TooManyColumns));
}

#[test]
fn pushes_name_a_file_and_one_device_type() {
    let push =
        json!({"audience": {"bulk_id": CHANNEL_ID}, "device_types": ["ios"], "notification": {"alert": "Hi {{name}}"}});
    let read = |push: &serde_json::Value| {
        let read = json::parse(push.to_string().as_bytes(), Push::parse_bulk_send);
        read.map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect::<Vec<_>>())
    };
    let good = read(&push).unwrap();
    assert_eq!((json!(good), good.bulk_upload()), (push.clone(), Some(CHANNEL_ID.parse().unwrap())));
    assert!(good.is_personalized());
    let with = |key: &str, value: serde_json::Value| {
        let mut changed = push.clone();
        changed[key] = value;
        changed
    };
    let wrong: [(serde_json::Value, &[&str]); 9] = [
        (with("audience", json!("all")), &["audience"]),
        (with("audience", json!({"create_and_send": [{"ua_address": "a"}]})), &["device_types", "audience"]),
        (with("audience", json!({"bulk_id": "x"})), &["audience.bulk_id"]),
        (with("audience", json!({"bulk_id": CHANNEL_ID, "tag": "a"})), &["audience.tag"]),
        (with("device_types", json!(["ios", "android"])), &["device_types"]),
        (with("device_types", json!("all")), &["device_types"]),
        (with("device_types", json!(["sms"])), &["device_types"]),
        (with("notification", json!({"alert": "a", "android": {"alert": "b"}})), &["notification.android"]),
        (with("message", json!({"title": "a", "body": "b"})), &["message"]),
    ];
    for (changed, paths) in wrong {
        assert_eq!(read(&changed).unwrap_err(), paths, "{changed}");
    }
    let elsewhere = json::parse(push.to_string().as_bytes(), Push::parse).unwrap_err();
    assert!(elsewhere.first().message.contains("/api/bulk-send"), "{elsewhere:?}");
}
