//! Compose: who, what and when on one page, with the reach and the preview beside it; then a page that says in words what will
//! happen.

pub(crate) mod content;
pub(crate) mod fields;
pub(crate) mod more;
mod opened;
pub(crate) mod preview;
pub(crate) mod reach;
pub(crate) mod recovered;
pub(crate) mod review;
pub(crate) mod saving;
pub(crate) mod sending;
mod timing;
pub(crate) mod words;
mod written;

use std::sync::Arc;

use http::{Method, StatusCode};
use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::assets::build_script;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::form::{Fields, encode, query};
use crate::pages::login::kept;
use crate::parts::conditions::{Audience, Kind, Known, datalists, places, rows};
use crate::parts::copy;
use crate::parts::fields::problems;
use crate::parts::once::once;
use crate::parts::seen::Seen;
use crate::shell::curl;
use crate::visit::Visit;
use opened::Opened;
use reach::Reach;
use saving::Identity;
use written::Document;

pub(crate) use written::Written;

/// The buttons that go on with what is written.
const STEPS: [&str; 7] = ["review", "send", "test", "save", "save-as-new", "submit", "autosave"];

/// What is on the page.
struct Form {
    typed: Fields,
    /// With whom it is for, however that was said.
    written: Written,
    audience: Audience,
    /// The saved draft that it is.
    draft: Option<Identity>,
    /// Of the schedule that it changes.
    seen: Seen,
}

#[derive(Deserialize)]
struct Tested {
    push_ids: Vec<String>,
}

impl Form {
    fn new(typed: &Fields) -> Self {
        let (written, draft) = (Written::read(typed), Identity::in_form(typed));
        let audience = Audience::read(written.conditions.clone(), typed);
        Self { typed: typed.clone(), written, audience, draft, seen: Seen::in_form(typed) }
    }

    /// Does what a button of the fields says, and finds out whom the message is for.
    fn press(&mut self, action: &str) -> Result<()> {
        self.written.content.change(action);
        self.written.conditions = self.audience.press(action, STEPS.contains(&action))?;
        Ok(())
    }
}

/// The page, with what the address fills in or names.
pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    match opened::open(&visit).await? {
        Opened::Form(form) => draw(&visit, &form, None, None).await,
        Opened::Elsewhere(page) => Answer::to(page),
    }
}

/// Adds or removes a part, saves, tries, shows what will happen, or sends.
pub(crate) async fn post(visit: Arc<Visit>) -> Result<Answer> {
    let mut form = Form::new(&visit.form);
    let action = visit.form.text("do").unwrap_or_default();
    if let Err(error) = form.press(action) {
        return match action {
            "autosave" => not_saved(&visit, &form, &error),
            _ => redraw(&visit, &form, &error).await,
        };
    }
    let done = match action {
        "review" => review::show(&visit, &form.written).await.map(Some),
        "send" => review::send(&visit, &form.written, &mut form.seen).await.map(Some),
        "test" => return send_test(&visit, &form).await,
        "autosave" => return autosave(&visit, form).await,
        "save" | "save-as-new" | "submit" => return save(&visit, form, action).await,
        _ => Ok(None),
    };
    match done {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => draw(&visit, &form, None, None).await,
        Err(error) => redraw(&visit, &form, &error).await,
    }
}

/// The page with what is wrong. Whatever it is, what was typed stays.
async fn redraw(visit: &Visit, form: &Form, error: &Error) -> Result<Answer> {
    Ok(draw(visit, form, Some(error), None).await?.refused(error))
}

/// Keeps what is written, and asks for approval if that is wanted.
async fn save(visit: &Visit, mut form: Form, action: &str) -> Result<Answer> {
    let draft = form.draft.as_ref().filter(|_| action != "save-as-new");
    let saved = match saving::save(visit, &form.written, draft).await {
        Ok(saved) => saved,
        Err(error) => return redraw(visit, &form, &error).await,
    };
    let id = saved.draft_id.clone();
    if action != "submit" {
        return Answer::to(format!("{}{}", visit.to("/compose"), query([("draft", id.as_str())])));
    }
    match saving::step(visit, &id, "submit", json!({"version": saved.version})).await {
        Ok(_) => Answer::to(visit.to(&format!("/drafts/{id}"))),
        Err(error) => {
            // It is saved, though not fit to be sent: the next version comes after this one.
            form.draft = Some(saved.identity());
            redraw(visit, &form, &error).await
        }
    }
}

/// Keeps what is written while somebody writes, and answers with nothing but the line that says so.
async fn autosave(visit: &Visit, mut form: Form) -> Result<Answer> {
    if form.draft.is_none() && !form.written.is_begun() {
        return Answer::page("Compose", saving::show(visit, None, None));
    }
    match saving::save(visit, &form.written, form.draft.as_ref()).await {
        Ok(saved) => {
            form.draft = Some(saved.identity());
            Answer::page("Compose", saving::show(visit, form.draft.as_ref(), None))
        }
        Err(error) => not_saved(visit, &form, &error),
    }
}

fn not_saved(visit: &Visit, form: &Form, error: &Error) -> Result<Answer> {
    let line = saving::show(visit, form.draft.as_ref(), Some(error));
    Ok(Answer::page("Compose", line)?.refused(error))
}

async fn send_test(visit: &Visit, form: &Form) -> Result<Answer> {
    let tested = match form.written.push() {
        Ok(push) => visit.post_form::<Tested>("/api/push/test", json!({"push": push})).await,
        Err(error) => Err(error),
    };
    let sent = match tested {
        Ok(sent) => sent,
        Err(error) if error.status() == StatusCode::CONFLICT && visit.may(Role::Admin) => {
            let group = visit.to("/settings#test_group");
            let notice = html! {
                div.notice.warn { p { a href=(group) target="_blank" { "Choose the test group" } " in Settings." } }
            };
            return Ok(draw(visit, form, Some(&error), Some(&notice)).await?.refused(&error));
        }
        Err(error) => return redraw(visit, form, &error).await,
    };
    let push = sent.push_ids.first().map(String::as_str).unwrap_or_default();
    let notice = html! {
        div.notice.good role="status" {
            p { "A test was sent to the test group. " a href=(visit.to(&format!("/messages/{push}"))) { "See what became of it" } "." }
        }
    };
    draw(visit, form, None, Some(&notice)).await
}

/// The form with a message that was taken back, to be changed.
async fn again(visit: &Visit) -> Result<Answer> {
    let notice = html! {
        div.notice.good role="status" { p { "The message was taken back; nothing was sent. You can change it here." } }
    };
    draw(visit, &Form::new(&visit.form), None, Some(&notice)).await
}

async fn draw(visit: &Visit, form: &Form, error: Option<&Error>, notice: Option<&Markup>) -> Result<Answer> {
    let Form { typed, written, audience, draft, seen } = form;
    let schedule = typed.text("schedule").map(|id| (id, visit.to(&format!("/schedules/{}", encode(id)))));
    let known = Known::of(visit, &audience.rows).await;
    let reach = match Reach::refused(error) {
        Some(refused) => refused,
        None => Reach::of(visit, written).await,
    };
    // A test or a step that is refused says nothing about the draft.
    let outdated = error.filter(|error| error.status() == StatusCode::CONFLICT && saving::is_saved_by(visit));
    if let Ok(Document { kind, body }) = written.document(true) {
        visit.note_first_call(sending_call(kind, body));
    }
    let body = html! {
        @if let Some(notice) = notice { (notice) }
        @if let Some((_, page)) = &schedule {
            p.line { "You change " a href=(page) { "a schedule" } ", which goes on as it is until then." }
        }
        div.compose {
            (build_script())
            form #compose data-build data-autosave[schedule.is_none()] method="post" action=(visit.to("/compose")) {
                (kept()) (once(visit))
                // What Enter in a field does: browsers take the first button of a form.
                button.hidden name="do" value="check" formnovalidate tabindex="-1" { "Check the reach" }
                (problems(error, &[]))
                @if let Some((id, page)) = &schedule { input type="hidden" name="schedule" value=(id); (seen.show(page)) }
                (saving::show(visit, draft.as_ref(), outdated))
                (who(audience, &known, error))
                (fields::what(written, typed))
                (fields::when(written, typed))
                (actions(visit))
            }
            aside #beside tabindex="0" aria-label="Reach and preview" {
                (reach.show())
                (places::show(visit, &audience.rows, "compose").await)
                (preview::of(visit, written, &reach).await)
                (as_call(visit, written))
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

/// The call that sends what is written, as a line for a shell.
fn as_call(visit: &Visit, written: &Written) -> Markup {
    let call = written.document(true).map(|Document { kind, body }| curl(visit, &sending_call(kind, body)));
    html! {
        details {
            summary { "Show as API call" }
            @match call {
                Ok(call) => {
                    (copy::block(&call, "the call"))
                    p.quiet { "With the key and the master secret of the app in the environment, as the first start prints them." }
                }
                Err(error) => { @for sentence in error.sentences() { p.quiet { (sentence) } } }
            }
        }
    }
}

fn sending_call(kind: &str, body: Value) -> Call {
    let path = match kind {
        "experiment" => "/api/experiments",
        "schedule" => "/api/schedules",
        _ => "/api/push",
    };
    Call { method: Method::POST, path: path.to_owned(), body: Some(body) }
}

/// The address of the page with some of it filled in, or by the id of what it opens.
pub(crate) fn link(visit: &Visit, fields: &[(&str, &str)]) -> String {
    format!("{}{}", visit.to("/compose"), query(fields.iter().copied()))
}

fn who(audience: &Audience, known: &Known, error: Option<&Error>) -> Markup {
    let conditions = &audience.rows;
    html! {
        fieldset {
            legend { "1 Who" }
            label.check { input type="radio" name="who" value="all" checked[conditions.is_everybody]; "Everybody" }
            label.check {
                input type="radio" name="who" value="some" checked[!conditions.is_everybody];
                "People who fulfil conditions"
            }
            (rows(conditions, known, &Kind::ALL))
            (datalists(known))
            (audience.as_json(error))
        }
    }
}
