//! Selector trees: made by chance from what there is and what there is not, and printed in all the ways people write them.

use model::ids::{ChannelId, SegmentId};
use serde_json::{Value, json};

use super::attributes::Wish;
use super::lifecycle::{LISTS, Openings};
use super::naive::{GROUPS, Model, SUBSCRIPTIONS, TAGS, USERS};
use crate::chance::Chance;

#[derive(Clone, Debug)]
pub(super) enum Tree {
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Not(Box<Tree>),
    Tag {
        group: Option<&'static str>,
        tags: Vec<&'static str>,
    },
    /// Channels of any type, or of the type that the word before `_channel` means.
    Channel {
        word: Option<&'static str>,
        ids: Vec<ChannelId>,
    },
    Open(Vec<String>),
    Address {
        device_type: &'static str,
        addresses: Vec<String>,
    },
    User(Vec<&'static str>),
    Segment(Vec<SegmentId>),
    /// Uploaded lists and those that the service keeps itself.
    List(Vec<String>),
    Attribute(Wish),
    Activity(Openings),
    Subscription(Vec<&'static str>),
}

const PROPERTIES: [(&str, &[&str]); 6] = [
    ("ua_opt_in", &["true", "false"]),
    ("ua_locale_language", &["de", "fr", "Unknown", "tlh"]),
    ("timezone", &["Europe/Paris", "Asia/Tokyo", "NO_TIME_ZONE"]),
    ("ua_background_enabled", &["true", "false"]),
    ("ua_ios_app_version", &["1.0", "2.0", "Unknown"]),
    ("ua_android_app_version", &["1.0", "2.0", "Unknown"]),
];

/// The address of a device by its number. Tokens of Apple's service are long and hexadecimal.
pub(super) fn address(device_type: &str, number: usize) -> String {
    if device_type == "ios" { format!("{number:064X}") } else { format!("address-{number}") }
}

impl Tree {
    /// A tree of at most so many levels.
    pub(super) fn random(chance: &mut Chance, model: &Model, levels: usize) -> Self {
        if levels <= 1 || chance.percent(15) {
            return Self::leaf(chance, model);
        }
        match chance.below(5) {
            0 | 1 => Tree::And(Self::members(chance, model, levels - 1)),
            2 | 3 => Tree::Or(Self::members(chance, model, levels - 1)),
            _ => Tree::Not(Box::new(Self::random(chance, model, levels - 1))),
        }
    }

    fn members(chance: &mut Chance, model: &Model, levels: usize) -> Vec<Self> {
        (0..=chance.below(4)).map(|_| Self::random(chance, model, levels)).collect()
    }

    fn leaf(chance: &mut Chance, model: &Model) -> Self {
        match chance.below(24) {
            0..5 => {
                let group = chance.percent(60).then(|| chance.pick(&GROUPS));
                let mut tags = chance.some(&TAGS, 3);
                if chance.percent(10) {
                    tags.push("nobody has this");
                }
                Tree::Tag { group, tags }
            }
            5..9 => {
                let (group, tags) = chance.pick(&PROPERTIES);
                Tree::Tag { group: Some(group), tags: chance.some(tags, 2) }
            }
            9..11 => {
                let mut ids: Vec<ChannelId> = model.channels.iter().map(|channel| channel.id).collect();
                ids.push(ChannelId::random());
                let word = chance.percent(60).then(|| chance.pick(&["ios", "android", "amazon", "web"]));
                Tree::Channel { word, ids: chance.some(&ids, 12) }
            }
            11 => {
                let names = model.installed().filter(|channel| channel.device_type.starts_with("open::"));
                let mut names: Vec<String> =
                    names.flat_map(|it| it.address.clone().into_iter().chain([it.id.to_string()])).collect();
                names.push("nowhere".to_owned());
                Tree::Open(chance.some(&names, 4))
            }
            12 => {
                let device_type = chance.pick(&["ios", "wns"]);
                let number = chance.below(40);
                Tree::Address {
                    device_type,
                    addresses: (number..number + 5).map(|n| address(device_type, n)).collect(),
                }
            }
            13..15 => {
                let mut users = chance.some(&USERS, 3);
                if chance.percent(10) {
                    users.push("nobody");
                }
                Tree::User(users)
            }
            15..17 => {
                let mut ids: Vec<SegmentId> = model.segments.iter().map(|(id, _)| *id).collect();
                ids.push(SegmentId::random());
                Tree::Segment(chance.some(&ids, 2))
            }
            17..19 => {
                let mut names: Vec<String> = model.lists.iter().map(|list| list.name.clone()).collect();
                names.push("no_such_list".to_owned());
                if chance.percent(50) {
                    names = LISTS.iter().map(|(name, _, _)| (*name).to_owned()).collect();
                }
                Tree::List(chance.some(&names, 2))
            }
            19..22 => Tree::Attribute(Wish::random(chance)),
            22 => Tree::Activity(Openings::random(chance)),
            _ => Tree::Subscription(chance.some(&SUBSCRIPTIONS, 2)),
        }
    }

    pub(super) fn print(&self, chance: &mut Chance) -> Value {
        let mut operator = |name: &str| -> String {
            name.chars().map(|c| if chance.percent(50) { c.to_ascii_uppercase() } else { c }).collect()
        };
        match self {
            Tree::And(members) => {
                let key = operator("and");
                json!({ key: members.iter().map(|member| member.print(chance)).collect::<Vec<_>>() })
            }
            Tree::Or(members) => {
                let key = operator("or");
                json!({ key: members.iter().map(|member| member.print(chance)).collect::<Vec<_>>() })
            }
            Tree::Not(member) => {
                let key = operator("not");
                let inner = member.print(chance);
                if chance.percent(30) { json!({ key: [inner] }) } else { json!({ key: inner }) }
            }
            Tree::Tag { group: None, tags } => json!({ "tag": one_or_many(chance, tags) }),
            Tree::Tag { group: Some(group), tags } => json!({ "tag": one_or_many(chance, tags), "group": group }),
            Tree::Channel { word, ids } => {
                let key = word.map_or("channel".to_owned(), |word| format!("{word}_channel"));
                json!({ key: one_or_many(chance, &ids.iter().map(ChannelId::to_string).collect::<Vec<_>>()) })
            }
            Tree::Open(names) => json!({ "open_channel": one_or_many(chance, names) }),
            Tree::Address { device_type: "ios", addresses } => json!({ "device_token": addresses }),
            Tree::Address { device_type, addresses } => json!({ *device_type: addresses }),
            Tree::User(users) => json!({ "named_user": one_or_many(chance, users) }),
            Tree::Segment(ids) => {
                json!({ "segment": one_or_many(chance, &ids.iter().map(SegmentId::to_string).collect::<Vec<_>>()) })
            }
            Tree::List(names) => json!({ "static_list": one_or_many(chance, names) }),
            Tree::Attribute(wish) => wish.print(),
            Tree::Activity(openings) => openings.print(),
            Tree::Subscription(lists) => json!({ "subscription_list": one_or_many(chance, lists) }),
        }
    }
}

fn one_or_many(chance: &mut Chance, values: &[impl AsRef<str>]) -> Value {
    match values {
        [one] if chance.percent(70) => json!(one.as_ref()),
        _ => values.iter().map(|value| json!(value.as_ref())).collect(),
    }
}
