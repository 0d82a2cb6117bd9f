//! Logging in and out, and the way from the front door to a page.

use std::sync::Arc;

use accounts::{Login, SignedIn};
use http::StatusCode;
use maud::{Markup, html};
use model::account::{Email, Role};
use tenancy::AuditRows;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::{Fields, encode, encoded, query};
use crate::parts::fields::{Field, problems};
use crate::visit::Visit;

/// Of a form that is kept over a login; it grows by being part of another form.
const MOST_KEPT_BYTES: usize = 16 * 1024;

/// The front door: to an app that the visitor may see, or to the login.
pub(crate) async fn enter(visit: Arc<Visit>) -> Result<Answer> {
    let Ok(visitor) = visit.visitor() else { return Answer::to("/console/login") };
    let apps = visit.console.engine.tenancy().apps().await?;
    let mut seen = apps.iter().filter(|app| visitor.may(app.id, Role::Viewer));
    match (seen.next(), visitor.account.is_owner) {
        (Some(app), _) => Answer::to(format!("/console/{}", app.key)),
        (None, true) => Answer::to("/console/-/apps"),
        (None, false) => Answer::page(
            "Welcome",
            html! { p { "You have no role in any app yet. Ask an administrator to add you to the team of one." } },
        ),
    }
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    if visit.is_signed_in() {
        return Answer::to(next(&visit));
    }
    let has_nobody = visit.console.engine.accounts().is_without_accounts().await?;
    Answer::door("Log in", form(&visit, None, has_nobody, None))
}

pub(crate) async fn log_in(visit: Arc<Visit>) -> Result<Answer> {
    visit.connection.must_be_closed()?;
    let accounts = visit.console.engine.accounts();
    let ticket = visit.form.text("ticket").map(str::to_owned);
    let email = match &ticket {
        Some(ticket) => accounts.ticket_holder(ticket).await?.map(|account| account.email),
        None => visit.form.text("email").and_then(Email::new),
    };
    let asked = |action, rows| {
        let credential = email.as_ref().map_or_else(|| "account".to_owned(), |email| format!("account {email}"));
        visit.asked(credential, action, rows)
    };
    let outcome = match (&ticket, &email) {
        (_, None) => Ok(SignedIn::No),
        (Some(ticket), Some(_)) => {
            let code = visit.form.text("code").unwrap_or_default();
            let signing_in = accounts.sign_in_with_code(ticket, code, visit.origin());
            tenancy::on_behalf_of(asked("account.sign_in", AuditRows::Each), signing_in).await
        }
        (None, Some(email)) => {
            let password = visit.form.exact("password").unwrap_or_default().to_owned();
            let signing_in = accounts.sign_in(Login { email: email.clone(), password }, visit.origin());
            tenancy::on_behalf_of(asked("account.sign_in", AuditRows::Each), signing_in).await
        }
    };
    if let (Ok(SignedIn::No), Some(email)) = (&outcome, &email) {
        let noting = accounts.note_refusal(email.clone());
        tenancy::on_behalf_of(asked("account.sign_in_refused", AuditRows::PerMinute), noting).await?;
    }
    let (ticket, error) = match outcome {
        Ok(SignedIn::Yes(secret)) => {
            let cookie = visit.connection.set(&secret)?;
            return Ok(match visit.form.text("kept") {
                Some(kept) => Answer::door_with("Logged in again", go_on(&next(&visit), &Fields::parse(kept)), cookie),
                None => Answer::To { path: next(&visit), cookie: Some(cookie) },
            });
        }
        Ok(SignedIn::CodeNeeded { ticket }) => (Some(ticket), None),
        Ok(SignedIn::No) if ticket.is_some() => {
            (ticket, Some(wrong("The code is wrong, was used already, or came too late.")))
        }
        Ok(SignedIn::No) => (None, Some(wrong("The address or the password is wrong."))),
        Err(error) => (ticket, Some(error.into())),
    };
    let page = Answer::door("Log in", form(&visit, ticket.as_deref(), false, error.as_ref()))?;
    Ok(match &error {
        Some(error) => page.refused(error),
        None => page,
    })
}

pub(crate) async fn log_out(visit: Arc<Visit>) -> Result<Answer> {
    let visitor = visit.visitor()?;
    let leaving = visit.console.engine.accounts().sign_out(visitor);
    let change = visit.asked(visitor.credential(), "account.sign_out", AuditRows::Each);
    tenancy::on_behalf_of(change, leaving).await?;
    Ok(Answer::To { path: "/console/login".to_owned(), cookie: Some(visit.connection.clear()?) })
}

/// The form of the first step, or with a ticket that of the second.
pub(super) fn form(visit: &Visit, ticket: Option<&str>, has_nobody: bool, error: Option<&Error>) -> Markup {
    let typed = visit.form.text("email").unwrap_or_default();
    let open = visit.connection.must_be_closed().err();
    html! {
        @if let Some(open) = &open { (problems(Some(open), &[])) }
        @if has_nobody {
            div.notice {
                p { "Nobody has an account yet. " code { "aerogram console link" } " prints a link that makes the first one; so does \
                     the first start of the service." }
            }
        }
        form method="post" action="/console/login" {
            (problems(error, &[]))
            input type="hidden" name="next" value=(next(visit));
            @if let Some(kept) = visit.form.text("kept") { input type="hidden" name="kept" value=(kept); }
            @match ticket {
                None => {
                    (Field::email().value(typed).show(None))
                    (Field::password("password", "Password", "current-password").show(None))
                }
                Some(ticket) => {
                    input type="hidden" name="ticket" value=(ticket);
                    (Field { autocomplete: "one-time-code", ..Field::text("code", "Code of your authenticator app") }.show(None))
                }
            }
            button.main type="submit" { "Log in" }
        }
        @if visit.console.oidc.is_some() && ticket.is_none() && open.is_none() {
            p { a.button href={ "/console/login/provider?next=" (encode(&next(visit))) } { "Log in with your organisation" } }
        }
        p.quiet { "Lost your password? An owner of the installation can make a link for a new one." }
    }
}

/// Marks a form that can be shown again with what was typed.
pub(crate) fn kept() -> Markup {
    html! { input type="hidden" name="keep" value="yes"; }
}

/// Whether a form is one that can be shown again with what was typed, by a step that does nothing.
pub(crate) fn is_worth_keeping(form: &Fields) -> bool {
    form.text("keep").is_some()
}

/// The login for somebody who was logged out while writing; what was written comes along.
pub(crate) fn again(visit: &Visit) -> Answer {
    let written = encoded(visit.form.pairs().filter(|(name, _)| *name != "do"));
    if written.len() > MOST_KEPT_BYTES {
        let body = html! {
            div.notice.bad role="alert" {
                p { "You were logged out, and what you have written is too long to be kept here." }
                p { a href="/console/login" target="_blank" { "Log in in another tab" } ", go back in this one, and send it again." }
            }
        };
        return Answer::door_refused("Log in", body, &Error::NotSignedIn);
    }
    let draft = visit.form.text("draft").map(|draft| query([("draft", draft)])).unwrap_or_default();
    let body = html! {
        div.notice.bad role="alert" { p { "You were logged out. Log in again: what you have written is kept." } }
        form method="post" action="/console/login" {
            input type="hidden" name="next" value=(visit.path);
            input type="hidden" name="kept" value=(written);
            (Field::email().show(None))
            (Field::password("password", "Password", "current-password").show(None))
            button.main type="submit" { "Log in" }
        }
        @if visit.console.oidc.is_some() {
            @let back = format!("{}{draft}", visit.path);
            p { a.button href={ "/console/login/provider?next=" (encode(&back)) } { "Log in with your organisation" } }
        }
    };
    Answer::door_refused("Log in", body, &Error::NotSignedIn)
}

/// Leads back to the form with what was written in it.
fn go_on(path: &str, written: &Fields) -> Markup {
    html! {
        form data-go method="post" action=(path) {
            @for (name, value) in written.pairs().filter(|(name, _)| *name != "do") {
                input type="hidden" name=(name) value=(value);
            }
            input type="hidden" name="do" value="check";
            p { "You are logged in again." }
            button.main { "Go on with what you have written" }
        }
    }
}

/// Where the visitor wanted to go, if that is one of our pages.
pub(super) fn next(visit: &Visit) -> String {
    let wanted = visit.form.text("next").or_else(|| visit.query.text("next")).unwrap_or_default();
    let is_ours = wanted == "/console" || wanted.starts_with("/console/");
    let is_plain = wanted.bytes().all(|b| b.is_ascii_graphic()) && !wanted.contains('\\');
    if is_ours && is_plain { wanted.to_owned() } else { "/console".to_owned() }
}

fn wrong(sentence: &str) -> Error {
    Error::Refused { status: StatusCode::FORBIDDEN, sentence: sentence.to_owned() }
}
