//! What is known about a person: tags, attributes and subscriptions, and a card for each device.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use super::records::{Channel, NamedUser};
use crate::dates::{time, time_or};
use crate::pages::people::standing;
use crate::parts::devices::device;
use crate::parts::happenings::tag_words;
use crate::parts::json::{block, brief};
use crate::visit::Visit;

/// Longer values are shown on demand.
const SHORT_VALUE: usize = 60;

pub(super) fn of_user(visit: &Visit, user: &NamedUser) -> Markup {
    let lists: Vec<String> = user
        .subscription_lists
        .iter()
        .flat_map(|of| of.list_ids.iter().map(move |list| format!("{list} ({})", of.scope)))
        .collect();
    let language = [&user.user_attributes.ua_language, &user.user_attributes.ua_country];
    let language: Vec<&str> = language.into_iter().flatten().map(String::as_str).collect();
    html! {
        section {
            h2 { "About the user" }
            dl.facts.card {
                dt { "Tags" } dd { (chips(in_groups(&user.tags))) }
                dt { "Attributes" } dd { (attributes(&user.attributes)) }
                dt { "Subscribed to" } dd { (chips(lists.into_iter())) }
                @if !language.is_empty() { dt { "Language" } dd { (language.join("-")) } }
                @if let Some(zone) = &user.user_attributes.ua_tz { dt { "Time zone" } dd { (zone) } }
            }
        }
        section {
            h2 { "Devices" }
            @if user.channels.is_empty() {
                div.empty { p { "The user has no device. What is sent to them reaches nobody until one is associated." } }
            } @else {
                div.cards {
                    @for channel in &user.channels {
                        article.card {
                            h3 { (device(visit, channel.kind(), &channel.channel_id)) }
                            (facts(channel))
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn of_channel(channel: &Channel) -> Markup {
    html! { section { h2 { "About the device" } div.card { (facts(channel)) } } }
}

fn facts(channel: &Channel) -> Markup {
    let groups = channel.tag_groups.clone();
    let (properties, assigned): (BTreeMap<_, _>, BTreeMap<_, _>) =
        groups.into_iter().partition(|(group, _)| is_property(group));
    html! {
        dl.facts {
            dt { "Notifications" } dd {
                (standing(channel))
                @if channel.background == Some(false) { " " span.quiet { "no background pushes" } }
            }
            dt { "Address" } dd {
                @match channel.push_address.as_ref().or(channel.address.as_ref()) {
                    Some(address) => code { (address) },
                    None => span.quiet { "none: nothing can be sent to it" },
                }
            }
            @if let Some(alias) = &channel.alias { dt { "Alias" } dd { (alias) } }
            dt { "Last seen" } dd { (time_or(channel.last_registration.as_deref(), "never")) }
            dt { "Registered" } dd { (time(&channel.created)) }
            dt { "Tags" } dd { (chips(channel.tags.iter().cloned().chain(in_groups(&assigned)))) }
            @if !properties.is_empty() {
                dt { "Properties" } dd { details.fold { summary { (properties.len()) " of the device" } (chips(in_groups(&properties))) } }
            }
            dt { "Attributes" } dd { (attributes(&channel.attributes)) }
            dt { "Subscribed to" } dd { (chips(channel.subscription_lists.iter().cloned())) }
        }
    }
}

/// Whether the tags of a group follow from what a device says of itself.
fn is_property(group: &str) -> bool {
    group == "timezone" || group.starts_with("ua_")
}

fn in_groups(groups: &BTreeMap<String, Vec<String>>) -> impl Iterator<Item = String> {
    groups.iter().flat_map(|(group, tags)| tags.iter().map(move |tag| tag_words(group, tag)))
}

fn chips(words: impl Iterator<Item = String>) -> Markup {
    let words: Vec<String> = words.collect();
    html! {
        @if words.is_empty() { span.quiet { "none" } }
        @for word in &words { span.chip { (word) } " " }
    }
}

fn attributes(attributes: &BTreeMap<String, Value>) -> Markup {
    html! {
        @if attributes.is_empty() { span.quiet { "none" } }
        @for (name, value) in attributes {
            @let words = brief(value);
            @if value.is_object() || words.chars().count() > SHORT_VALUE {
                details.fold { summary { (name) } (block(value)) }
            } @else { span.chip { (name) " = " (words) } " " }
        }
    }
}
