//! All accounts of the installation, for its owners.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::ids::AccountId;
use serde::Deserialize;
use serde_json::json;

use super::team::welcome;
use crate::answer::Answer;
use crate::dates::time_or;
use crate::error::{Error, Result};
use crate::form::{Fields, query};
use crate::parts::fields::{Field, problems};
use crate::parts::states::badge;
use crate::visit::Visit;

const PAGE: &str = "/console/-/accounts";
const CALL: &str = "/operator/accounts";
const PER_PAGE: &str = "50";

#[derive(Deserialize)]
struct Accounts {
    accounts: Vec<Account>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Account {
    account_id: AccountId,
    email: String,
    name: String,
    owner: bool,
    disabled: bool,
    invited: bool,
    one_time_codes: bool,
    seen: Option<String>,
    roles: Vec<Role>,
}

#[derive(Deserialize)]
struct Role {
    app: String,
    app_name: String,
    role: String,
}

#[derive(Deserialize)]
struct Link {
    link: String,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

pub(crate) async fn invite(visit: Arc<Visit>) -> Result<Answer> {
    let email = visit.form.text("email").unwrap_or_default();
    let body = json!({"email": email, "owner": visit.form.is_checked("owner")});
    match visit.post::<Link>(CALL, body).await {
        Ok(made) => draw(&visit, Some(&made.link), None).await,
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

pub(crate) async fn link(visit: Arc<Visit>) -> Result<Answer> {
    let id: AccountId = visit.id("account")?;
    let made: Link = visit.post(&format!("{CALL}/{id}/link"), json!({})).await?;
    draw(&visit, Some(&made.link), None).await
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    let id: AccountId = visit.id("account")?;
    let body = match visit.form.text("to") {
        Some("lock") => json!({"disabled": true}),
        Some("unlock") => json!({"disabled": false}),
        Some("owner") => json!({"owner": true}),
        Some("no owner") => json!({"owner": false}),
        _ => return Err(Error::NotFound("There is no such change.".to_owned())),
    };
    visit.change(Method::PATCH, &format!("{CALL}/{id}"), Some(body)).await?;
    Answer::to(PAGE)
}

pub(crate) async fn delete(visit: Arc<Visit>) -> Result<Answer> {
    let id: AccountId = visit.id("account")?;
    visit.change(Method::DELETE, &format!("{CALL}/{id}"), None).await?;
    Answer::to(PAGE)
}

async fn draw(visit: &Visit, link: Option<&str>, error: Option<&Error>) -> Result<Answer> {
    let start = visit.query.text("start").unwrap_or_default();
    let found: Accounts = visit.get(&format!("{CALL}{}", query([("start", start), ("limit", PER_PAGE)]))).await?;
    let own = visit.visitor()?.account.id;
    let body = html! {
        @if link.is_some() { (welcome(link)) }
        form.filter method="get" action=(PAGE) role="search" {
            div.field {
                label for="start" { "From this address on" }
                input id="start" name="start" type="search" value=(start) placeholder="the beginning is enough";
            }
            button { "Show" }
        }
        div.scroll tabindex="0" {
            table {
                caption.hidden { "Accounts" }
                thead { tr { th scope="col" { "Person" } th scope="col" { "Roles" } th scope="col" { "Last seen" } th scope="col" { span.hidden { "Actions" } } } }
                tbody { @for account in &found.accounts { (row(account, account.account_id == own)) } }
            }
        }
        (further(&found, start))
        section {
            h2 { "Invite somebody" }
            form.narrow method="post" action=(PAGE) {
                (problems(error, &["email"]))
                (Field { autocomplete: "off", ..Field::email().value(visit.form.text("email").unwrap_or_default()) }.show(error))
                label.check { input type="checkbox" name="owner"; "Owns the installation, and may do everything" }
                button.main { "Invite" }
                p.hint { "Roles in an app are given on its page Team." }
            }
        }
    };
    Answer::page("Accounts", body)
}

/// The way through the accounts, also from the answer to a form, which has another address.
fn further(found: &Accounts, start: &str) -> Markup {
    let next = found.next_page.as_deref().and_then(|next| next.split_once('?')).map(|(_, query)| Fields::parse(query));
    let next = next.as_ref().and_then(|query| query.text("start"));
    html! {
        @if next.is_some() || !start.is_empty() {
            nav.pager aria-label="Pages of the table" {
                @if !start.is_empty() { a href=(PAGE) { "First" } }
                @if let Some(next) = next { a rel="next" href={ (PAGE) (query([("start", next)])) } { "Next" } }
            }
        }
    }
}

fn row(account: &Account, is_own: bool) -> Markup {
    let action = |below: &str| format!("{PAGE}/{}/{below}", account.account_id);
    html! {
        tr {
            td { (account.name) p.quiet { (account.email) }
                @if account.invited { (badge("invited")) } @if account.disabled { (badge("locked")) }
                @if account.one_time_codes { (badge("codes")) } }
            td {
                @if account.owner { (badge("owner")) }
                @for role in &account.roles { p { a href={ "/console/" (role.app) } { (role.app_name) } " " (role.role) } }
                @if !account.owner && account.roles.is_empty() { span.quiet { "none" } }
            }
            td { (time_or(account.seen.as_deref(), "never")) }
            td.buttons {
                form method="post" action=(action("link")) { button.small { "Link for a password" } }
                @if !is_own {
                    form method="post" action=(action("change")) {
                        @let (to, words) = if account.disabled { ("unlock", "Unlock") } else { ("lock", "Lock out") };
                        button.small name="to" value=(to) { (words) }
                    }
                    form method="post" action=(action("change")) {
                        @let (to, words) = if account.owner { ("no owner", "No owner") } else { ("owner", "Make owner") };
                        button.small name="to" value=(to) { (words) }
                    }
                    form method="post" action=(action("delete")) { button.small.danger { "Delete" } }
                }
            }
        }
    }
}
