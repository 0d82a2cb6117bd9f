//! The last page before a message is sent: what will happen, in words, with the number of people.

use std::borrow::Cow;
use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;
use serde_json::{Value, json};

use super::reach::{Reach, explain};
use super::saving::Identity;
use super::written::{Document, Written};
use super::{preview, saving, sending, words};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::{Fields, encode};
use crate::pages::schedules::editing;
use crate::parts::numbers::grouped;
use crate::parts::once::once;
use crate::parts::seen::Seen;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Made {
    experiment_id: String,
}

pub(super) async fn show(visit: &Arc<Visit>, written: &Written) -> Result<Answer> {
    refuse_others(visit)?;
    let Document { kind, body } = written.document(true)?;
    let changed = changed_schedule(visit, kind)?;
    written.timing.check(visit.console.engine.clock().now())?;
    let reach = explain(visit, written).await?;
    // Problems of the message itself are told now, and not after the click that sends.
    let (path, checked) = match kind {
        "experiment" => ("/api/experiments/validate", body.clone()),
        _ => ("/api/push/validate", words::push_of(kind, &body)),
    };
    visit.post::<Value>(path, checked).await?;
    let approval = words::approval_above(visit, &reach);
    let shown = preview::of(visit, written, &Reach::known(&reach)).await;
    let words = words::of(visit, kind, &body, &reach).await;
    let page = html! {
        div.compose {
            form method="post" action=(visit.to("/compose")) {
                (words)
                (reach.warnings())
                (kept(&written.conditions.laid_over(&visit.form)))
                (once(visit))
                @if let Some(most) = approval { (words::needs_approval(most)) } @else { (words::confirmation(&reach)) }
                div.actions {
                    @if approval.is_some() {
                        button.main name="do" value="submit" { "Ask for approval" }
                    } @else {
                        button.main name="do" value="send" {
                            @match kind { "push" => { "Send to " (grouped(reach.reachable)) } "experiment" => "Begin to compare", _ if changed.is_some() => "Change the schedule", _ => "Schedule it" }
                        }
                    }
                    button name="do" value="check" formnovalidate { "Back" }
                }
                @if kind == "push" && approval.is_none() { p.quiet { "After that you have ten seconds to take it back." } }
            }
            aside { (shown) }
        }
    };
    Answer::page("Ready to send?", page)
}

pub(super) async fn send(visit: &Arc<Visit>, written: &Written, seen: &mut Seen) -> Result<Answer> {
    refuse_others(visit)?;
    if !words::is_confirmed(visit) {
        return Err(Error::invalid("number", "The number of devices was not typed as shown; nothing was sent."));
    }
    written.timing.check(visit.console.engine.clock().now())?;
    let once = visit.form.text("once").ok_or_else(|| Error::invalid("once", "Review the message once more."))?;
    if let Some(draft) = Identity::in_form(&visit.form) {
        return saving::send_changed(visit, written, &draft).await;
    }
    let Document { kind, body } = written.document(true)?;
    if let Some(id) = changed_schedule(visit, kind)? {
        editing::replace(visit, &id, body, seen).await?;
        return Answer::to(visit.to(&format!("/schedules/{id}")));
    }
    // A second click with the same form sends and schedules nothing more.
    match kind {
        "push" => sending::begin(visit, body, once).await,
        "experiment" => {
            let made: Option<Made> = sending::make(visit, "/api/experiments", &body, begin_at, once).await?;
            let used_before = || sending::used_before(visit, "/experiments", "Experiments");
            let Some(made) = made else { return used_before() };
            let page = format!("/experiments/{}", made.experiment_id);
            // The first of two clicks may have made it, and somebody may have deleted it since.
            match visit.find::<Value>(&format!("/api{page}")).await? {
                Some(_) => Answer::to(visit.to(&page)),
                None => used_before(),
            }
        }
        _ => {
            visit.post_once::<Value>("/api/schedules", body.clone(), once).await?;
            let page = html! {
                p { "It is sent " (words::when(kind, &body)) "." }
                p { a href=(visit.to("/schedules")) { "All schedules" } }
            };
            Answer::page("Scheduled", page)
        }
    }
}

/// The schedule that the form changes, if it was opened for that.
fn changed_schedule<'v>(visit: &'v Visit, kind: &str) -> Result<Option<Cow<'v, str>>> {
    match visit.form.text("schedule").map(encode) {
        Some(_) if kind != "schedule" => {
            let sentence =
                "A schedule needs a time, and compares nothing. To send something else, compose another message.";
            Err(Error::invalid("when", sentence))
        }
        changed => Ok(changed),
    }
}

/// An experiment that begins at once can still be deleted for ten seconds.
fn begin_at(experiment: &mut Value, at: &str) {
    for variant in experiment["variants"].as_array_mut().into_iter().flatten() {
        if variant.get("schedule").is_none() {
            variant["schedule"] = json!({"scheduled_time": at});
        }
    }
}

fn refuse_others(visit: &Visit) -> Result<()> {
    match visit.may(Role::Sender) {
        true => Ok(()),
        false => Err(Error::NotAllowed("Sending is for people with the role sender.".to_owned())),
    }
}

/// What was filled in, for the next step.
fn kept(form: &Fields) -> Markup {
    let steering = ["do", "once", "expected", "number"];
    html! {
        @for (name, value) in form.pairs().filter(|(name, _)| !steering.contains(name)) {
            input type="hidden" name=(name) value=(value);
        }
    }
}
