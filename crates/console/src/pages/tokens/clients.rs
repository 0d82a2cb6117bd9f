//! OAuth clients of an app: servers that get access tokens for an hour, by a secret or by a key of their own.

use std::sync::Arc;

use http::Method;
use maud::html;
use model::ids::ServerTokenId;
use serde::Deserialize;
use serde_json::json;

use super::limits::{self, Limits, Row};
use super::views;
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::Fields;
use crate::parts::copy;
use crate::parts::once::once;
use crate::visit::Visit;

const PAGE: &str = "/tokens/clients";

#[derive(Deserialize)]
struct Clients {
    clients: Vec<Client>,
}

#[derive(Deserialize)]
struct Client {
    client_id: ServerTokenId,
    basic: bool,
    #[serde(flatten)]
    limits: Limits,
}

#[derive(Deserialize)]
struct Created {
    client_id: ServerTokenId,
    client_secret: Option<String>,
    private_key: Option<String>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    let mut body = limits::body(&visit.form);
    body.insert("basic".to_owned(), json!(visit.form.is_checked("basic")));
    match visit.post_form::<Created>(&path(&visit)?, body.into()).await {
        Ok(created) => draw(&visit, Some(&created), None).await,
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

pub(crate) async fn revoke(visit: Arc<Visit>) -> Result<Answer> {
    let client: ServerTokenId = visit.id("client")?;
    visit.change(Method::DELETE, &format!("{}/{client}", path(&visit)?), None).await?;
    Answer::to(visit.to(PAGE))
}

fn path(visit: &Visit) -> Result<String> {
    Ok(format!("/operator/apps/{}/oauth-clients", visit.app()?.key))
}

async fn draw(visit: &Visit, created: Option<&Created>, error: Option<&Error>) -> Result<Answer> {
    let Clients { clients } = visit.get(&path(visit)?).await?;
    // A form that was refused is shown as it was filled in, and a new one is empty after a client was made.
    let nothing = Fields::default();
    let typed = if created.is_some() { &nothing } else { &visit.form };
    let rows: Vec<Row<'_>> = clients
        .iter()
        .map(|client| Row {
            limits: &client.limits,
            mark: html! { code { (client.client_id) } @if !client.basic { " without a secret" } },
            revoke: visit.to(&format!("{PAGE}/{}/revoke", client.client_id)),
        })
        .collect();
    let body = html! {
        (views(visit))
        @if let Some(created) = created {
            div.notice.good role="status" {
                p { "The client was made. What follows is shown only now:" }
                dl.facts {
                    dt { "Client id" } dd { (copy::inline(&created.client_id.to_string(), "the client id")) }
                    @if let Some(secret) = &created.client_secret { dt { "Secret" } dd { (copy::inline(secret, "the secret")) } }
                }
                @if let Some(key) = &created.private_key { p { "Private key" } (copy::block(key, "the private key")) }
                p { "It asks for access tokens at " code { "POST /token" } ", by the secret or by an assertion that it signs with the key." }
            }
        }
        @if clients.is_empty() {
            div.empty {
                p { "A client gets access tokens that last an hour, as libraries with OAuth expect it. A server without such a library \
                     is served better by a token." }
            }
        } @else { (limits::table("The OAuth clients", &rows)) }
        section {
            h2 { "Make a client" }
            form.narrow method="post" action=(visit.to(PAGE)) {
                (once(visit))
                (limits::fields(typed, error))
                label.check { input type="checkbox" name="basic" checked[error.is_none() || typed.is_checked("basic")]; "With a secret, besides the key" }
                button.main { "Make it" }
            }
        }
    };
    Answer::page("OAuth clients", body)
}
