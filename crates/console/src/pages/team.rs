//! The team of an app: who may do what in it.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::ids::AccountId;
use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::dates::time_or;
use crate::error::{Error, Result};
use crate::parts::copy;
use crate::parts::fields::{Field, choice, problems};
use crate::parts::states::badge;
use crate::visit::Visit;

pub(crate) const ROLES: [(&str, &str); 5] = [
    ("viewer", "Viewer: reports and messages"),
    ("support", "Support: people and their timelines, too"),
    ("editor", "Editor: drafts and segments, too"),
    ("sender", "Sender: sends and schedules, too"),
    ("admin", "Admin: platforms, webhooks and the team, too"),
];

#[derive(Deserialize)]
struct Team {
    team: Vec<Member>,
}

#[derive(Deserialize)]
struct Member {
    account_id: AccountId,
    email: String,
    name: String,
    role: String,
    disabled: bool,
    invited: bool,
    seen: Option<String>,
}

#[derive(Deserialize)]
struct Added {
    link: Option<String>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

pub(crate) async fn add(visit: Arc<Visit>) -> Result<Answer> {
    let field = |name: &str| visit.form.text(name).unwrap_or_default();
    let body = json!({"email": field("email"), "role": field("role")});
    match visit.post::<Added>(&path(&visit)?, body).await {
        Ok(added) => draw(&visit, Some(&added), None).await,
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    let account: AccountId = visit.id("account")?;
    let body = json!({"role": visit.form.text("role").unwrap_or_default()});
    visit.change(Method::PUT, &format!("{}/{account}", path(&visit)?), Some(body)).await?;
    Answer::to(visit.to("/team"))
}

pub(crate) async fn remove(visit: Arc<Visit>) -> Result<Answer> {
    let account: AccountId = visit.id("account")?;
    visit.change(Method::DELETE, &format!("{}/{account}", path(&visit)?), None).await?;
    Answer::to(visit.to("/team"))
}

fn path(visit: &Visit) -> Result<String> {
    Ok(format!("/operator/apps/{}/team", visit.app()?.key))
}

async fn draw(visit: &Visit, added: Option<&Added>, error: Option<&Error>) -> Result<Answer> {
    let Team { team } = visit.get(&path(visit)?).await?;
    let body = html! {
        @if let Some(added) = added { (welcome(added.link.as_deref())) }
        @if team.is_empty() {
            div.empty { p { "Only the owners of the installation can use this app by the console so far. Add the people who need it." } }
        } @else { (table(visit, &team)) }
        section {
            h2 { "Add somebody" }
            form.narrow method="post" action=(visit.to("/team")) {
                (problems(error, &["email"]))
                (Field { autocomplete: "off", ..Field::email().value(visit.form.text("email").unwrap_or_default()) }.show(error))
                (choice("role", "Role", &ROLES, visit.form.text("role").unwrap_or("viewer")))
                button.main { "Add" }
            }
        }
    };
    Answer::page("Team", body)
}

/// The link for somebody who has no password yet.
pub(crate) fn welcome(link: Option<&str>) -> Markup {
    html! {
        div.notice.good role="status" {
            @match link {
                Some(link) => {
                    p { "Send this link to the person. It works once, for three days, and is shown only now:" }
                    p.big { (copy::inline(link, "the link")) }
                }
                None => p { "Added. The person has an account already, and finds the app after the next login." },
            }
        }
    }
}

fn table(visit: &Visit, team: &[Member]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                caption.hidden { "The team" }
                thead { tr { th scope="col" { "Person" } th scope="col" { "Role" } th scope="col" { "Last seen" } th scope="col" { span.hidden { "Actions" } } } }
                tbody {
                    @for member in team {
                        tr {
                            td { (member.name) p.quiet { (member.email) }
                                @if member.invited { (badge("invited")) } @if member.disabled { (badge("locked")) } }
                            td {
                                form.inline method="post" action=(visit.to(&format!("/team/{}/change", member.account_id))) {
                                    select name="role" aria-label={ "Role of " (member.name) } {
                                        @for (role, words) in ROLES { option value=(role) selected[role == member.role] { (words) } }
                                    }
                                    button.small { "Set" }
                                }
                            }
                            td { (time_or(member.seen.as_deref(), "never")) }
                            td {
                                form method="post" action=(visit.to(&format!("/team/{}/remove", member.account_id))) {
                                    button.small.danger { "Remove" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
