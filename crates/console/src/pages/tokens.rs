//! Tokens for the servers of an app: made, listed and revoked by its administrators.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::ids::ServerTokenId;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::team::ROLES;
use crate::answer::Answer;
use crate::dates::time_or;
use crate::error::{Error, Result};
use crate::parts::fields::{Field, choice, problems};
use crate::visit::Visit;

const ENDS: [(&str, &str); 4] =
    [("7776000", "In 90 days"), ("31536000", "In a year"), ("86400", "In a day"), ("", "Never by itself")];
const FIELDS: [&str; 3] = ["name", "scopes", "addresses"];

#[derive(Deserialize)]
struct Tokens {
    tokens: Vec<Token>,
}

#[derive(Deserialize)]
struct Token {
    token_id: ServerTokenId,
    name: String,
    prefix: String,
    role: String,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default)]
    addresses: Vec<String>,
    created_by: String,
    expires: Option<String>,
    last_used: Option<String>,
}

#[derive(Deserialize)]
struct Created {
    token: String,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    match visit.post::<Created>(&path(&visit)?, body(&visit)).await {
        Ok(created) => draw(&visit, Some(&created), None).await,
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

pub(crate) async fn revoke(visit: Arc<Visit>) -> Result<Answer> {
    let token: ServerTokenId = visit.id("token")?;
    visit.change(Method::DELETE, &format!("{}/{token}", path(&visit)?), None).await?;
    Answer::to(visit.to("/tokens"))
}

fn path(visit: &Visit) -> Result<String> {
    Ok(format!("/operator/apps/{}/tokens", visit.app()?.key))
}

fn typed<'v>(visit: &'v Visit, name: &str) -> &'v str {
    visit.form.text(name).unwrap_or_default()
}

fn body(visit: &Visit) -> Value {
    let mut body = Map::new();
    body.insert("name".to_owned(), json!(typed(visit, "name")));
    body.insert("role".to_owned(), json!(typed(visit, "role")));
    for name in ["scopes", "addresses"] {
        let words: Vec<&str> =
            typed(visit, name).split([',', ' ', '\n', '\r']).filter(|word| !word.is_empty()).collect();
        if !words.is_empty() {
            body.insert(name.to_owned(), json!(words));
        }
    }
    if let Ok(seconds) = typed(visit, "ends").parse::<u32>() {
        body.insert("expires_in".to_owned(), json!(seconds));
    }
    body.into()
}

async fn draw(visit: &Visit, created: Option<&Created>, error: Option<&Error>) -> Result<Answer> {
    let Tokens { tokens } = visit.get(&path(visit)?).await?;
    // A form that was refused is shown as it was filled in, and a new one is empty after a token was made.
    let typed = |name: &str| if created.is_some() { "" } else { typed(visit, name) };
    let body = html! {
        @if let Some(created) = created {
            div.notice.good role="status" {
                p { "Put this token into the settings of the server. It is shown only now:" }
                p { code.big.copy { (created.token) } }
                p { "A request has it as " code { "Authorization: Bearer " (created.token) } "." }
            }
        }
        @if tokens.is_empty() {
            div.empty {
                p { "A token lets a server do less than the master secret: what a role may, for a time, from some addresses. Each server gets \
                     its own, so that one can be revoked without touching the others." }
            }
        } @else { (table(visit, &tokens)) }
        section {
            h2 { "Make a token" }
            form.narrow method="post" action=(visit.to("/tokens")) {
                (problems(error, &FIELDS))
                (Field::text("name", "Name of the server").value(typed("name")).show(error))
                (choice("role", "Role", &ROLES, if typed("role").is_empty() { "sender" } else { typed("role") }))
                (choice("ends", "Ends", &ENDS, typed("ends")))
                (Field::text("addresses", "Only from these networks").optional().value(typed("addresses"))
                    .hint("Such as 10.0.0.0/8; several with spaces between them. Empty for all.").show(error))
                (Field::text("scopes", "Only for these scopes").optional().value(typed("scopes"))
                    .hint("Such as psh chn nu rpt. Empty for all.").show(error))
                button.main { "Make it" }
            }
        }
    };
    Answer::page("Tokens", body)
}

fn table(visit: &Visit, tokens: &[Token]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                caption.hidden { "The tokens" }
                thead { tr {
                    th scope="col" { "Token" } th scope="col" { "May" } th scope="col" { "Last used" } th scope="col" { "Ends" }
                    th scope="col" { span.hidden { "Actions" } }
                } }
                tbody {
                    @for token in tokens {
                        tr {
                            td { (token.name) p.quiet { code { (token.prefix) "…" } " by " (token.created_by) } }
                            td { (token.role)
                                @if !token.scopes.is_empty() { p.quiet { "only " (token.scopes.join(", ")) } }
                                @if !token.addresses.is_empty() { p.quiet { "from " (token.addresses.join(", ")) } } }
                            td { (time_or(token.last_used.as_deref(), "never")) }
                            td { (time_or(token.expires.as_deref(), "never")) }
                            td {
                                form method="post" action=(visit.to(&format!("/tokens/{}/revoke", token.token_id))) {
                                    button.small.danger aria-label={ "Revoke " (token.name) } { "Revoke" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
