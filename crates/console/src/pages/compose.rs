//! Compose: who, what and when on one page, with the reach and the preview beside it; then a page that says in words what will
//! happen.

mod conditions;
mod content;
mod fields;
mod more;
mod places;
pub(crate) mod preview;
pub(crate) mod reach;
pub(crate) mod review;
pub(crate) mod saving;
pub(crate) mod sending;
mod timing;
mod who;
pub(crate) mod words;
mod written;

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::{Fields, encode, query};
use crate::parts::fields::problems;
use crate::visit::Visit;
use conditions::{Conditions, Join};
use reach::Reach;
use saving::Identity;
use who::Known;

pub(crate) use written::Written;

/// What is on the page.
struct Form {
    typed: Fields,
    written: Written,
    /// The saved draft that it is.
    draft: Option<Identity>,
}

#[derive(Deserialize)]
struct Tested {
    push_ids: Vec<String>,
}

impl Form {
    fn new(typed: &Fields) -> Self {
        Self { typed: typed.clone(), written: Written::read(typed), draft: Identity::in_form(typed) }
    }
}

/// The page, with whatever the URL has filled in: it can be bookmarked, copied and shared. Or a draft that was saved.
pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let saved = visit.query.text("draft").filter(|_| visit.query.text("version").is_none());
    let Some(id) = saved else { return draw(&visit, &Form::new(&visit.query), None, None).await };
    let saved = saving::look_up(&visit, id).await?;
    let Some(typed) = saved.fields() else { return Answer::to(visit.to(&format!("/drafts/{}", saved.draft_id))) };
    // What was sent stays as it is; here it becomes another message.
    let draft = (saved.state != "sent").then(|| saved.identity());
    let form = Form { written: Written::read(&typed), typed, draft };
    draw(&visit, &form, None, None).await
}

/// Adds or removes a part, saves, tries, shows what will happen, or sends.
pub(crate) async fn post(visit: Arc<Visit>) -> Result<Answer> {
    let mut form = Form::new(&visit.form);
    let done = match visit.form.text("do").unwrap_or_default() {
        "take" => take_over(&visit, &mut form.written).map(|()| None),
        "review" => review::show(&visit, &form.written).await.map(Some),
        "send" => review::send(&visit, &form.written).await.map(Some),
        "test" => return send_test(&visit, &form).await,
        action @ ("save" | "submit") => return save(&visit, form, action == "submit").await,
        action => {
            change_parts(&mut form.written, action);
            Ok(None)
        }
    };
    match done {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => draw(&visit, &form, None, None).await,
        Err(error) => redraw(&visit, &form, error).await,
    }
}

/// The page with what is wrong; what is no fault of the form gets a page of its own.
async fn redraw(visit: &Visit, form: &Form, error: Error) -> Result<Answer> {
    match error {
        Error::Invalid(_) | Error::Refused { .. } => Ok(draw(visit, form, Some(&error), None).await?.refused(&error)),
        other => Err(other),
    }
}

fn take_over(visit: &Visit, written: &mut Written) -> Result<()> {
    let audience = serde_json::from_str::<Value>(visit.form.text("json").unwrap_or_default());
    let audience = audience.map_err(|error| Error::invalid("json", &format!("This is no JSON: {error}.")))?;
    written.conditions = Conditions::of(&audience);
    Ok(())
}

fn change_parts(written: &mut Written, action: &str) {
    let number = |prefix: &str| action.strip_prefix(prefix)?.parse::<usize>().ok();
    if action == "add" {
        written.conditions.add();
    } else if action == "add-language" {
        written.content.add_language();
    } else if let Some(n) = number("remove-language-") {
        written.content.remove_language(n);
    } else if let Some((n, value)) = action.strip_prefix("place-").and_then(|chosen| chosen.split_once('-')) {
        written.conditions.fill(n.parse().unwrap_or(usize::MAX), value);
    } else if let Some(n) = number("remove-") {
        written.conditions.remove(n);
    }
}

/// Keeps what is written, and asks for approval if that is wanted.
async fn save(visit: &Visit, mut form: Form, is_submitted: bool) -> Result<Answer> {
    let saved = match saving::save(visit, &form.written).await {
        Ok(saved) => saved,
        Err(error) => return redraw(visit, &form, error).await,
    };
    let id = saved.draft_id.clone();
    if !is_submitted {
        return Answer::to(format!("{}{}", visit.to("/compose"), query([("draft", id.as_str())])));
    }
    match saving::step(visit, &id, "submit", json!({"version": saved.version})).await {
        Ok(_) => Answer::to(visit.to(&format!("/drafts/{id}"))),
        Err(error) => {
            // It is saved, though not fit to be sent: the next version comes after this one.
            form.draft = Some(saved.identity());
            redraw(visit, &form, error).await
        }
    }
}

async fn send_test(visit: &Visit, form: &Form) -> Result<Answer> {
    let tested = match form.written.push() {
        Ok(push) => visit.post::<Tested>("/api/push/test", json!({"push": push})).await,
        Err(error) => Err(error),
    };
    let sent = match tested {
        Ok(sent) => sent,
        Err(error) => return redraw(visit, form, error).await,
    };
    let push = sent.push_ids.first().map(String::as_str).unwrap_or_default();
    let notice = html! {
        p { "A test was sent to the test group. " a href=(visit.to(&format!("/messages/{push}"))) { "See what became of it" } "." }
    };
    draw(visit, form, None, Some(&notice)).await
}

async fn draw(visit: &Visit, form: &Form, error: Option<&Error>, notice: Option<&Markup>) -> Result<Answer> {
    let Form { typed, written, draft } = form;
    let known = Known::of(visit, &written.conditions).await?;
    let reach = Reach::of(visit, written).await;
    let body = html! {
        @if let Some(notice) = notice { div.notice.good role="status" { (notice) } }
        @if let Some(draft) = draft { (draft.show(visit)) }
        @if let Some(id) = typed.text("schedule") {
            p.line { "You change " a href=(visit.to(&format!("/schedules/{}", encode(id)))) { "a schedule" } ", which goes on as it is until then." }
        }
        div.compose {
            form #compose method="post" action=(visit.to("/compose")) {
                // What Enter in a field does: browsers take the first button of a form.
                button.hidden name="do" value="check" formnovalidate tabindex="-1" { "Check the reach" }
                @if let Some(draft) = draft { (draft.hidden()) }
                @if let Some(id) = typed.text("schedule") { input type="hidden" name="schedule" value=(id); }
                (problems(error, &[]))
                (who::show(&written.conditions, &known))
                (fields::what(written, typed))
                (fields::when(written, typed))
                (actions(visit))
            }
            aside #beside aria-label="Reach and preview" {
                (reach.show())
                (places::show(visit, &written.conditions).await?)
                (preview::of(visit, written, &reach).await)
            }
        }
    };
    Answer::page("Compose", body)
}

fn actions(visit: &Visit) -> Markup {
    html! {
        div.actions {
            @if visit.may(Role::Sender) {
                button.main name="do" value="review" { "Review and send" }
            } @else {
                button.main name="do" value="submit" formnovalidate { "Ask for approval" }
            }
            button name="do" value="save" formnovalidate { "Save as draft" }
            button name="do" value="test" formnovalidate { "Send a test" }
            button name="do" value="check" formnovalidate { "Check the reach" }
        }
        @if !visit.may(Role::Sender) {
            p.quiet { "Sending is for people with the role sender; they see what you save under Drafts." }
        }
    }
}

/// The address of the page with some of it filled in.
pub(crate) fn link(visit: &Visit, fields: &[(&str, &str)]) -> String {
    format!("{}{}", visit.to("/compose"), query(fields.iter().copied()))
}

fn join_of(word: &str) -> Join {
    if word == "or" { Join::Or } else { Join::And }
}
