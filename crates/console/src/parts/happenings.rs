//! Events in sentences: what a device, its user or the service did.

use maud::{Markup, html};
use serde_json::Value;

use super::devices::short;
use super::json::brief;
use crate::visit::Visit;

/// The types of events with words to choose them by.
pub(crate) const TYPES: [(&str, &str); 25] = [
    ("PUSH_BODY", "Message accepted"),
    ("SEND", "Message sent"),
    ("SEND_REJECTED", "Message refused"),
    ("CONTROL", "Held back"),
    ("RICH_DELIVERY", "Inbox: came in"),
    ("RICH_READ", "Inbox: read"),
    ("RICH_DELETE", "Inbox: deleted"),
    ("OPEN", "App opened"),
    ("CLOSE", "App left"),
    ("CUSTOM", "Custom event"),
    ("SCREEN_VIEWED", "Screen viewed"),
    ("LOCATION", "Location"),
    ("REGION", "Region"),
    ("IN_APP_MESSAGE_DISPLAY", "In-app: shown"),
    ("IN_APP_MESSAGE_RESOLUTION", "In-app: answered"),
    ("IN_APP_MESSAGE_EXPIRATION", "In-app: given up"),
    ("TAG_CHANGE", "Tags changed"),
    ("ATTRIBUTE_OPERATION", "Attributes changed"),
    ("SUBSCRIPTION_LIST", "Subscriptions changed"),
    ("CONTACT_CHANGE", "User changed"),
    ("FIRST_OPT_IN", "Opted in"),
    ("WEB_SESSION", "Web page opened"),
    ("WEB_CLICK", "Web: clicked"),
    ("FIRST_OPEN", "Registered"),
    ("UNINSTALL", "Uninstalled"),
];

pub(crate) fn name(event_type: &str) -> &str {
    TYPES.iter().find(|(known, _)| *known == event_type).map_or(event_type, |(_, words)| *words)
}

/// What happened, without the device and the time.
pub(crate) fn sentence(visit: &Visit, event_type: &str, body: &Value) -> Markup {
    let text = |key: &str| body[key].as_str();
    match event_type {
        "OPEN" => html! { "opened the app" (by_push(visit, body)) },
        "CLOSE" => html! { "left the app" },
        "CUSTOM" => html! {
            strong { (text("name").unwrap_or("a custom event")) }
            @if !body["value"].is_null() { " " (brief(&body["value"])) }
            @let properties = brief(&body["properties"]);
            @if !properties.is_empty() { " " span.quiet { "{" (properties) "}" } }
        },
        "SCREEN_VIEWED" => {
            html! { "looked at the screen " strong { (text("viewed_screen").unwrap_or("without a name")) } }
        }
        "LOCATION" => html! { "was at " (brief(&body["latitude"])) ", " (brief(&body["longitude"])) },
        "REGION" => {
            let went = if text("action") == Some("exit") { "left" } else { "entered" };
            let region = text("name").or(text("region_id")).unwrap_or("without a name");
            html! { (went) " the region " strong { (region) } }
        }
        "TAG_CHANGE" => tag_changes(body),
        "ATTRIBUTE_OPERATION" => attribute_changes(body),
        "SUBSCRIPTION_LIST" => subscription_changes(body),
        "CONTACT_CHANGE" => {
            let went = if text("change_type") == Some("ASSOCIATION") { "came to " } else { "left " };
            html! { (went) strong { (text("named_user_id").unwrap_or("a named user")) } }
        }
        "FIRST_OPT_IN" => html! { "opted in for the first time" },
        "WEB_SESSION" => html! { "opened the web page" (by_push(visit, body)) },
        "WEB_CLICK" => html! { "clicked " (message(visit, body, "a message")) },
        "FIRST_OPEN" => html! { "registered for the first time" },
        "UNINSTALL" => html! { "uninstalled" @if body["decay"] == true { ", as the provider says" } },
        "RICH_DELIVERY" => html! { (message(visit, body, "a message")) " came into the inbox" },
        "RICH_READ" => html! { "read " (message(visit, body, "a message")) " in the inbox" },
        "RICH_DELETE" => html! { "deleted " (message(visit, body, "a message")) " from the inbox" },
        "IN_APP_MESSAGE_DISPLAY" => html! { "was shown " (message(visit, body, "an in-app message")) },
        "IN_APP_MESSAGE_RESOLUTION" => html! { "answered " (message(visit, body, "an in-app message")) },
        "IN_APP_MESSAGE_EXPIRATION" => html! { (message(visit, body, "an in-app message")) " was given up" },
        "PUSH_BODY" => html! { (message(visit, body, "a message")) " was accepted" },
        "SEND" => html! { (message(visit, body, "a message")) " was handed over" },
        "SEND_REJECTED" => html! {
            (message(visit, body, "a message")) " could not be handed over"
            @if let Some(reason) = text("reason") { ": " (reason) }
        },
        "CONTROL" => html! { (message(visit, body, "a message")) " was held back for the control group" },
        other => html! { (other) @let rest = brief(body); @if !rest.is_empty() { " " span.quiet { (rest) } } },
    }
}

/// The way to the message that an event is about.
fn message(visit: &Visit, body: &Value, words: &str) -> Markup {
    match body["push_id"].as_str() {
        Some(id) => html! { a href=(visit.to(&format!("/messages/{id}"))) { (words) } },
        None => html! { (words) },
    }
}

fn by_push(visit: &Visit, body: &Value) -> Markup {
    html! {
        @if let Some(id) = body["triggering_push"]["push_id"].as_str() {
            " by " a href=(visit.to(&format!("/messages/{id}"))) { "the notification " code { "…" (short(id)) } }
        }
    }
}

/// The tags that came and went.
pub(crate) fn tag_changes(body: &Value) -> Markup {
    let tags = |key: &str| -> Vec<String> {
        let groups = body[key].as_object().into_iter().flatten();
        let of_group = |(group, tags): (&String, &Value)| -> Vec<String> {
            let tags = tags.as_array().into_iter().flatten();
            tags.map(|tag| tag_words(group, tag.as_str().unwrap_or_default())).collect()
        };
        groups.flat_map(of_group).collect()
    };
    html! {
        "tags "
        @for tag in tags("add") { span.chip.good { "+ " (tag) } " " }
        @for tag in tags("remove") { span.chip.bad { "− " (tag) } " " }
    }
}

fn attribute_changes(body: &Value) -> Markup {
    let several = |key: &str| body[key].as_array().into_iter().flatten();
    let key = |one: &Value| brief(&one["key"]);
    html! {
        "attributes "
        @for one in several("set") { span.chip.good { (key(one)) " = " (brief(&one["value"])) } " " }
        @for one in several("remove") { span.chip.bad { "− " (key(one)) } " " }
    }
}

fn subscription_changes(body: &Value) -> Markup {
    let lists = |key: &str| body[key].as_array().into_iter().flatten();
    html! {
        "subscriptions "
        @for list in lists("enrolled") { span.chip.good { "+ " (brief(list)) } " " }
        @for list in lists("canceled") { span.chip.bad { "− " (brief(list)) } " " }
    }
}

/// A tag with its group, unless that is the one of devices.
pub(crate) fn tag_words(group: &str, tag: &str) -> String {
    if group == "device" { tag.to_owned() } else { format!("{group}: {tag}") }
}
