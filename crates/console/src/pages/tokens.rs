//! Tokens for the servers of an app: made, listed and revoked by its administrators.

pub(crate) mod clients;
mod limits;

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::ids::ServerTokenId;
use serde::Deserialize;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::Fields;
use crate::parts::copy;
use crate::parts::once::once;
use crate::visit::Visit;
use limits::{Limits, Row};

#[derive(Deserialize)]
struct Tokens {
    tokens: Vec<Token>,
}

#[derive(Deserialize)]
struct Token {
    token_id: ServerTokenId,
    prefix: String,
    #[serde(flatten)]
    limits: Limits,
}

#[derive(Deserialize)]
struct Created {
    token: String,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    match visit.post_form::<Created>(&path(&visit)?, limits::body(&visit.form).into()).await {
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

/// Tokens, and clients that get some.
fn views(visit: &Visit) -> Markup {
    let choices =
        [("/tokens", "Tokens"), ("/tokens/clients", "OAuth clients")].map(|(below, words)| (visit.to(below), words));
    html! {
        nav.tabs aria-label="Tokens and clients" {
            @for (path, words) in choices { a href=(path) aria-current=[(visit.path == path).then_some("true")] { (words) } }
        }
    }
}

async fn draw(visit: &Visit, created: Option<&Created>, error: Option<&Error>) -> Result<Answer> {
    let Tokens { tokens } = visit.get(&path(visit)?).await?;
    // A form that was refused is shown as it was filled in, and a new one is empty after a token was made.
    let nothing = Fields::default();
    let typed = if created.is_some() { &nothing } else { &visit.form };
    let rows: Vec<Row<'_>> = tokens
        .iter()
        .map(|token| Row {
            limits: &token.limits,
            mark: html! { code { (token.prefix) "…" } },
            revoke: visit.to(&format!("/tokens/{}/revoke", token.token_id)),
        })
        .collect();
    let body = html! {
        (views(visit))
        @if let Some(created) = created {
            div.notice.good role="status" {
                p { "Put this token into the settings of the server. It is shown only now:" }
                p.big { (copy::inline(&created.token, "the token")) }
                p { "A request has it as " code { "Authorization: Bearer " (created.token) } "." }
            }
        }
        @if tokens.is_empty() {
            div.empty {
                p { "A token lets a server do less than the master secret: what a role may, for a time, from some addresses. Each server gets \
                     its own, so that one can be revoked without touching the others." }
            }
        } @else { (limits::table("The tokens", &rows)) }
        section {
            h2 { "Make a token" }
            form.narrow method="post" action=(visit.to("/tokens")) {
                (once(visit))
                (limits::fields(typed, error))
                button.main { "Make it" }
            }
        }
    };
    Answer::page("Tokens", body)
}
