//! What can be done in the sandbox: emptying it, choosing its next answers, and sending a push once more.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Method;
use maud::{Markup, html};
use model::ids::PushId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{DEVICE_TYPES, draw, is_development};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::parts::devices::platform;
use crate::parts::fields::{Field, choice};
use crate::parts::numbers::count;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Faults {
    faults: Vec<Value>,
}

#[derive(Deserialize)]
struct Fault {
    answer: String,
    count: u64,
    device_type: Option<String>,
}

#[derive(Deserialize)]
struct Stored {
    push_body: String,
}

#[derive(Deserialize)]
struct Sent {
    push_ids: Vec<PushId>,
}

const FAULTS: &str = "/api/sandbox/faults";
const ANSWERS: [(&str, &str); 3] = [
    ("gone", "gone: the device is uninstalled"),
    ("busy", "busy: it is tried again later"),
    ("refused", "refused: the message fails"),
];

/// What is offered to those who may change something.
pub(super) async fn section(visit: &Visit) -> Result<Markup> {
    let Faults { faults } = visit.get(FAULTS).await?;
    let left: Vec<Fault> = faults.iter().filter_map(|fault| Fault::deserialize(fault).ok()).collect();
    Ok(html! {
        section {
            h2 { "Answers" }
            @if left.is_empty() { p { "The sandbox takes every message, as a provider does that has nothing to complain about." } }
            @else {
                p { "The sandbox answers next:" }
                ol { @for fault in &left { li { (in_words(fault)) } } }
            }
            form.filter method="post" action=(visit.to("/sandbox/faults")) {
                (choice("answer", "Answer next as", &ANSWERS, "gone"))
                (Field { kind: "number", ..Field::text("count", "For so many messages").value("1") }.show(None))
                (fault_device())
                button name="do" value="add" { "Add" }
            }
            div.actions {
                @if !left.is_empty() {
                    form method="post" action=(visit.to("/sandbox/faults")) { button name="do" value="end" { "Take everything again" } }
                }
                details.ask {
                    summary { "Clear…" }
                    form method="post" action=(visit.to("/sandbox/clear")) {
                        p { "All deliveries are deleted; messages and reports stay." }
                        button.danger { "Clear the sandbox" }
                    }
                }
            }
        }
    })
}

/// Another name than that of the filter above: a page has one field of each id.
fn fault_device() -> Markup {
    html! {
        div.field {
            label for="of" { "To" }
            select id="of" name="of" { @for (value, words) in DEVICE_TYPES { option value=(value) { (words) } } }
        }
    }
}

fn in_words(fault: &Fault) -> Markup {
    let words =
        ANSWERS.iter().find(|(answer, _)| *answer == fault.answer).map_or(fault.answer.as_str(), |(_, words)| *words);
    html! {
        (count(fault.count, "message", "messages"))
        @if let Some(kind) = &fault.device_type { " to " (platform(kind)) }
        ": " (words)
    }
}

pub(crate) async fn clear(visit: Arc<Visit>) -> Result<Answer> {
    visit.change(Method::DELETE, "/api/sandbox", None).await?;
    Answer::to(visit.to("/sandbox"))
}

/// Adds an answer after those that are left, or ends them all.
pub(crate) async fn set_faults(visit: Arc<Visit>) -> Result<Answer> {
    match try_set_faults(&visit).await {
        Ok(()) => Answer::to(visit.to("/sandbox")),
        Err(error @ Error::Invalid(_)) => draw(&visit, Some(&error)).await,
        Err(other) => Err(other),
    }
}

async fn try_set_faults(visit: &Visit) -> Result<()> {
    let faults = match visit.form.text("do") {
        Some("end") => Vec::new(),
        Some("add") => {
            let Faults { mut faults } = visit.get(FAULTS).await?;
            let number = |text: &str| text.parse::<u64>().ok();
            let n = visit.form.text("count").map_or(Some(1), number);
            let n = n.ok_or_else(|| Error::invalid("count", "How many messages are answered so? Write a number."))?;
            let mut fault = json!({"answer": visit.form.text("answer").unwrap_or_default(), "count": n});
            if let Some(device_type) = visit.form.text("of") {
                fault["device_type"] = json!(device_type);
            }
            faults.push(fault);
            faults
        }
        _ => return Err(Error::invalid("do", "Add an answer, or take everything again.")),
    };
    visit.change(Method::PUT, FAULTS, Some(json!({"faults": faults}))).await
}

/// Sends the push of a delivery once more, as it was sent.
pub(crate) async fn send_again(visit: Arc<Visit>) -> Result<Answer> {
    let id: PushId = visit.id("push")?;
    if !is_development(&visit) {
        return Err(Error::NotAllowed("Only an app in development sends a message again from here.".to_owned()));
    }
    let once = visit.form.text("once").unwrap_or_default();
    let Stored { push_body } = visit.get(&format!("/api/reports/perpush/pushbody/{id}")).await?;
    let push = BASE64_STANDARD.decode(push_body).map_err(Error::internal)?;
    let push: Value = serde_json::from_slice(&push).map_err(Error::internal)?;
    let sent: Sent = visit.post_once("/api/push", push, &format!("again-{id}-{once}")).await?;
    match sent.push_ids.first() {
        Some(sent) => Answer::to(visit.to(&format!("/messages/{sent}"))),
        None => Answer::to(visit.to("/sandbox")),
    }
}
