//! What a link leads to: making the first account, accepting an invitation, choosing a new password.

use std::sync::Arc;

use accounts::{LinkFor, NewPassword, UsedLink};
use http::StatusCode;
use maud::{Markup, html};
use model::account::Email;
use model::app::Mode;
use tenancy::AuditRows;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::parts::fields::{Field, problems};
use crate::visit::Visit;

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    visit.connection.must_be_closed()?;
    let code = visit.query.text("code").unwrap_or_default().to_owned();
    let link = link(&visit, &code).await?;
    Answer::door(title(&link), form(&visit, &code, &link, None))
}

pub(crate) async fn accept(visit: Arc<Visit>) -> Result<Answer> {
    visit.connection.must_be_closed()?;
    let field = |name: &str| visit.form.text(name).unwrap_or_default().to_owned();
    let (code, email) = (field("code"), field("email"));
    let link = link(&visit, &code).await?;
    let is_first = visit.console.engine.accounts().is_without_accounts().await?;
    let credential = match &link {
        LinkFor::NewOwner => Email::new(&email).map_or_else(|| "link".to_owned(), |email| format!("account {email}")),
        LinkFor::Password { email, .. } => format!("account {email}"),
    };
    let password = visit.form.exact("password").unwrap_or_default().to_owned();
    let new = NewPassword { email, name: field("name"), password };
    let using = visit.console.engine.accounts().use_link(&code, new, visit.origin());
    let used = tenancy::on_behalf_of(visit.asked(credential, "account.use_link", AuditRows::Each), using).await;
    let error = match used {
        Ok(UsedLink::SignedIn(secret)) => {
            let cookie = Some(visit.connection.set(&secret)?);
            let path = if is_first { first_page(&visit).await? } else { "/console".to_owned() };
            return Ok(Answer::To { path, cookie });
        }
        Ok(UsedLink::CodeNeeded) => return Answer::to("/console/login"),
        Ok(UsedLink::Ended) => return Err(ended()),
        Err(error) => Error::from(error),
    };
    Ok(Answer::door(title(&link), form(&visit, &code, &link, Some(&error)))?.refused(&error))
}

/// Whoever comes to a new installation sends a first push, if there is an app to try that with.
async fn first_page(visit: &Visit) -> Result<String> {
    let apps = visit.console.engine.tenancy().apps().await?;
    let app = apps.iter().find(|app| app.mode == Mode::Development);
    Ok(app.map_or_else(|| "/console".to_owned(), |app| format!("/console/{}/first", app.key)))
}

async fn link(visit: &Visit, code: &str) -> Result<LinkFor> {
    visit.console.engine.accounts().look_at_link(code).await?.ok_or_else(ended)
}

fn ended() -> Error {
    let sentence = "This link was used already, or is too old. Ask for another one; for the first account, \
                    'aerogram console link' prints one.";
    Error::Refused { status: StatusCode::GONE, sentence: sentence.to_owned() }
}

fn title(link: &LinkFor) -> &'static str {
    match link {
        LinkFor::NewOwner => "Welcome to Aerogram",
        LinkFor::Password { is_first: true, .. } => "Welcome",
        LinkFor::Password { is_first: false, .. } => "Choose a new password",
    }
}

fn form(visit: &Visit, code: &str, link: &LinkFor, error: Option<&Error>) -> Markup {
    let typed = |name: &str| visit.form.text(name).unwrap_or_default().to_owned();
    let password = Field::password("password", "Password", "new-password")
        .hint("At least 12 characters; a few words that only you think of are best.");
    html! {
        form method="post" action="/console/start" {
            (problems(error, &["email", "name", "password"]))
            input type="hidden" name="code" value=(code);
            @match link {
                LinkFor::NewOwner => {
                    p { "Make your account. It owns this installation, and may do everything." }
                    (Field::email().value(&typed("email")).hint("You log in by it. No mail is sent.").show(error))
                    (Field { autocomplete: "name", ..Field::text("name", "Your name").value(&typed("name")) }.show(error))
                }
                LinkFor::Password { email, name, is_first } => {
                    p { "For " strong { (email) } }
                    input type="hidden" name="email" autocomplete="username" value=(email);
                    @if *is_first {
                        @let name = if typed("name").is_empty() { name.clone() } else { typed("name") };
                        (Field { autocomplete: "name", ..Field::text("name", "Your name").value(&name) }.show(error))
                    }
                }
            }
            (password.show(error))
            button.main type="submit" { "Continue" }
        }
    }
}
