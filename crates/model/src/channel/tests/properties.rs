//! Random operations against a slow and simple model, and registrations that must not depend on how often they arrive.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{read, tag_set};
use crate::channel::{OpenRegistration, Registration, TagOperation, TagSets};
use crate::tag::{Tag, TagGroup};

/// Every tag as a pair of plain words.
type Pairs = std::collections::BTreeSet<(String, String)>;

fn sets() -> impl Strategy<Value = BTreeMap<String, Vec<String>>> {
    proptest::collection::btree_map("[gh]", proptest::collection::vec("[a-d]", 0..4), 0..3)
}

fn pairs(sets: &BTreeMap<String, Vec<String>>) -> Pairs {
    sets.iter().flat_map(|(group, tags)| tags.iter().map(|tag| (group.clone(), tag.clone()))).collect()
}

fn tag_sets(pairs: &Pairs) -> TagSets {
    let mut sets = TagSets::new();
    for (group, tag) in pairs {
        sets.entry(TagGroup::new(group).unwrap()).or_default().insert(Tag::new(tag).unwrap());
    }
    sets
}

/// Some keys of a registration, each with a value, as `null` or not at all.
fn channel(device_type: &'static str, values: Vec<(&'static str, Value)>) -> impl Strategy<Value = Value> {
    let n_values = values.len();
    proptest::collection::vec(0..3_u8, n_values).prop_map(move |choices| {
        let mut channel = json!({ "device_type": device_type });
        for ((key, value), choice) in values.iter().zip(choices) {
            match choice {
                0 => {}
                1 => channel[key] = value.clone(),
                _ => channel[key] = Value::Null,
            }
        }
        channel
    })
}

fn ios_channel() -> impl Strategy<Value = Value> {
    let values = vec![
        ("background", json!(true)),
        ("push_address", json!("AB12")),
        ("alias", json!("joey")),
        ("timezone", json!("UTC")),
        ("locale_language", json!("en")),
        ("app_version", json!("1")),
        ("permissions", json!({"location": "granted"})),
        ("set_tags", json!(true)),
        ("tags", json!(["a", "b"])),
        ("tag_changes", json!({"add": ["c"], "remove": ["a"]})),
        ("ios", json!({"badge": null, "time_sensitive": true})),
    ];
    channel("ios", values)
}

proptest! {
    #[test]
    fn edits_agree_with_sets_of_pairs(before in sets(), add in sets(), remove in sets()) {
        let (before, add_pairs, remove_pairs) = (pairs(&before), pairs(&add), pairs(&remove));
        prop_assume!(add_pairs.is_disjoint(&remove_pairs));
        let operation = read(&json!({"add": add, "remove": remove}), |at| TagOperation::read(&mut at.object()?));
        let mut tags = tag_sets(&before);
        operation.apply(&mut tags);
        let wanted = &(&before - &remove_pairs) | &add_pairs;
        prop_assert_eq!(&tags, &tag_sets(&wanted));
        operation.apply(&mut tags);
        prop_assert_eq!(tags, tag_sets(&wanted));
    }

    #[test]
    fn sets_agree_with_sets_of_pairs(before in sets(), set in sets()) {
        let before = pairs(&before);
        let operation = read(&json!({ "set": set }), |at| TagOperation::read(&mut at.object()?));
        let mut tags = tag_sets(&before);
        operation.apply(&mut tags);
        let others = before.iter().filter(|(group, _)| !set.contains_key(group)).cloned().collect();
        prop_assert_eq!(tags, tag_sets(&(&others | &pairs(&set))));
    }

    #[test]
    fn registering_twice_is_registering_once(first in ios_channel(), second in ios_channel()) {
        let [first, second] = [first, second].map(|channel| read(&json!({ "channel": channel }), Registration::parse));
        let before = first.apply(None);
        let once = second.apply(Some(&before));
        prop_assert_eq!(second.apply(Some(&once)), once);
        let tags_once = second.device_tags(&tag_set(&["a", "x"]));
        prop_assert_eq!(second.device_tags(&tags_once), tags_once);
    }

    #[test]
    fn registering_an_address_twice_is_registering_it_once(
        opt_in: bool, set_tags: Option<bool>, tags in proptest::option::of(proptest::collection::vec("[a-d]", 0..3)),
        timezone: Option<u8>, identifier in proptest::option::of("[a-z]{1,3}"),
    ) {
        let identifiers = identifier.map(|key| json!({key: "v"}));
        let registration = read(&json!({"channel": {
            "type": "open", "opt_in": opt_in, "address": "a", "tags": tags, "set_tags": set_tags,
            "timezone": timezone.map(|n| format!("Etc/GMT-{n}")),
            "open": {"open_platform_name": "fridge", "identifiers": identifiers},
        }}), OpenRegistration::parse);
        let once = registration.apply(None);
        prop_assert_eq!(registration.apply(Some(&once)), once);
        let tags_once = registration.device_tags(&tag_set(&["a", "x"]));
        prop_assert_eq!(registration.device_tags(&tags_once), tags_once);
    }
}
