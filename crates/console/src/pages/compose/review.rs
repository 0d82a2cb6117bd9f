//! The last page before a message is sent: what will happen, in words, with the number of people.

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use model::ids::OperationId;
use serde_json::Value;

use super::draft::{Draft, When};
use super::preview;
use super::reach::{Explanation, Platform, explain};
use super::sending;
use crate::answer::Answer;
use crate::dates::moment;
use crate::error::{Error, Result};
use crate::parts::fields::Field;
use crate::parts::numbers::{count, grouped};
use crate::visit::Visit;

/// From how many on the number has to be typed.
const TYPED_ABOVE: u64 = 10_000;
const FIELDS: [&str; 9] = ["who", "join", "title", "text", "url", "name", "when", "at", "expires"];

pub(super) async fn show(visit: &Arc<Visit>, draft: &Draft) -> Result<Answer> {
    if !visit.may(Role::Sender) {
        return Err(Error::NotAllowed("Sending is for people with the role sender.".to_owned()));
    }
    let (path, body) = draft.call()?;
    let reach = explain(visit, draft).await?;
    // Problems of the message itself are told now, and not after the click that sends.
    if path == "/api/push" {
        visit.post::<Value>("/api/push/validate", body).await?;
    }
    let needs_typing = reach.reachable > TYPED_ABOVE;
    let body = html! {
        div.compose {
            form method="post" action=(visit.to("/compose")) {
                (words(draft, &reach)?)
                (kept(visit, draft))
                input type="hidden" name="once" value=(OperationId::random());
                @if needs_typing {
                    (Field::text("number", "Type the number of devices").hint("Because it is large.").show(None))
                }
                input type="hidden" name="expected" value=(reach.reachable);
                div.actions {
                    button.main name="do" value="send" {
                        @match draft.when { When::Now => { "Send to " (grouped(reach.reachable)) } When::At | When::Local => "Schedule it" }
                    }
                    button name="do" value="check" formnovalidate { "Back" }
                }
                @if draft.when == When::Now { p.quiet { "After that you have ten seconds to take it back." } }
            }
            aside { (preview::show(draft)) }
        }
    };
    Answer::page("Ready to send?", body)
}

pub(super) async fn send(visit: &Arc<Visit>, draft: &Draft) -> Result<Answer> {
    if !visit.may(Role::Sender) {
        return Err(Error::NotAllowed("Sending is for people with the role sender.".to_owned()));
    }
    let expected: u64 = visit.form.text("expected").and_then(|number| number.parse().ok()).unwrap_or(u64::MAX);
    let typed = visit.form.text("number").map(|typed| typed.chars().filter(char::is_ascii_digit).collect::<String>());
    if expected > TYPED_ABOVE && typed.is_none_or(|typed| typed != expected.to_string()) {
        return Err(Error::invalid("number", "The number of devices was not typed as shown; nothing was sent."));
    }
    let once = visit.form.text("once").ok_or_else(|| Error::invalid("once", "Review the message once more."))?;
    if draft.when == When::Now {
        return sending::begin(visit, draft, once).await;
    }
    let (path, body) = draft.call()?;
    // A second click with the same form schedules nothing more.
    visit.post_once::<Value>(path, body, once).await?;
    let body = html! {
        p { "It is sent at " (moment(draft.time()?)) @if draft.when == When::Local { ", by the clock of each device" } "." }
        p { a href=(visit.to("")) { "Back to the start" } }
    };
    Answer::page("Scheduled", body)
}

fn words(draft: &Draft, reach: &Explanation) -> Result<Markup> {
    let sum = |of: fn(&Platform) -> u64| reach.platforms.values().map(of).sum::<u64>();
    let left_out = sum(|at| at.opted_out) + sum(|at| at.without_address);
    let when = match draft.when {
        When::Now => html! { "now" },
        When::At => html! { "at " (moment(draft.time()?)) },
        When::Local => html! { "when it is " (draft.time()?.to_api().replace('T', " ")) " where they are" },
    };
    Ok(html! {
        p.value { (count(reach.reachable, "device", "devices")) ", " (when) "." }
        @if left_out > 0 { p { (count(left_out, "device", "devices")) " that opted out or cannot be reached get nothing." } }
        @if draft.when != When::Now { p.quiet { "Who fits then is decided then; the number is as of now." } }
    })
}

/// What was filled in, for the next step.
fn kept(visit: &Visit, draft: &Draft) -> Markup {
    let conditions = draft.conditions.fields();
    html! {
        @for name in FIELDS.iter().filter(|name| !["who", "join"].contains(name)) {
            @if let Some(value) = visit.form.exact(name) { input type="hidden" name=(name) value=(value); }
        }
        @for (name, value) in &conditions { input type="hidden" name=(name) value=(value); }
    }
}
