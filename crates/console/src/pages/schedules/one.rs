//! One schedule: what it sends and when, and changing, pausing and deleting it.

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use model::ids::ScheduleId;
use serde::Deserialize;
use serde_json::Value;

use super::editing::{compose_fields, replace};
use super::when::Schedule;
use super::{shown_id, start};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::query;
use crate::pages::compose::{self, preview, reach::Reach};
use crate::pages::messages::{Pushes, table};
use crate::parts::area::Area;
use crate::parts::fields::problems;
use crate::parts::message_text::message_text;
use crate::parts::seen::Seen;
use crate::parts::states::badge;
use crate::visit::Visit;

#[derive(Deserialize)]
struct One {
    name: Option<String>,
    schedule: Schedule,
    #[serde(default)]
    push: Value,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let id: ScheduleId = visit.id("schedule")?;
    draw(&visit, id, None, None).await
}

/// Replaces the schedule by what was typed as JSON.
pub(crate) async fn save(visit: Arc<Visit>) -> Result<Answer> {
    let id: ScheduleId = visit.id("schedule")?;
    let typed = visit.form.text("document").unwrap_or_default();
    let document: Result<Value, _> = serde_json::from_str(typed);
    let mut seen = Seen::in_form(&visit.form);
    let saved = match document {
        Ok(document) => replace(&visit, &id.to_string(), document, &mut seen).await,
        Err(error) => Err(Error::invalid("document", &format!("This is no JSON: {error}."))),
    };
    match saved {
        Ok(()) => Answer::to(page(&visit, id)),
        Err(error @ (Error::Invalid(_) | Error::Refused { .. } | Error::NotAllowed(_))) => {
            Ok(draw(&visit, id, Some(&error), Some(seen)).await?.refused(&error))
        }
        Err(other) => Err(other),
    }
}

/// The page of a schedule.
pub(super) fn page(visit: &Visit, id: ScheduleId) -> String {
    visit.to(&format!("/schedules/{id}"))
}

/// The page. A form that comes back knows what somebody has seen; one that is just opened shows it.
async fn draw(visit: &Visit, id: ScheduleId, error: Option<&Error>, seen: Option<Seen>) -> Result<Answer> {
    let document: Value = visit.get(&format!("/api/schedules/{id}")).await?;
    let seen = seen.unwrap_or_else(|| Seen::of(&document));
    let one = One::deserialize(&document).map_err(Error::internal)?;
    let origin = query([("origin", id.to_string().as_str()), ("limit", "10")]);
    let Pushes { pushes, .. } = visit.get(&format!("/api/pushes{origin}")).await?;
    let reach = Reach::of_push(visit, &one.push).await;
    let text = message_text(&one.push);
    let name = one.name.clone().unwrap_or_else(|| text.clone());
    let body = html! {
        p.line { a href=(visit.to("/schedules")) { "All schedules" } " · " (badge(one.schedule.state())) }
        (problems(error, &["document"]))
        dl.facts.card {
            dt { "When" } dd {
                (start(&one.schedule)) @if let Some(words) = one.schedule.rhythm() { p { (words) } }
                @for words in one.schedule.exceptions() { p { (words) } }
            }
            dt { "Says" } dd { (text) }
        }
        @if visit.may(Role::Sender) { (actions(visit, id, &one, &name, &document)) }
        (preview::of_push(visit, "What it says", &one.push, &reach).await)
        @if visit.may(Role::Sender) { (as_json(visit, id, &document, error, &seen)) }
        @if !pushes.is_empty() { section { h2 { "What it has sent" } (table(visit, &pushes)) } }
        p.quiet { "Id " (shown_id(id)) }
    };
    Answer::page(name, body)
}

fn actions(visit: &Visit, id: ScheduleId, one: &One, name: &str, document: &Value) -> Markup {
    let at = page(visit, id);
    let edit =
        compose_fields(document, visit.zone()).map(|_| compose::link(visit, &[("schedule", id.to_string().as_str())]));
    html! {
        div.actions {
            @match &edit {
                Some(edit) => a.button.main href=(edit) { "Edit" },
                // Opens the part below, which no link without a query would do.
                None => a.button.main href={ (at) "?edit=json#json" } { "Edit as JSON" },
            }
            @if one.schedule.recurs() {
                @let (action, label) = if one.schedule.is_paused() { ("resume", "Resume") } else { ("pause", "Pause") };
                form method="post" action={ (at) "/" (action) } { button { (label) } }
            }
            details.ask {
                summary { "Delete…" }
                form method="post" action={ (at) "/delete" } {
                    p { "“" (name) "” is not sent any more. Messages that it has sent stay, with their reports." }
                    button.danger { "Delete the schedule" }
                }
            }
        }
    }
}

/// All of it, for what Compose has no fields for.
fn as_json(visit: &Visit, id: ScheduleId, document: &Value, error: Option<&Error>, seen: &Seen) -> Markup {
    let stored = serde_json::to_string_pretty(document).unwrap_or_default();
    let typed = visit.form.exact("document").unwrap_or(&stored);
    let hint = "As PUT /api/schedules takes it; it replaces the schedule as a whole.";
    let is_open = error.is_some() || visit.query.text("edit") == Some("json");
    html! {
        details #json open[is_open] {
            summary { "As JSON" }
            form method="post" action=(page(visit, id)) {
                (seen.show(&page(visit, id)))
                (Area { name: "document", label: "The schedule", hint: Some(hint), value: typed, is_required: true }.show(error))
                button { "Save" }
            }
        }
    }
}
