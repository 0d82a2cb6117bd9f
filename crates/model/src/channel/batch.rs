//! The changes that a device makes to its own channel in one request.
//!
//! Unknown keys are skipped: device libraries send new ones before we know them, and drop a batch that is refused.

use super::TagOperation;
use super::live::{self, LiveChange, TokenChange, UpdateChange};
use crate::attribute::{self, AttributeOperation};
use crate::json::body::Body;
use crate::json::{At, Fields, Json, OneOrMany};
use crate::subscription::{self, SubscriptionOperation};

/// Changes that a device makes to its own channel. Each part may be left out.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, lenient)]
pub struct ChannelBatch {
    /// Carried out in their order.
    #[body(read = |at| TagOperation::read_several(&mut at.object()?), nullable, default, like = TagOperation)]
    pub tags: Vec<TagOperation>,
    /// Attributes that are set or removed.
    #[body(
        take = |fields| given(fields, "attributes").and_then(|at| attribute::operations(&at)),
        default,
        like = Option<OneOrMany<AttributeOperation>>
    )]
    pub attributes: Vec<AttributeOperation>,
    /// Subscriptions that begin or end.
    #[body(
        rename = "subscription_lists",
        take = |fields| given(fields, "subscription_lists").and_then(|at| subscription::operations(&at)),
        default,
        like = Option<OneOrMany<SubscriptionOperation>>
    )]
    pub subscriptions: Vec<SubscriptionOperation>,
    /// Live Activities that began or ended, with the tokens by which they change.
    #[body(read = live::activities, nullable, default, like = Vec<TokenChange>)]
    pub live_activities: Vec<LiveChange>,
    /// Live Updates that began or ended.
    #[body(read = live::updates, nullable, default, like = Vec<UpdateChange>)]
    pub live_updates: Vec<LiveChange>,
}

/// The value under a key, unless it is null.
fn given<'a>(fields: &mut Fields<'a>, key: &str) -> Option<At<'a>> {
    fields.take(key).filter(|at| !at.is_null() && !matches!(at.json(), Json::Array(items) if items.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::TagSets;
    use crate::channel::tests::{read, tag_set};
    use crate::json::{UnknownKeys, parse, parse_with};
    use crate::tag::TagGroup;
    use serde_json::json;

    #[test]
    fn every_part_may_be_left_out() {
        let nothing = ChannelBatch {
            tags: Vec::new(),
            attributes: Vec::new(),
            subscriptions: Vec::new(),
            live_activities: Vec::new(),
            live_updates: Vec::new(),
        };
        for body in [json!({}), json!({"tags": null, "attributes": [], "subscription_lists": null})] {
            assert_eq!(read(&body, ChannelBatch::parse), nothing, "{body}");
        }
        let whole = json!({
            "tags": {"add": {"food": ["fish"]}},
            "attributes": [{"action": "remove", "key": "city"}],
            "subscription_lists": [{"action": "subscribe", "list_id": "weekly"}],
            "live_updates": null,
            "new_in_sdk_30": {},
        });
        let batch = read(&whole, ChannelBatch::parse);
        assert_eq!((batch.tags.len(), batch.attributes.len(), batch.subscriptions.len()), (1, 1, 1));
    }

    #[test]
    fn tags_that_are_set_come_before_those_that_are_added_and_removed() {
        let body =
            json!({"tags": {"add": {"food": "fish"}, "remove": {"food": ["rice"]}, "set": {"food": ["rice", "tea"]}}});
        let food = TagGroup::new("food").unwrap();
        let mut tags = [(food.clone(), tag_set(&["milk"]))].into();
        for operation in read(&body, ChannelBatch::parse).tags {
            operation.apply(&mut tags);
        }
        assert_eq!(tags[&food], tag_set(&["fish", "tea"]));
    }

    #[test]
    fn bad_batches() {
        for (body, paths) in [
            (json!([]), &[""][..]),
            (json!({"tags": [], "attributes": {}}), &["tags", "attributes.action", "attributes.key"]),
            (json!({"tags": {"clear": {}, "add": {"": []}}, "x": 1}), &["tags.add."]),
            (json!({"tags": {"add": {"a": ["t"]}, "remove": {"a": ["t"]}}}), &["tags.remove.a"]),
        ] {
            let problems = parse(body.to_string().as_bytes(), ChannelBatch::parse).unwrap_err();
            let found: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
            assert_eq!(found, paths, "{body}: {problems}");
        }
    }

    #[test]
    fn a_device_loses_what_cannot_be_read_and_nothing_else() {
        let (long_tag, long_list) = ("t".repeat(129), "l".repeat(33));
        let body = json!({
            "tags": {"add": {"food": ["fish", long_tag], "": ["x"], "drink": 7, "games": [long_tag, "chess"]}},
            "attributes": [
                {"action": "set", "key": "city", "value": "Oslo"},
                {"action": "set", "key": "city", "value": {"no": "object"}, "timestamp": "noon"},
                {"action": "forget", "key": "city"},
            ],
            "subscription_lists": [{"action": "subscribe", "list_id": long_list}, {"action": "subscribe", "list_id": "weekly"}],
        });
        let text = body.to_string();
        let problems = parse(text.as_bytes(), ChannelBatch::parse).unwrap_err();
        assert!(problems.iter().count() >= 7, "{problems}");
        let batch = parse_with(text.as_bytes(), UnknownKeys::PassedOver, ChannelBatch::parse).unwrap();
        let mut tags = TagSets::new();
        batch.tags.iter().for_each(|operation| operation.apply(&mut tags));
        let group = |name: &str| TagGroup::new(name).unwrap();
        assert_eq!(tags[&group("food")], tag_set(&["fish"]));
        assert_eq!(tags[&group("games")], tag_set(&["chess"]));
        let lists: Vec<&str> = batch.subscriptions.iter().map(|operation| operation.list_id.as_str()).collect();
        assert_eq!((batch.attributes.len(), lists), (1, vec!["weekly"]));
    }

    #[test]
    fn what_a_device_gets_wrong_takes_away_no_tags() {
        let many: Vec<String> = (0..=100).map(|n| format!("t{n:03}")).collect();
        let first: Vec<&str> = many[..100].iter().map(String::as_str).collect();
        let long = "t".repeat(129);
        let g = TagGroup::new("g").unwrap();
        for (change, wanted) in [
            (json!({"set": {"g": [long]}}), tag_set(&["a", "b"])),
            (json!({"set": {"g": ["a", long]}}), tag_set(&["a", "b"])),
            (json!({"set": {"g": long}}), tag_set(&["a", "b"])),
            (json!({"set": {"g": 7}}), tag_set(&["a", "b"])),
            (json!({"set": {"g": many}}), tag_set(&["a", "b"])),
            (json!({"set": {"g": [long]}, "add": {"g": ["c", long]}, "remove": {"g": ["a", 7]}}), tag_set(&["b", "c"])),
            (json!({"add": {"g": many}, "remove": {"g": ["a", "b"]}}), tag_set(&first)),
            (json!({"set": {"g": ["c"]}}), tag_set(&["c"])),
            (json!({"set": {"g": ["c"], "h": [long]}}), tag_set(&["c"])),
        ] {
            let body = json!({ "tags": change }).to_string();
            let batch = parse_with(body.as_bytes(), UnknownKeys::PassedOver, ChannelBatch::parse).unwrap();
            let mut tags = TagSets::from([(g.clone(), tag_set(&["a", "b"]))]);
            batch.tags.iter().for_each(|operation| operation.apply(&mut tags));
            assert_eq!(tags, TagSets::from([(g.clone(), wanted)]), "{change}");
        }
    }
}
