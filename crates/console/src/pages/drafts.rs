//! Drafts: what is being written, and the page on which a second person approves it.

use std::sync::Arc;

use http::StatusCode;
use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;
use serde_json::json;

use super::compose::reach::{Explanation, Reach};
use super::compose::saving::{self, Saved};
use super::compose::{preview, words};
use super::messages;
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::json::folded;
use crate::parts::pager::pager;
use crate::parts::people::person;
use crate::parts::states::{badge, badge_saying};
use crate::parts::tabs::tabs;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Drafts {
    drafts: Vec<Saved>,
    next_page: Option<String>,
}

const STATES: [(&str, &str); 4] =
    [("", "All"), ("draft", "Being written"), ("awaiting", "Awaiting approval"), ("sent", "Sent")];

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let page: Drafts = visit.get(&format!("/api/drafts{}", query(["state", "start"].map(wanted)))).await?;
    let body = html! {
        (messages::views(&visit))
        (tabs(&visit, "States", "state", &STATES, &["start"]))
        @if page.drafts.is_empty() {
            div.empty {
                p { "No drafts here. In Compose, a message can be saved before it is finished, tried out, and approved by somebody else." }
                p { a href=(visit.to("/compose")) { "Compose a message" } }
            }
        } @else {
            div.scroll tabindex="0" {
                table {
                    caption.hidden { "Drafts, the newest first" }
                    thead { tr { th scope="col" { "Draft" } th scope="col" { "State" } th scope="col" { "Written by" } th scope="col" { "Saved" } } }
                    tbody { @for draft in &page.drafts { (row(&visit, draft)) } }
                }
            }
        }
        (pager(&visit, page.next_page.as_deref()))
    };
    Answer::page("Drafts", body)
}

fn row(visit: &Visit, draft: &Saved) -> Markup {
    html! {
        tr {
            td.wide {
                a href=(visit.to(&format!("/drafts/{}", draft.draft_id))) { (draft.name.as_deref().unwrap_or("without a name")) }
                @if draft.kind != "push" { p.quiet { (draft.kind) } }
            }
            td { (state(draft)) }
            td.wide { (person(draft.written_by.as_deref().unwrap_or_default())) }
            td { (time(&draft.modified)) }
        }
    }
}

fn state(draft: &Saved) -> Markup {
    match draft.state.as_str() {
        "awaiting" => badge_saying("waiting", "awaiting approval"),
        "approved" => badge_saying("ok", "approved"),
        "sent" => badge_saying("done", "sent"),
        other => badge(other),
    }
}

/// What will happen, for whoever decides about it.
pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let draft = saving::look_up(&visit, visit.var("draft")).await?;
    draw(&visit, &draft, None).await
}

async fn draw(visit: &Visit, draft: &Saved, error: Option<&Error>) -> Result<Answer> {
    let push = words::push_of(&draft.kind, &draft.document);
    let reach = Reach::of_push(visit, &push).await;
    let shown = preview::of_push(visit, "Preview", &push, &reach).await;
    let words = match reach.explanation() {
        Some(explanation) => words::of(visit, &draft.kind, &draft.document, explanation).await,
        None => html! {},
    };
    let body = html! {
        @if let Some(error) = error { div.notice.bad role="alert" { @for sentence in error.sentences() { p { (sentence) } } } }
        p.line { a href=(visit.to("/drafts")) { "All drafts" } " · " (state(draft)) " version " (draft.version) " saved " (time(&draft.modified)) }
        (people(draft))
        div.compose {
            div {
                (words)
                (actions(visit, draft, reach.explanation())?)
                (folded("The call that sends it", &draft.document))
            }
            aside { (reach.show()) (shown) }
        }
    };
    Answer::page(draft.name.clone().unwrap_or_else(|| "Draft".to_owned()), body)
}

fn people(draft: &Saved) -> Markup {
    let steps = [
        ("Written by", &draft.written_by),
        ("Approval asked by", &draft.submitted_by),
        ("Approved by", &draft.approved_by),
        ("Sent by", &draft.sent_by),
    ];
    html! {
        dl.facts {
            @for (step, who) in steps { @if let Some(who) = who { dt { (step) } dd { (person(who)) } } }
        }
    }
}

fn actions(visit: &Visit, draft: &Saved, reach: Option<&Explanation>) -> Result<Markup> {
    let edit = format!("{}{}", visit.to("/compose"), query([("draft", draft.draft_id.as_str())]));
    if draft.state == "sent" {
        let outcome = draft.outcome(visit);
        return Ok(html! {
            p {
                @if let Some(outcome) = outcome { a.button.main href=(outcome) { "See what became of it" } " " }
                a.button href=(edit) { "Use it again" }
            }
        });
    }
    let is_mine = draft.written_by.as_deref() == Some(visit.visitor()?.credential().as_str());
    let is_approved = draft.state == "approved";
    let approval = reach.and_then(|reach| words::approval_above(visit, reach)).filter(|_| !is_approved);
    Ok(html! {
        @if let Some(most) = approval { (words::needs_approval(most)) }
        @if visit.may(Role::Sender) {
            @if let Some(reach) = reach {
                @if draft.state == "awaiting" && !is_mine {
                    (step(visit, draft, "approve-and-send", "Approve and send", Some(reach)))
                    (step(visit, draft, "approve", "Approve only", None))
                } @else if approval.is_none() {
                    (step(visit, draft, "send", "Send it", Some(reach)))
                }
            }
            @if draft.state == "awaiting" && is_mine { p { "Somebody else has to approve what you have written." } }
        }
        @if draft.state == "draft" { (step(visit, draft, "submit", "Ask for approval", None)) }
        div.actions {
            a.button href=(edit) { "Edit" }
            details.ask {
                summary { "Delete…" }
                form method="post" action={ (visit.to("/drafts/")) (draft.draft_id) "/delete" } { button.danger { "Delete the draft" } }
            }
        }
    })
}

fn step(visit: &Visit, draft: &Saved, action: &str, label: &str, confirmed: Option<&Explanation>) -> Markup {
    let is_main = action != "approve";
    html! {
        form.actions method="post" action={ (visit.to("/drafts/")) (draft.draft_id) "/" (action) } {
            input type="hidden" name="version" value=(draft.version);
            @if let Some(reach) = confirmed { (words::confirmation(reach)) }
            button.main[is_main] { (label) }
        }
    }
}

/// Asks for approval, approves, sends or deletes the version that was shown.
pub(crate) async fn act(visit: Arc<Visit>) -> Result<Answer> {
    let (id, action) = (visit.var("draft"), visit.var("action"));
    if !["submit", "approve", "send", "approve-and-send", "delete"].contains(&action) {
        return Err(Error::NotFound("There is no such page.".to_owned()));
    }
    match carry_out(&visit, id, action).await {
        Err(error @ (Error::Invalid(_) | Error::Refused { .. } | Error::NotAllowed(_))) => {
            let draft = saving::look_up(&visit, id).await?;
            // A second click leads to what the first has sent.
            let is_conflict = error.status() == StatusCode::CONFLICT;
            match draft.outcome(&visit).filter(|_| is_conflict) {
                Some(path) => Answer::to(path),
                None => Ok(draw(&visit, &draft, Some(&error)).await?.refused(&error)),
            }
        }
        done => done,
    }
}

async fn carry_out(visit: &Visit, id: &str, action: &str) -> Result<Answer> {
    if action == "delete" {
        saving::delete(visit, id).await?;
        return Answer::to(visit.to("/drafts"));
    }
    // What was shown is approved or sent, and nothing that was written since.
    let version: u32 = visit.form.text("version").and_then(|version| version.parse().ok()).unwrap_or(0);
    let sends = action.ends_with("send");
    if sends && !words::is_confirmed(visit) {
        return Err(Error::invalid("number", "The number of devices was not typed as shown; nothing was sent."));
    }
    let draft = match action {
        "send" => saving::look_up(visit, id).await?,
        "approve-and-send" => saving::step(visit, id, "approve", json!({"version": version})).await?,
        other => saving::step(visit, id, other, json!({"version": version})).await?,
    };
    if sends {
        return saving::send(visit, &draft, version).await;
    }
    Answer::to(visit.to(&format!("/drafts/{id}")))
}
