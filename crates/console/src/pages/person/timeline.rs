//! What happened to a person, newest first, as sentences.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::records::{Channel, Entry, Timeline};
use crate::dates::time;
use crate::parts::devices::{channel_page, device, short, user_page};
use crate::parts::happenings::{sentence, tag_changes};
use crate::parts::json::{brief, folded};
use crate::parts::outcomes;
use crate::parts::pager::back_and_forth;
use crate::parts::states::badge_saying;
use crate::parts::tabs::tabs;
use crate::visit::Visit;

const KINDS: [(&str, &str); 4] = [("", "All"), ("send", "Messages"), ("event", "Events"), ("change", "Changes")];

pub(super) fn section(visit: &Visit, timeline: &Timeline, channels: &[Channel]) -> Markup {
    html! {
        section #timeline {
            h2 { "Timeline" }
            (tabs(visit, "What is shown", "kind", &KINDS, &["before", "trail", "push", "older"]))
            @if timeline.entries.is_empty() {
                div.empty {
                    @if timeline.before.is_some() { p { "Nothing in this part of the past; there is more before it." } }
                    @else { p { "Nothing of this kind has happened, as far back as events are kept." } }
                }
            } @else {
                ol.timeline { @for entry in &timeline.entries { (line(visit, entry, channels)) } }
            }
            (back_and_forth(visit, timeline.before.as_deref(), &["push", "older"]))
        }
    }
}

fn line(visit: &Visit, entry: &Entry, channels: &[Channel]) -> Markup {
    let (word, what) = match entry.kind.as_str() {
        "send" => (if entry.outcome.as_deref() == Some("delivered") { "got" } else { "missed" }, sent(visit, entry)),
        "change" => ("changed", changed(visit, entry)),
        _ => ("did", sentence(visit, entry.event_type.as_deref().unwrap_or_default(), &entry.body)),
    };
    let has_details = entry.kind == "event" && entry.body.as_object().is_some_and(|body| !body.is_empty());
    // Of one device, everything is about that.
    let of = entry.channel_id.as_deref().filter(|_| channels.len() != 1);
    html! {
        li.(word) {
            span.when { (time(&entry.at)) }
            span.word { (word) }
            div.what {
                (what)
                @if let Some(id) = of {
                    " " span.quiet {
                        @match channels.iter().find(|channel| channel.channel_id == id) {
                            Some(channel) => (device(visit, channel.kind(), id)),
                            None => a href=(channel_page(visit, id)) { "another device " code { "…" (short(id)) } },
                        }
                    }
                }
                @if has_details { (folded("Details", &entry.body)) }
            }
        }
    }
}

fn sent(visit: &Visit, entry: &Entry) -> Markup {
    let outcome = entry.outcome.as_deref().unwrap_or_default();
    let text = entry.title.as_deref().or(entry.alert.as_deref()).unwrap_or("a message without a text");
    html! {
        @match (entry.body["experiment_id"].as_str().filter(|_| outcome == "held_back"), &entry.push_id) {
            (Some(experiment), _) => a href=(visit.to(&format!("/experiments/{experiment}"))) { "the messages of an experiment" },
            (None, Some(push)) => a href=(visit.to(&format!("/messages/{push}"))) { (text) },
            (None, None) => (text),
        }
        " " (outcomes::badge(outcome))
        @if entry.opened { " " (badge_saying("opened", "opened")) }
        @if let Some(push) = &entry.push_id {
            " " a.quiet href={ (visit.path) (visit.query.with(&[("push", push.as_str()), ("older", "")])) "#why" } { "why?" }
        }
        @if let Some(why) = outcomes::why(outcome, entry.reason.as_deref()) { p.quiet { (why) } }
    }
}

fn changed(visit: &Visit, entry: &Entry) -> Markup {
    match entry.what.as_deref().unwrap_or_default() {
        "tags" => tag_changes(&entry.body),
        "attributes" => sentence(visit, "ATTRIBUTE_OPERATION", &entry.body),
        "subscriptions" => sentence(visit, "SUBSCRIPTION_LIST", &entry.body),
        "registered" => html! { "registered for the first time" },
        "uninstalled" => sentence(visit, "UNINSTALL", &entry.body),
        "named_user" => {
            let user = |side: &Map<String, Value>| side.get("named_user_id").map(brief);
            match (user(&entry.before), user(&entry.after)) {
                (None, Some(now)) => html! { "became the device of " a href=(user_page(visit, &now)) { (now) } },
                (Some(before), None) => {
                    html! { "is not the device of " a href=(user_page(visit, &before)) { (before) } " any more" }
                }
                (before, now) => {
                    html! { "changed hands: " (before.unwrap_or_default()) " → " (now.unwrap_or_default()) }
                }
            }
        }
        "opt_in" if entry.after.get("push_opt_in").map(brief).as_deref() == Some("true") => {
            html! { "opted in to notifications" }
        }
        "opt_in" => html! { "opted out of notifications" },
        _ => html! { @for difference in differences(entry) { span.chip { (difference) } " " } },
    }
}

/// Each value that has changed, such as `app version: 1 → 2`.
fn differences(entry: &Entry) -> Vec<String> {
    let value = |of: &Map<String, Value>, name: &str| of.get(name).map_or_else(|| "none".to_owned(), brief);
    let mut names: Vec<&String> = entry.before.keys().chain(entry.after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let words = |name: &String| {
        format!("{}: {} → {}", name.replace('_', " "), value(&entry.before, name), value(&entry.after, name))
    };
    names.into_iter().map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[test]
    fn changes_are_told_by_what_is_different() {
        let entry = json!({"at": "T", "kind": "change", "before": {"app_version": "1", "locale": "en"},
                           "after": {"app_version": "2"}});
        let entry: Entry = Entry::deserialize(entry).unwrap();
        assert_eq!(differences(&entry), ["app version: 1 → 2", "locale: en → none"]);
    }
}
