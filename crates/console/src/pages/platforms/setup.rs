//! The page of one platform: its keys, and the form to set it up or to add a key behind those that there are.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};

use super::ask;
use super::body::body;
use super::shown::{Shown, words};
use super::state::State;
use super::{call, summary};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::encode;
use crate::parts::fields::problems;
use crate::parts::states::badge;
use crate::visit::Visit;

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None).await
}

/// Sets the platform up, or adds a key to it.
pub(crate) async fn save(visit: Arc<Visit>) -> Result<Answer> {
    let platform = known(&visit)?;
    let path = call(&visit, &platform)?;
    let saved = match body(&platform, &visit.form) {
        Ok(body) if visit.form.is_checked("add") => {
            visit.change(Method::POST, &format!("{path}/keys"), Some(body)).await
        }
        Ok(body) => visit.change(Method::PUT, &path, Some(body)).await,
        Err(error) => Err(error),
    };
    match saved {
        Ok(()) => Answer::to(visit.to("/platforms")),
        Err(error) => Ok(draw(&visit, Some(&error)).await?.refused(&error)),
    }
}

pub(crate) async fn remove_key(visit: Arc<Visit>) -> Result<Answer> {
    let platform = known(&visit)?;
    let path = format!("{}/keys/{}", call(&visit, &platform)?, encode(visit.var("fingerprint")));
    match visit.change(Method::DELETE, &path, None).await {
        Ok(()) => Answer::to(visit.to(&format!("/platforms/{}", encode(&platform)))),
        Err(error) => Ok(draw(&visit, Some(&error)).await?.refused(&error)),
    }
}

fn known(visit: &Visit) -> Result<String> {
    let platform = visit.var("platform");
    match ask::names(platform) {
        Some(_) => Ok(platform.to_owned()),
        None => Err(Error::NotFound("There is no such platform.".to_owned())),
    }
}

async fn draw(visit: &Visit, error: Option<&Error>) -> Result<Answer> {
    let platform = known(visit)?;
    let found: Option<Shown> = visit.find(&call(visit, &platform)?).await?;
    let shown = found.unwrap_or_else(|| Shown::absent(&platform));
    let now = visit.console.engine.clock().now();
    let at = visit.to(&format!("/platforms/{}", encode(&platform)));
    let fields = ask::names(&platform).unwrap_or_default();
    let can_add = !shown.keys.is_empty() && !shown.unreadable && platform != "webpush";
    // Keys that the provider refuses are not worth keeping; others may be in use until the new one is.
    let adds = visit.form.is_checked("add")
        || (error.is_none() && !matches!(shown.state(now), State::Refused | State::Expired));
    let content = html! {
        p { a href=(visit.to("/platforms")) { "All platforms" } " · " (badge(shown.state(now).word())) " " (shown.state(now).sentence()) }
        @if !shown.keys.is_empty() { (keys(&shown, &at)) }
        @if let Some(code) = &shown.validation_code {
            p { "Its endpoint must answer " code { "GET validate" } " below the URL with " code { "{\"confirmation_code\": \"" (code) "\"}" } "." }
        }
        section {
            h2 { @if shown.is_set_up() { "New credentials" } @else { "Set up" } }
            form.narrow method="post" action=(at) {
                (problems(error, &fields))
                (ask::fields(&shown, &visit.form, error))
                @if can_add {
                    label.check {
                        input type="checkbox" name="add" checked[adds];
                        "Add it behind the keys that there are, to take over when the provider refuses them; else it replaces them"
                    }
                }
                button.main { "Save" }
                p.hint { "Secrets are encrypted when they are stored, and never shown again." }
            }
        }
    };
    let verb = if shown.is_set_up() { "Change" } else { "Set up" };
    Answer::page(format!("{verb} {}", words(&platform).name), content)
}

fn keys(shown: &Shown, at: &str) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                caption.hidden { "Keys, in the order in which they are tried" }
                thead { tr { th scope="col" { "Key" } th scope="col" { span.hidden { "Remove" } } } }
                tbody {
                    @for key in &shown.keys {
                        tr {
                            td.wide { (summary(key)) }
                            td {
                                @if shown.keys.len() > 1 {
                                    form method="post" action={ (at) "/keys/" (encode(&key.fingerprint)) "/remove" } {
                                        button.small.danger aria-label={ "Remove the key " (key.fingerprint) } { "Remove" }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
