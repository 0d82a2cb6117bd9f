//! One message: what it says, how far it is, what became of it on each platform, and how it was received.

mod opens;
pub(crate) mod said;

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::account::Role;
use model::ids::PushId;
use serde::Deserialize;

use super::messages::{Listed, Progress, Pushes};
use crate::answer::Answer;
use crate::chart::funnel;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::parts::copy;
use crate::parts::devices::platform as device_type;
use crate::parts::numbers::{count, figure, grouped, percent, progress};
use crate::parts::outcomes;
use crate::parts::people::person;
use crate::parts::segment_of_push;
use crate::visit::Visit;
use said::Said;

#[derive(Deserialize)]
struct One {
    push: Status,
}

#[derive(Deserialize)]
struct Status {
    state: String,
    push_type: String,
    created: String,
    expires: Option<String>,
    total: Progress,
    platforms: BTreeMap<String, Progress>,
    received: Option<u64>,
    /// How many inboxes its message was put into.
    #[serde(default)]
    inboxes: u64,
}

#[derive(Deserialize)]
struct Detail {
    direct_responses: u64,
    influenced_responses: u64,
    sends: u64,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let id: PushId = visit.id("push")?;
    let One { push } = visit.get(&format!("/api/push/{id}")).await?;
    let detail: Option<Detail> = visit.find(&format!("/api/reports/perpush/detail/{id}")).await?;
    let said = Said::of(&visit, id).await?;
    let listed = listed(&visit, id).await?;
    let title = listed.as_ref().and_then(Listed::known_as).unwrap_or("Message");
    let body = html! {
        p.line { (push.total.badge(&push.state, push.inboxes)) " " (words(&push.push_type)) " · " (time(&push.created))
            @if let Some(author) = listed.as_ref().and_then(|listed| listed.author.as_deref()) { " · sent by " (person(author)) }
            @if let Some(expires) = &push.expires { " · expires " (time(expires)) }
        }
        @if visit.may(Role::Sender) { (actions(&visit, &push.state)) }
        @if let Some(why) = push.total.why_nobody(&push.state) {
            div.notice.warn {
                p { "No device got a notification. " (why) }
                @if let Some(compose) = said.in_compose(&visit, id) {
                    p { a href=(compose) { "See in Compose whom it would reach" } }
                }
            }
        }
        @if let Some(what) = push.total.what_failed(&push.state) { (failed(&visit, &push, &what)) }
        div.figures {
            (figure("Devices", &grouped(push.total.targeted), None))
            (figure("Delivered", &grouped(push.total.delivered), Some(&percent(push.total.delivered, push.total.targeted))))
            @if let Some(received) = push.received {
                (figure("Received", &grouped(received), Some("over live connections")))
            }
            @if let Some(detail) = &detail {
                (figure("Opened by it", &grouped(detail.direct_responses), Some(&percent(detail.direct_responses, detail.sends))))
                (figure("Opened after it", &grouped(detail.influenced_responses), Some("within 12 hours")))
            }
        }
        (said.show(&visit, id).await)
        @if visit.may(Role::Support) { (people(&visit, id, &push)) }
        (opens::over_time(&visit, id).await?)
        section { h2 { "From the audience to opened" } (funnel(&steps(&push.total, detail.as_ref()))) }
        section { h2 { "Platforms" } (platforms(&push.platforms)) }
        p.quiet { "Id " (copy::inline(&id.to_string(), "the id of the message")) }
    };
    Answer::page(title, body)
}

/// That it notified nobody.
fn failed(visit: &Visit, push: &Status, what: &str) -> Markup {
    let tone = if push.inboxes > 0 { "warn" } else { "bad" };
    html! {
        div.notice.(tone) {
            p {
                "No notification was delivered: " (what) ". "
                @if let Some(reason) = &push.total.reason { (reason) " " }
                @if push.inboxes > 0 { "The message is in " (count(push.inboxes, "inbox", "inboxes")) ". " }
                @if visit.may(Role::Admin) { a href=(visit.to("/platforms")) { "See the platforms" } "." }
            }
        }
    }
}

/// Who has sent it, and what it is called, which the list of messages says.
async fn listed(visit: &Visit, id: PushId) -> Result<Option<Listed>> {
    let Pushes { pushes, .. } = visit.get(&format!("/api/pushes?start={id}&limit=1")).await?;
    Ok(pushes.into_iter().find(|push| push.push_id == id.to_string()))
}

/// What kind of push the API says it is, for people.
fn words(push_type: &str) -> String {
    push_type.trim_end_matches("_PUSH").replace('_', " ").to_lowercase()
}

/// From those whom the message was for to those who opened it.
fn steps(total: &Progress, detail: Option<&Detail>) -> Vec<(&'static str, u64)> {
    let mut steps = vec![("in the audience, and reachable", total.targeted), ("delivered", total.delivered)];
    steps.extend(detail.map(|detail| ("opened it", detail.direct_responses)));
    steps
}

/// Pauses, resumes or cancels it.
pub(crate) async fn act(visit: Arc<Visit>) -> Result<Answer> {
    let id: PushId = visit.id("push")?;
    let action = visit.var("action");
    if !["pause", "resume", "cancel"].contains(&action) {
        return Err(Error::NotFound("There is no such page.".to_owned()));
    }
    visit.change(Method::POST, &format!("/api/push/{id}/{action}"), None).await?;
    Answer::to(visit.to(&format!("/messages/{id}")))
}

fn actions(visit: &Visit, state: &str) -> Markup {
    let offered: &[(&str, &str)] = match state {
        "accepted" | "sending" => &[("pause", "Pause"), ("cancel", "Cancel")],
        "paused" => &[("resume", "Resume"), ("cancel", "Cancel")],
        _ => &[],
    };
    html! {
        div.actions {
            @for (action, name) in offered {
                form method="post" action={ (visit.path) "/" (action) } { button { (name) } }
            }
        }
    }
}

/// The way to the people behind the numbers.
fn people(visit: &Visit, id: PushId, push: &Status) -> Markup {
    let total = &push.total;
    let counts = [
        ("delivered", total.delivered),
        ("received", push.received.unwrap_or(0)),
        ("failed", total.failed),
        ("gone", total.gone),
        ("expired", total.expired),
        ("canceled", total.canceled),
        ("pending", total.pending),
    ];
    // How many these are is not counted.
    let others = ["opened", "influenced", "opted_out", "no_address", "not_addressed", "held_back"];
    let to = |outcome: &str| format!("{}/people?outcome={outcome}", visit.path);
    html! {
        section {
            h2 { "People" }
            ul.links {
                li { a href={ (visit.path) "/people" } { "everybody in its audience" } }
                @for (outcome, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
                    li { a href=(to(outcome)) { (grouped(count)) " " (outcomes::word(outcome)) } }
                }
                @for outcome in others { li { a href=(to(outcome)) { (outcomes::word(outcome)) } } }
            }
            @if visit.may(Role::Editor) { (segment_of_push::offer(visit, id, "opened")) }
        }
    }
}

const COUNTS: [&str; 7] = ["Devices", "Delivered", "Failed", "Gone", "Expired", "Canceled", "Waiting"];

fn counts(at: &Progress) -> [u64; 7] {
    [at.targeted, at.delivered, at.failed, at.gone, at.expired, at.canceled, at.pending]
}

fn platforms(platforms: &BTreeMap<String, Progress>) -> Markup {
    if platforms.is_empty() {
        return html! { div.empty { p { "Nobody is in its audience, or the audience is still worked out." } } };
    }
    html! {
        div.scroll tabindex="0" {
            table.stack {
                caption.hidden { "What became of the message on each platform" }
                thead {
                    tr {
                        th scope="col" { "Platform" } th scope="col" { "Progress" }
                        @for name in COUNTS { th.number scope="col" { (name) } }
                    }
                }
                tbody {
                    @for (platform, at) in platforms {
                        tr {
                            th.wide scope="row" { (device_type(platform)) }
                            td {
                                (progress(at.targeted - at.pending.min(at.targeted), at.targeted))
                                @if let Some(reason) = &at.reason { p.quiet { (reason) } }
                            }
                            @for (name, count) in COUNTS.into_iter().zip(counts(at)) { td.number data-is=(name) { (grouped(count)) } }
                        }
                    }
                }
            }
        }
    }
}
