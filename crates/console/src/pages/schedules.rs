//! What is going to be sent: the schedules of an app, the newest first.

pub(crate) mod editing;
pub(crate) mod one;
pub(crate) mod when;

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::account::Role;
use model::ids::ScheduleId;
use serde::Deserialize;
use serde_json::Value;

use super::compose;
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::copy;
use crate::parts::message_text::message_text;
use crate::parts::pager::pager;
use crate::parts::states::badge;
use crate::visit::Visit;
use when::{Schedule, Start};

#[derive(Deserialize)]
struct Schedules {
    schedules: Vec<Listed>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    url: String,
    name: Option<String>,
    schedule: Schedule,
    #[serde(default)]
    push: Value,
    #[serde(default)]
    push_ids: Vec<String>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let start = visit.query.text("start").unwrap_or_default();
    let filter = query([("limit", "50"), ("order", "desc"), ("start", start)]);
    let page: Schedules = visit.get(&format!("/api/schedules{filter}")).await?;
    let body = html! {
        @if page.schedules.is_empty() {
            div.empty {
                p { "Nothing is planned. A schedule sends a message later: once, over and over, or when the clock of each device shows \
                     the time." }
                @if visit.may(Role::Editor) { p { a href=(compose::link(&visit, &[("when", "at")])) { "Compose a message for later" } } }
            }
        } @else {
            @if visit.may(Role::Editor) {
                div.actions { a.button.main href=(compose::link(&visit, &[("when", "at")])) { "Schedule a message" } }
            }
            (table(&visit, &page.schedules))
        }
        (pager(&visit, page.next_page.as_deref()))
    };
    Answer::page("Schedules", body)
}

/// Pauses, resumes or deletes a schedule.
pub(crate) async fn act(visit: Arc<Visit>) -> Result<Answer> {
    let id: ScheduleId = visit.id("schedule")?;
    let path = format!("/api/schedules/{id}");
    match visit.var("action") {
        action @ ("pause" | "resume") => {
            visit.change(Method::POST, &format!("{path}/{action}"), None).await?;
            Answer::to(one::page(&visit, id))
        }
        "delete" => {
            visit.change(Method::DELETE, &path, None).await?;
            Answer::to(visit.to("/schedules"))
        }
        _ => Err(Error::NotFound("There is no such page.".to_owned())),
    }
}

fn table(visit: &Visit, schedules: &[Listed]) -> Markup {
    let may_change = visit.may(Role::Sender);
    html! {
        div.scroll tabindex="0" {
            table.stack {
                caption.hidden { "Schedules, the newest first" }
                thead {
                    tr {
                        th scope="col" { "Message" } th scope="col" { "When" } th scope="col" { "State" }
                        @if may_change { th scope="col" { span.hidden { "Actions" } } }
                    }
                }
                tbody { @for listed in schedules { (row(visit, listed, may_change)) } }
            }
        }
    }
}

fn row(visit: &Visit, listed: &Listed, may_change: bool) -> Markup {
    let text = message_text(&listed.push);
    let name = listed.name.as_deref().unwrap_or(&text);
    let id = listed.url.rsplit('/').next().unwrap_or_default();
    html! {
        tr {
            td.wide {
                a href=(visit.to(&format!("/schedules/{id}"))) { (name) }
                @if name != text { p.quiet.clip { (text) } }
                @if listed.schedule.recurs() && listed.push_ids.len() > 1 {
                    p.quiet { a href={ (visit.to("/messages")) (query([("origin", id)])) } { "What it has sent" } }
                }
            }
            td.wide { (start(&listed.schedule)) @if let Some(words) = listed.schedule.rhythm() { p.quiet { (words) } }
                @for words in listed.schedule.exceptions() { p.quiet { (words) } } }
            td { (badge(listed.schedule.state())) }
            @if may_change {
                td {
                    div.buttons {
                        @if listed.schedule.recurs() {
                            @let (action, label) = if listed.schedule.is_paused() { ("resume", "Resume") } else { ("pause", "Pause") };
                            form method="post" action=(visit.to(&format!("/schedules/{id}/{action}"))) {
                                button.small aria-label={ (label) " " (name) } { (label) }
                            }
                        }
                        details.ask {
                            summary.small { "Delete…" }
                            form method="post" action=(visit.to(&format!("/schedules/{id}/delete"))) {
                                p { "It is not sent any more. Messages that it has sent stay." }
                                button.small.danger aria-label={ "Delete " (name) } { "Delete it" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn shown_id(id: ScheduleId) -> Markup {
    copy::inline(&id.to_string(), "the id of the schedule")
}

fn start(schedule: &Schedule) -> Markup {
    let from = if schedule.recurs() { "From " } else { "" };
    html! {
        @match schedule.start() {
            Start::At(at) => { (from) (time(at)) },
            Start::Local(at) => { (from) (at) " by the clock of each device" },
            Start::Best(day) => { (day) ", at the hour at which the app is opened most" },
        }
    }
}
