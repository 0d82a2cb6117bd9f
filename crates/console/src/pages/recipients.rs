//! The people behind the numbers of a message: everybody whom it concerned, and what became of it for each.

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use model::ids::{PushId, SegmentId};
use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::dates::time_or;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::devices::{channel_page, device, user_page};
use crate::parts::fields::choice;
use crate::parts::outcomes::{self, OUTCOMES};
use crate::parts::pager::turning;
use crate::parts::segment_of_push;
use crate::parts::states::badge_saying;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Page {
    recipients: Vec<Recipient>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Recipient {
    channel_id: String,
    device_type: String,
    named_user_id: Option<String>,
    outcome: String,
    reason: Option<String>,
    at: Option<String>,
    received: bool,
    opened: bool,
    influenced: bool,
    read: Option<bool>,
}

#[derive(Deserialize)]
struct Created {
    segment_id: SegmentId,
}

#[derive(Deserialize)]
struct One {
    push: Named,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let id: PushId = visit.id("push")?;
    let One { push } = visit.get(&format!("/api/push/{id}")).await?;
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let filter = [wanted("outcome"), wanted("start"), ("limit", "100")];
    let page: Page = visit.get(&format!("/api/push/{id}/recipients{}", query(filter))).await?;
    let (_, outcome) = wanted("outcome");
    let choices: Vec<(&str, &str)> = [("", "everybody in its audience")].into_iter().chain(OUTCOMES).collect();
    let csv = format!("{}/csv{}", visit.path, query([wanted("outcome")]));
    let body = html! {
        p.line {
            "What became of " a href=(visit.to(&format!("/messages/{id}"))) { (push.name.as_deref().unwrap_or("the message")) }
            " for each device."
        }
        form.filter method="get" {
            (choice("outcome", "Show", &choices, outcome))
            button { "Show" }
            a href=(csv) download { "Download as CSV" }
        }
        @if visit.may(Role::Editor) { (segment_of_push::offer(&visit, id, outcome)) }
        @if page.recipients.is_empty() { (nothing(&page, outcome)) } @else { (table(&visit, &page.recipients, id)) }
        (turning(&visit, page.next_page.as_deref(), ["First", "Next"]))
    };
    Answer::page("People of a message", body)
}

/// All of them, for a spreadsheet.
pub(crate) async fn csv(visit: Arc<Visit>) -> Result<Answer> {
    let id: PushId = visit.id("push")?;
    let outcome = visit.query.text("outcome").unwrap_or_default();
    let path = format!("/api/push/{id}/recipients/csv{}", query([("outcome", outcome)]));
    Ok(Answer::Raw(visit.download(&path, &format!("message-{id}.csv")).await?))
}

/// Makes a segment of those for whom the message had an outcome.
pub(crate) async fn segment(visit: Arc<Visit>) -> Result<Answer> {
    let id: PushId = visit.id("push")?;
    let outcome = visit.form.text("of").unwrap_or_default();
    let name = visit.form.text("display_name").unwrap_or_default();
    let body = json!({"display_name": name, "criteria": {"push": {"id": id, "outcome": outcome}}});
    match visit.post_form::<Created>("/api/segments", body).await {
        Ok(made) => Answer::to(visit.to(&format!("/audience?segment={}", made.segment_id))),
        Err(error @ Error::Invalid(_)) => {
            let form = segment_of_push::form(&visit, id, outcome, Some(&error));
            Ok(Answer::page("Make a segment", html! { div.narrow { (form) } })?.refused(&error))
        }
        Err(other) => Err(other),
    }
}

fn nothing(page: &Page, outcome: &str) -> Markup {
    html! {
        div.empty {
            @if page.next_page.is_some() { p { "None of the devices looked at so far; there are more." } }
            @else if outcome.is_empty() { p { "Nobody is in its audience, or the audience is still worked out." } }
            @else { p { "Nobody: " (outcomes::word(outcome)) "." } }
        }
    }
}

fn table(visit: &Visit, recipients: &[Recipient], push: PushId) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption.hidden { "Devices and what became of the message, in the order in which they registered" }
                thead {
                    tr {
                        th scope="col" { "Device" } th scope="col" { "Named user" } th scope="col" { "Outcome" }
                        th scope="col" { "When" } th scope="col" { "Then" } th scope="col" { span.hidden { "Explanation" } }
                    }
                }
                tbody { @for recipient in recipients { (row(visit, recipient, push)) } }
            }
        }
    }
}

fn row(visit: &Visit, recipient: &Recipient, push: PushId) -> Markup {
    let why = format!("{}?push={push}#why", channel_page(visit, &recipient.channel_id));
    html! {
        tr {
            td { (device(visit, &recipient.device_type, &recipient.channel_id)) }
            td {
                @if let Some(user) = &recipient.named_user_id { a href=(user_page(visit, user)) { (user) } }
                @else { span.quiet { "none" } }
            }
            td.wide {
                (outcomes::badge(&recipient.outcome))
                @if let Some(why) = outcomes::why(&recipient.outcome, recipient.reason.as_deref()) { p.quiet { (why) } }
            }
            td { (time_or(recipient.at.as_deref(), "–")) }
            td {
                @if recipient.received { (badge_saying("received", "received it")) }
                @if recipient.opened { (badge_saying("opened", "opened it")) }
                @if recipient.influenced { (badge_saying("opened", "opened the app")) }
                @if recipient.read == Some(true) { (badge_saying("read", "read it")) }
            }
            td { a href=(why) { "Why?" } }
        }
    }
}
