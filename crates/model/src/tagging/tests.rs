//! Good and bad tagging requests.

use super::*;
use crate::device_type::DeviceType;
use crate::json;
use crate::json::At;
use crate::tag::{Tag, TagGroup};

const A: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
const B: &str = "11111111-2222-4333-8444-555555555555";

fn paths<T>(body: &str, read: impl FnOnce(&At<'_>) -> Option<T>) -> Vec<String> {
    let problems = json::parse(body.as_bytes(), read).err().unwrap_or_else(|| panic!("{body} was accepted"));
    problems.iter().map(|problem| problem.path.clone()).collect()
}

fn channels(body: &str) -> ChannelTagging {
    json::parse(body.as_bytes(), ChannelTagging::parse).unwrap_or_else(|problems| panic!("{body}: {problems}"))
}

fn users(body: &str) -> NamedUserTagging {
    json::parse(body.as_bytes(), NamedUserTagging::parse).unwrap_or_else(|problems| panic!("{body}: {problems}"))
}

#[test]
fn channels_of_every_kind() {
    for (key, fitting, unfit) in [
        ("channel", DeviceType::Web, None),
        ("ios_channel", DeviceType::Ios, Some(DeviceType::Android)),
        ("android_channel", DeviceType::Android, Some(DeviceType::Amazon)),
        ("amazon_channel", DeviceType::Amazon, Some(DeviceType::Android)),
        ("web_channel", DeviceType::Web, Some(DeviceType::Ios)),
    ] {
        for value in [format!(r#""{A}""#), format!(r#"["{A}","{A}"]"#)] {
            let tagging = channels(&format!(r#"{{"audience":{{"{key}":{value}}},"add":{{"device":["x"]}}}}"#));
            let [channel] = tagging.audience.channels() else { panic!("{tagging:?}") };
            assert_eq!(channel.id.to_string(), A);
            assert!(channel.fits(&fitting), "{key}");
            assert!(unfit.as_ref().is_none_or(|unfit| !channel.fits(unfit)), "{key}");
        }
    }
    let both =
        channels(&format!(r#"{{"audience":{{"ios_channel":"{A}","android_channel":["{B}"]}},"set":{{"g":[]}}}}"#));
    assert_eq!(both.audience.channels().len(), 2);
}

#[test]
fn named_users_and_tags_as_text_or_array() {
    let one = users(r#"{"audience":{"named_user_id":"kim"},"add":{"loyalty":"gold"},"remove":{"loyalty":["red"]}}"#);
    let ids: Vec<_> = one.audience.iter().map(NamedUserId::as_str).collect();
    assert_eq!(ids, ["kim"]);
    let set = |tag: &str| [(TagGroup::new("loyalty").unwrap(), [Tag::new(tag).unwrap()].into())].into();
    assert_eq!(one.operation, TagOperation::Edit { add: set("gold"), remove: set("red") });

    let many = users(r#"{"audience":{"named_user_id":["kim","jo","kim"]},"set":{"loyalty":"gold"}}"#);
    let ids: Vec<_> = many.audience.iter().map(NamedUserId::as_str).collect();
    assert_eq!(ids, ["kim", "jo"]);
    assert_eq!(many.operation, TagOperation::Set(set("gold")));
}

#[test]
fn sizes_are_limited() {
    let ids = |n: usize| format!("[{}]", vec![r#""kim""#; n].join(","));
    let body = |n| format!(r#"{{"audience":{{"named_user_id":{}}},"add":{{"g":["t"]}}}}"#, ids(n));
    assert_eq!(users(&body(1000)).audience.len(), 1);
    assert_eq!(paths(&body(1001), NamedUserTagging::parse), ["audience.named_user_id"]);
    assert_eq!(paths(&body(0), NamedUserTagging::parse), ["audience.named_user_id"]);

    let channel_ids = vec![format!(r#""{A}""#); 1001].join(",");
    let body = format!(r#"{{"audience":{{"channel":[{channel_ids}]}},"add":{{"g":["t"]}}}}"#);
    assert_eq!(paths(&body, ChannelTagging::parse), ["audience.channel"]);
}

#[test]
fn bad_channel_requests() {
    let good = format!(r#"{{"ios_channel":"{A}"}}"#);
    for (body, wanted) in [
        ("[]".to_owned(), &[""][..]),
        ("{}".to_owned(), &["audience", ""]),
        (r#"{"audience":{},"add":{"g":["t"]}}"#.to_owned(), &["audience"]),
        (r#"{"audience":"all","add":{"g":["t"]}}"#.to_owned(), &["audience"]),
        (r#"{"audience":{"tag":"x"},"add":{"g":["t"]}}"#.to_owned(), &["audience.tag"]),
        (r#"{"audience":{"email_address":"a@b.c"},"add":{"g":["t"]}}"#.to_owned(), &["audience.email_address"]),
        (r#"{"audience":{"ios_channel":"x"},"add":{"g":["t"]}}"#.to_owned(), &["audience.ios_channel"]),
        (format!(r#"{{"audience":{{"ios_channel":["{A}",7]}},"add":{{"g":["t"]}}}}"#), &["audience.ios_channel[1]"]),
        (r#"{"audience":{"ios_channel":[]},"add":{"g":["t"]}}"#.to_owned(), &["audience.ios_channel"]),
        (r#"{"audience":{"ios_channel":null},"add":{"g":["t"]}}"#.to_owned(), &["audience.ios_channel"]),
        (format!(r#"{{"audience":{good}}}"#), &[""]),
        (format!(r#"{{"audience":{good},"add":{{"g":["t"]}},"set":{{"g":["t"]}}}}"#), &["set"]),
        (format!(r#"{{"audience":{good},"add":{{"g":["t"]}},"remove":{{"g":["t"]}}}}"#), &["remove.g"]),
        (format!(r#"{{"audience":{good},"add":{{"g":[""]}},"more":1}}"#), &["add.g[0]", "more"]),
        (
            r#"{"audience":{"ios_channel":"x","y":1},"add":{"@g":[3]}}"#.to_owned(),
            &["audience.ios_channel", "audience.y", "add.@g", "add.@g[0]"],
        ),
    ] {
        assert_eq!(paths(&body, ChannelTagging::parse), wanted, "{body}");
    }
}

#[test]
fn bad_named_user_requests() {
    for (body, wanted) in [
        ("{}", &["audience", ""][..]),
        (r#"{"audience":{},"add":{"g":"t"}}"#, &["audience.named_user_id"]),
        (r#"{"audience":{"named_user_id":""},"add":{"g":"t"}}"#, &["audience.named_user_id"]),
        (
            r#"{"audience":{"named_user_id":[" a","b\n"]},"add":{"g":"t"}}"#,
            &["audience.named_user_id[0]", "audience.named_user_id[1]"],
        ),
        (r#"{"audience":{"named_user_id":7},"add":{"g":"t"}}"#, &["audience.named_user_id"]),
        (r#"{"audience":{"named_user_id":"a","channel":"b"},"add":{"g":"t"}}"#, &["audience.channel"]),
        (r#"{"audience":{"named_user_id":"a"},"add":{"g":null}}"#, &["add.g"]),
    ] {
        assert_eq!(paths(body, NamedUserTagging::parse), wanted, "{body}");
    }
}

#[test]
fn groups_of_device_properties_are_named_for_refusal() {
    let tagging = users(r#"{"audience":{"named_user_id":"kim"},"add":{"ua_opt_in":"true","mine":"x"}}"#);
    let read_only: Vec<_> = tagging.operation.read_only_groups().into_iter().map(TagGroup::as_str).collect();
    assert_eq!(read_only, ["ua_opt_in"]);
}
