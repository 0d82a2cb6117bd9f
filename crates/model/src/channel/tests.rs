//! Good and bad bodies, and the effects of the good ones.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::json::{At, UnknownKeys, parse, parse_with};
use crate::problem::Problems;
use crate::tag::Tag;

#[path = "../../../testkit/src/bad_channels.rs"]
#[expect(unreachable_pub, reason = "the table is shared with the tests of the whole service")]
mod bad_channels;
mod properties;

use bad_channels::{ChannelEndpoint, bad_channels};

pub(super) fn read<T>(body: &serde_json::Value, read: impl FnOnce(&At<'_>) -> Option<T>) -> T {
    parse(body.to_string().as_bytes(), read).unwrap_or_else(|problems| panic!("{body}: {problems}"))
}

fn registration(channel: &serde_json::Value) -> Registration {
    read(&json!({ "channel": channel }), Registration::parse)
}

pub(super) fn tag_set(tags: &[&str]) -> BTreeSet<Tag> {
    tags.iter().map(|tag| Tag::new(tag).unwrap()).collect()
}

#[test]
fn bad_bodies_are_refused_with_the_path_to_blame() {
    let all = bad_channels();
    assert!(all.len() > 140, "{}", all.len());
    for bad in all {
        let problems: Problems = match bad.endpoint {
            ChannelEndpoint::Register => parse(&bad.body, Registration::parse).map(drop),
            ChannelEndpoint::Uninstall => parse(&bad.body, Uninstalls::parse).map(drop),
            ChannelEndpoint::OpenRegister => parse(&bad.body, OpenRegistration::parse).map(drop),
            ChannelEndpoint::OpenUninstall => parse(&bad.body, OpenAddress::parse).map(drop),
            ChannelEndpoint::OpenTags => parse(&bad.body, OpenTags::parse).map(drop),
        }
        .expect_err(bad.name);
        assert_eq!(problems.first().path, bad.path, "{}: {problems}", bad.name);
        assert!(problems.first().message.ends_with('.'), "{}: {problems}", bad.name);
        assert_eq!(problems.iter().count(), 1, "{}: {problems}", bad.name);
    }
}

#[test]
fn all_problems_are_found_at_once() {
    let body = br#"{"channel":{"device_type":"x","opt_in":3,"tags":["",5],"ios":{"badge":-1}},"more":1}"#;
    let problems = parse(body, Registration::parse).unwrap_err();
    let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(
        paths,
        ["channel.device_type", "channel.opt_in", "channel.tags[0]", "channel.tags[1]", "channel.ios.badge", "more"]
    );
}

#[test]
fn a_whole_ios_registration() {
    let body = json!({
        "channel": {
            "device_type": "ios", "opt_in": true, "background": true, "push_address": "AB12", "set_tags": true,
            "tags": ["news", "news"], "tag_changes": {"add": ["news"], "remove": ["old"]}, "timezone": "Mars/Olympus",
            "locale_language": "en", "locale_country": "US", "app_version": "1.2", "sdk_version": "19.0.1",
            "device_model": "iPhone17,2", "device_os": "18.3", "carrier": "", "location_settings": false,
            "named_user_id": "jo", "contact_id": "c-1", "is_activity": true, "alias": "joey",
            "permissions": {"display_notifications": "granted", "location": "not_determined"},
            "ios": {"badge": 2, "quiettime": {"start": "22:00", "end": "08:05"}, "tz": "Europe/Paris",
                    "scheduled_summary": true, "time_sensitive": false},
        },
        "identity_hints": {"user_id": "u", "device_id": "d", "apid": "a", "accengage_device_id": null},
    });
    let registration = read(&body, Registration::parse);
    assert_eq!(registration.is_activity, Some(true));
    let profile = registration.apply(None);
    assert_eq!(
        serde_json::to_value(&profile).unwrap(),
        json!({
            "device_type": "ios", "opt_in": true, "background": true, "address": "AB12", "alias": "joey",
            "timezone": "Mars/Olympus", "locale_language": "en", "locale_country": "US", "app_version": "1.2",
            "sdk_version": "19.0.1", "device_model": "iPhone17,2", "device_os": "18.3", "carrier": "",
            "location_settings": false, "named_user_hint": "jo", "contact_id": "c-1",
            "permissions": {"display_notifications": "granted", "location": "not_determined"},
            "identity_hints": {"user_id": "u", "device_id": "d", "apid": "a"},
            "ios": {"badge": 2, "quiettime": {"start": "22:00", "end": "08:05"}, "tz": "Europe/Paris",
                    "scheduled_summary": true, "time_sensitive": false},
        })
    );
    let stored = serde_json::to_string(&profile).unwrap();
    assert_eq!(serde_json::from_str::<Profile>(&stored).unwrap(), profile);
}

#[test]
fn the_least_registration_of_every_device_type() {
    for device_type in ["ios", "android", "amazon", "web", "wns"] {
        let profile = registration(&json!({ "device_type": device_type })).apply(None);
        assert_eq!(serde_json::to_value(&profile).unwrap(), json!({"device_type": device_type, "opt_in": false}));
    }
}

#[test]
fn what_is_not_given_stays_and_null_clears() {
    let first = registration(&json!({
        "device_type": "android", "opt_in": true, "background": false, "push_address": "A", "timezone": "UTC",
        "carrier": "C", "android_api_version": 34, "android": {"delivery_type": "hms"}, "permissions": {"mic": "denied"},
    }))
    .apply(None);
    assert_eq!(first.android, Some(AndroidDetails { delivery_type: DeliveryType::Hms, subscription: None }));
    assert_eq!(registration(&json!({"device_type": "android"})).apply(Some(&first)), first);

    let cleared = registration(&json!({
        "device_type": "android", "opt_in": false, "background": null, "push_address": null, "timezone": null,
        "carrier": null, "android_api_version": null, "android": null, "permissions": null,
    }))
    .apply(Some(&first));
    assert_eq!(serde_json::to_value(&cleared).unwrap(), json!({"device_type": "android", "opt_in": false}));

    let other_type = registration(&json!({"device_type": "ios"})).apply(Some(&first));
    assert_eq!(serde_json::to_value(&other_type).unwrap(), json!({"device_type": "ios", "opt_in": false}));
}

#[test]
fn a_quiet_time_that_is_left_out_has_been_switched_off() {
    let ios = |details: serde_json::Value| registration(&json!({"device_type": "ios", "ios": details}));
    let first =
        ios(json!({"badge": 1, "quiettime": {"start": "22:00", "end": "07:00"}, "tz": "UTC", "time_sensitive": true}));
    let first = first.apply(None);
    assert_eq!(first.ios.as_ref().unwrap().quiet_time.unwrap().start.minutes(), 22 * 60);
    let kept = registration(&json!({"device_type": "ios", "opt_in": true})).apply(Some(&first));
    assert_eq!(kept.ios, first.ios);
    for off in [json!({}), json!({"quiettime": null, "tz": null}), json!({"quiettime": {"start": null, "end": null}})] {
        let after = ios(off).apply(Some(&first)).ios.unwrap();
        assert_eq!(after, IosDetails { badge: Some(1), time_sensitive: Some(true), ..IosDetails::default() });
    }
}

#[test]
fn both_forms_of_a_web_subscription() {
    let point = format!("BA{}", "A".repeat(85));
    let secret = "AAAAAAAAAAAAAAAAAAAAAA";
    let wanted = WebSubscription { p256dh: point.clone(), auth: secret.to_owned() };
    for subscription in [
        json!({"p256dh": point, "auth": secret}),
        json!({"keys": {"p256dh": point, "auth": secret}}),
        json!({"subscription_type": "vapid", "keys": {"p256dh": format!("{point}="), "auth": format!("{secret}==")}}),
    ] {
        let web = json!({"subscription": subscription, "user_agent_string": "Browser/1"});
        let profile = registration(&json!({"device_type": "web", "web": web})).apply(None);
        let (subscription, agent) = (Some(wanted.clone()), Some("Browser/1".to_owned()));
        let details = WebDetails { subscription, user_agent_string: agent, ..WebDetails::default() };
        assert_eq!(profile.web, Some(details));
        let update = registration(&json!({"device_type": "web", "web": {"user_agent_string": "Browser/2"}}));
        assert_eq!(update.apply(Some(&profile)).web.unwrap().subscription, Some(wanted.clone()));
    }
}

#[test]
fn which_tags_a_registration_leaves() {
    let current = tag_set(&["a", "b"]);
    for (tags, wanted) in [
        (json!({}), tag_set(&["a", "b"])),
        (json!({"tags": ["c"]}), tag_set(&["c"])),
        (json!({"set_tags": false, "tags": ["c"]}), tag_set(&["a", "b"])),
        (json!({"set_tags": true, "tags": ["c"]}), tag_set(&["c"])),
        (json!({"set_tags": true, "tags": []}), tag_set(&[])),
        (json!({"set_tags": true}), tag_set(&["a", "b"])),
        (
            json!({"set_tags": true, "tags": ["b", "c"], "tag_changes": {"add": ["c"], "remove": ["a"]}}),
            tag_set(&["b", "c"]),
        ),
        (json!({"tag_changes": {"add": ["c"], "remove": ["a"]}}), tag_set(&["b", "c"])),
        (json!({"tag_changes": {}}), tag_set(&["a", "b"])),
        (json!({"set_tags": false, "tag_changes": {"add": ["c"]}}), tag_set(&["a", "b", "c"])),
        (
            json!({"set_tags": false, "tags": ["x"], "tag_changes": {"add": ["c"], "remove": ["a"]}}),
            tag_set(&["b", "c"]),
        ),
    ] {
        let mut channel = tags.clone();
        channel["device_type"] = json!("ios");
        assert_eq!(registration(&channel).device_tags(&current), wanted, "{tags}");
    }
}

#[test]
fn a_bad_tag_does_not_keep_a_device_away() {
    let (current, long) = (tag_set(&["a", "b"]), "t".repeat(129));
    let many: Vec<String> = (0..=1000).map(|n| format!("t{n:04}")).collect();
    let first: Vec<&str> = many[..1000].iter().map(String::as_str).collect();
    for (tags, wanted) in [
        (json!({"tags": ["c", long, 7]}), tag_set(&["c"])),
        (json!({"set_tags": true, "tags": [long]}), tag_set(&["a", "b"])),
        (json!({"set_tags": true, "tags": []}), tag_set(&[])),
        (json!({"tags": many}), tag_set(&first)),
        (json!({"tag_changes": {"add": ["c", long], "remove": ["a", ""]}}), tag_set(&["b", "c"])),
    ] {
        let mut channel = tags.clone();
        channel["device_type"] = json!("ios");
        let body = json!({ "channel": channel }).to_string();
        let registration = parse_with(body.as_bytes(), UnknownKeys::PassedOver, Registration::parse).unwrap();
        assert_eq!(registration.device_tags(&current), wanted, "{tags}");
        assert_eq!(parse(body.as_bytes(), Registration::parse).is_err(), tags != json!({"set_tags": true, "tags": []}));
    }
    let no_list = br#"{"channel": {"device_type": "ios", "tags": "c"}}"#;
    assert!(parse_with(no_list, UnknownKeys::PassedOver, Registration::parse).is_err());
}

fn open(more: &serde_json::Value) -> OpenRegistration {
    let mut channel = json!({
        "type": "open", "opt_in": true, "address": "new", "open": {"open_platform_name": "fridge"},
    });
    channel.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    read(&json!({ "channel": channel }), OpenRegistration::parse)
}

#[test]
fn an_open_registration_creates_and_updates() {
    let first = open(&json!({
        "timezone": "America/Chicago", "locale_country": "US", "locale_language": "en", "tags": ["x"],
        "open": {"open_platform_name": "fridge", "identifiers": {"serial": "1", "color": ""}},
    }))
    .apply(None);
    assert_eq!(
        serde_json::to_value(&first).unwrap(),
        json!({
            "device_type": "open::fridge", "opt_in": true, "address": "new", "timezone": "America/Chicago",
            "locale_country": "US", "locale_language": "en", "open": {"identifiers": {"serial": "1", "color": ""}},
        })
    );
    let renamed = open(&json!({
        "address": "newer", "open": {"open_platform_name": "fridge", "identifiers": {"a": "b"}, "old_address": "new"},
    }));
    assert_eq!((renamed.address.as_deref(), renamed.old_address.as_deref()), (Some("newer"), Some("new")));
    let renamed = renamed.apply(Some(&first));
    assert_eq!(renamed.address.as_deref(), Some("newer"));
    assert_eq!(renamed.timezone, first.timezone);
    assert_eq!(renamed.open.unwrap().identifiers, BTreeMap::from([("a".to_owned(), "b".to_owned())]));

    let id = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
    let by_id = open(&json!({"opt_in": false, "address": null, "channel_id": id}));
    assert_eq!(by_id.channel_id.unwrap().to_string(), id);
    let by_id = by_id.apply(Some(&first));
    assert_eq!(by_id, Profile { opt_in: false, ..first });
}

#[test]
fn which_tags_an_open_registration_leaves() {
    let current = tag_set(&["a", "b"]);
    for (tags, wanted) in [
        (json!({}), tag_set(&["a", "b"])),
        (json!({"set_tags": true}), tag_set(&["a", "b"])),
        (json!({"tags": ["c"]}), tag_set(&["c"])),
        (json!({"tags": []}), tag_set(&[])),
        (json!({"tags": ["c"], "set_tags": true}), tag_set(&["c"])),
        (json!({"tags": ["c"], "set_tags": false}), tag_set(&["a", "b", "c"])),
    ] {
        assert_eq!(open(&tags).device_tags(&current), wanted, "{tags}");
    }
}

#[test]
fn uninstalls_are_one_or_many() {
    let one =
        |device_type: &str| json!({"channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": device_type});
    let single = read(&one("ios"), Uninstalls::parse);
    assert_eq!(single, read(&json!([one("ios")]), Uninstalls::parse));
    assert_eq!(read(&json!(vec![one("ios"); 1000]), Uninstalls::parse).0.len(), 1000);

    let fridge = crate::device_type::DeviceType::from_name("open::fridge").unwrap();
    for (word, is_fridge) in [("open", true), ("open::fridge", true), ("open::oven", false), ("android", false)] {
        assert_eq!(read(&one(word), Uninstalls::parse).0[0].device_type.matches(&fridge), is_fridge, "{word}");
    }
}

#[test]
fn an_open_channel_is_named_by_its_address() {
    let body = json!({"audience": {"address": "a", "open_platform_name": "fridge"}, "set": {"g": "t"}});
    let OpenTags { audience, operation } = read(&body, OpenTags::parse);
    assert_eq!((audience.address.as_str(), audience.platform.as_str()), ("a", "fridge"));
    assert!(matches!(operation, TagOperation::Set(sets) if sets.len() == 1));
}

#[test]
fn groups_of_device_properties_are_found() {
    let groups = |operation: serde_json::Value| {
        let operation = read(&operation, |at| TagOperation::read(&mut at.object()?));
        operation.read_only_groups().into_iter().map(|group| group.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        groups(json!({"add": {"ua_opt_in": "true", "x": "y"}, "remove": {"timezone": "UTC"}})),
        ["timezone", "ua_opt_in"]
    );
    assert_eq!(groups(json!({"set": {"ua_ios_model": []}})), ["ua_ios_model"]);
    assert!(groups(json!({"set": {"device": ["a"]}})).is_empty());
}
