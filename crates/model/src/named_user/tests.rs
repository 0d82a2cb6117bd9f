//! Good and bad bodies of the named user endpoints.

use super::*;
use crate::channel::ClaimedType;
use crate::device_type::DeviceType;
use crate::json;

const A: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
const B: &str = "11111111-2222-4333-8444-555555555555";

fn accepted<T>(body: &str, read: impl FnOnce(&At<'_>) -> Option<T>) -> T {
    json::parse(body.as_bytes(), read).unwrap_or_else(|problems| panic!("{body}: {problems}"))
}

fn refused<T>(body: &str, read: impl FnOnce(&At<'_>) -> Option<T>, paths: &[&str]) {
    let problems = json::parse(body.as_bytes(), read).err().unwrap_or_else(|| panic!("{body} was accepted"));
    let found: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(found, paths, "{body}: {problems}");
}

#[test]
fn associations() {
    for (device_type, claimed) in [
        (r#","device_type":"ios""#, Some(ClaimedType::Exactly(DeviceType::Ios))),
        (r#","device_type":"open""#, Some(ClaimedType::AnyOpen)),
        (r#","device_type":"open::fridge""#, DeviceType::from_name("open::fridge").map(ClaimedType::Exactly)),
        (r#","device_type":null"#, None),
        ("", None),
    ] {
        let body = format!(r#"{{"channel_id":"{A}"{device_type},"named_user_id":"kim-7"}}"#);
        let association = accepted(&body, Association::parse);
        assert_eq!(association.channel, ChannelRef { id: A.parse().unwrap(), claimed: claimed.clone() });
        assert_eq!(association.named_user_id.as_str(), "kim-7");
        let disassociation = accepted(&body, Disassociation::parse);
        assert_eq!(disassociation.channel.claimed, claimed);
        assert_eq!(disassociation.named_user_id.as_ref().map(NamedUserId::as_str), Some("kim-7"));
    }
    for body in [format!(r#"{{"channel_id":"{A}"}}"#), format!(r#"{{"channel_id":"{A}","named_user_id":null}}"#)] {
        assert_eq!(accepted(&body, Disassociation::parse).named_user_id, None);
        refused(&body, Association::parse, &["named_user_id"]);
    }
}

#[test]
fn bad_associations() {
    for (body, paths) in [
        ("7".to_owned(), &[""][..]),
        ("{}".to_owned(), &["channel_id", "named_user_id"]),
        (r#"{"email_address":"kim@example.com","named_user_id":"kim"}"#.to_owned(), &["email_address"]),
        (
            format!(r#"{{"email_address":"kim@example.com","channel_id":"{A}","named_user_id":"kim"}}"#),
            &["email_address"],
        ),
        (
            r#"{"channel_id":"x","device_type":"toaster","named_user_id":" kim","more":1}"#.to_owned(),
            &["device_type", "channel_id", "named_user_id", "more"],
        ),
        (format!(r#"{{"channel_id":"{A}","named_user_id":"{}"}}"#, "k".repeat(129)), &["named_user_id"]),
        (format!(r#"{{"channel_id":["{A}"],"named_user_id":"kim"}}"#), &["channel_id"]),
    ] {
        refused(&body, Association::parse, paths);
    }
    refused(r#"{"email_address":"kim@example.com"}"#, Disassociation::parse, &["email_address"]);
}

#[test]
fn updates() {
    let body = format!(
        r#"{{"associate":[{{"channel_id":"{A}","device_type":"ios"}}],"disassociate":{{"channel_id":"{B}"}},
            "tags":{{"add":{{"loyalty":"gold"}}}},"attributes":[{{"action":"set","key":"city","value":"Oslo"}}]}}"#
    );
    let update = accepted(&body, NamedUserUpdate::parse);
    assert_eq!((update.associate.len(), update.disassociate.len(), update.attributes.len()), (1, 1, 1));
    assert!(update.associate[0].fits(&DeviceType::Ios) && !update.associate[0].fits(&DeviceType::Web));
    assert!(matches!(update.tags, Some(TagOperation::Edit { .. })));
    assert_eq!(accepted(r#"{"associate":[]}"#, NamedUserUpdate::parse).tags, None);
}

#[test]
fn bad_updates() {
    for (body, paths) in [
        ("{}".to_owned(), &[""][..]),
        (r#"{"named_user_id":"kim"}"#.to_owned(), &["", "named_user_id"]),
        (
            r#"{"associate":[{"email_address":"kim@example.com"},{}]}"#.to_owned(),
            &["associate[0].email_address", "associate[1].channel_id"],
        ),
        (r#"{"tags":{}}"#.to_owned(), &["tags"]),
        (r#"{"tags":{"set":{"g":["x"]},"add":{"g":["x"]},"more":1}}"#.to_owned(), &["tags.set", "tags.more"]),
        (r#"{"attributes":[{"action":"set"}]}"#.to_owned(), &["attributes[0].key"]),
        (
            format!(
                r#"{{"associate":{{"channel_id":"{A}"}},"disassociate":[{{"channel_id":"{B}"}},{{"channel_id":"{A}"}}]}}"#
            ),
            &["disassociate"],
        ),
    ] {
        refused(&body, NamedUserUpdate::parse, paths);
    }
}

#[test]
fn uninstalls() {
    let ids = |body: &str| accepted(body, NamedUserUninstall::parse).0.len();
    assert_eq!(ids(r#"{"named_user_id":"kim"}"#), 1);
    assert_eq!(ids(r#"{"named_user_id":["kim","jo","kim"]}"#), 2);
    let many = |n| format!(r#"{{"named_user_id":[{}]}}"#, vec![r#""kim""#; n].join(","));
    assert_eq!(ids(&many(100)), 1);
    refused(&many(101), NamedUserUninstall::parse, &["named_user_id"]);
    refused(&many(0), NamedUserUninstall::parse, &["named_user_id"]);
    refused("{}", NamedUserUninstall::parse, &["named_user_id"]);
    refused(r#"{"named_user_id":"kim","audience":{}}"#, NamedUserUninstall::parse, &["audience"]);
}
