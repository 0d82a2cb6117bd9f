//! One webhook: how it is doing, its latest requests, what it never took, and everything that can be done about it.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::ids::WebhookId;
use serde::Deserialize;
use serde_json::json;

use super::history::{self, History};
use super::letters::{self, Letters};
use super::settings;
use super::shown::{One, Shown};
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::parts::copy;
use crate::parts::fields::problems;
use crate::parts::numbers::{figure, grouped};
use crate::parts::states::badge;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Proof {
    status: u64,
    milliseconds: u64,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    let body = settings::body(&visit.form, false);
    match visit.change(Method::PATCH, &call(&visit)?, Some(body)).await {
        Ok(()) => Answer::to(visit.path.clone()),
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

pub(crate) async fn act(visit: Arc<Visit>) -> Result<Answer> {
    let told = match visit.var("action") {
        "test" => visit.post::<Proof>(&format!("{}/test", call(&visit)?), json!({})).await.map(|proof| {
            Some(format!(
                "It answered {} after {} ms. The event was made up.",
                proof.status,
                grouped(proof.milliseconds)
            ))
        }),
        "enable" => enable(&visit, true).await,
        "disable" => enable(&visit, false).await,
        "replay" => replay(&visit).await,
        "redeliver" => letters::redeliver(&visit, &call(&visit)?).await.map(Some),
        "discard" => visit.change(Method::DELETE, &format!("{}/dead", call(&visit)?), None).await.map(|()| None),
        "delete" => {
            visit.change(Method::DELETE, &call(&visit)?, None).await?;
            return Answer::to(visit.to("/webhooks"));
        }
        _ => return Err(Error::NotFound("There is no such page.".to_owned())),
    };
    match told {
        Ok(Some(told)) => draw(&visit, Some(&told), None).await,
        Ok(None) => Answer::to(at(&visit)?),
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

async fn enable(visit: &Visit, enabled: bool) -> Result<Option<String>> {
    visit.change(Method::PATCH, &call(visit)?, Some(json!({ "enabled": enabled }))).await?;
    Ok(None)
}

async fn replay(visit: &Visit) -> Result<Option<String>> {
    let body = match (visit.form.text("from"), visit.form.text("time")) {
        (Some("earliest"), _) => json!({ "offset": "0" }),
        (_, Some(time)) => json!({ "time": time }),
        (_, None) => return Err(Error::invalid("time", "Choose the time from which events are sent again.")),
    };
    visit.change(Method::POST, &format!("{}/replay", call(visit)?), Some(body)).await?;
    Ok(None)
}

fn call(visit: &Visit) -> Result<String> {
    Ok(format!("{}/{}", super::call(visit)?, visit.id::<WebhookId>("webhook")?))
}

fn at(visit: &Visit) -> Result<String> {
    Ok(visit.to(&format!("/webhooks/{}", visit.id::<WebhookId>("webhook")?)))
}

async fn draw(visit: &Visit, told: Option<&str>, error: Option<&Error>) -> Result<Answer> {
    let (path, at) = (call(visit)?, at(visit)?);
    let One { webhook } = visit.get(&path).await?;
    let History { attempts } = visit.get(&format!("{path}/history?limit=25")).await?;
    let dead: Letters = visit.get(&format!("{path}/dead?limit=50")).await?;
    let is_changed = visit.method == Method::POST && visit.var("action").is_empty();
    let body = html! {
        @if let Some(told) = told { div.notice.good role="status" { p { (told) } } }
        @if !is_changed { (problems(error, &[])) }
        p.line {
            a href=(visit.to("/webhooks")) { "All webhooks" } " · " (badge(&webhook.state)) " "
            @if let Some(since) = &webhook.failing_since { "since " (time(since)) " " }
            @if let Some(reason) = &webhook.reason { (reason) }
        }
        @if let Some(since) = &webhook.nothing_taken_since {
            p.quiet { "Nothing was taken since " (time(since)) ". After five days the service disables it; events wait while they are kept." }
        }
        div.figures {
            @match webhook.behind() {
                Some((records, time)) => (figure("Behind", &time, Some(&records))),
                None => (figure("Behind", "nothing", Some("up to date"))),
            }
            (figure("Delivered", &grouped(webhook.delivered), None))
            (figure("Failed requests", &grouped(webhook.failed_attempts), Some("tried again")))
            (figure("Given up", &grouped(webhook.dead_letters), Some("kept below")))
            @if webhook.missed_records > 0 {
                (figure("Missed", &grouped(webhook.missed_records), Some("deleted before they could be sent")))
            }
        }
        (buttons(&webhook, &at))
        (letters::section(&dead, &at))
        section { h2 { "Latest requests" } (history::table(&attempts)) }
        section {
            details open[is_changed] {
                summary { h2 { "Settings" } }
                form.narrow method="post" action=(at) {
                    (problems(error.filter(|_| is_changed), &settings::FIELDS))
                    (settings::fields(Some(&webhook), &visit.form, error))
                    button.main { "Save" }
                }
            }
        }
        p.quiet { "Id " (copy::inline(&webhook.webhook_id.to_string(), "the id of the webhook")) @if let Some(url) = &webhook.url { " · " code { (url) } } }
    };
    Answer::page(webhook.title(), body)
}

fn buttons(webhook: &Shown, at: &str) -> Markup {
    html! {
        div.actions {
            form method="post" action={ (at) "/test" } { button { "Send a test" } }
            @if webhook.enabled {
                form method="post" action={ (at) "/disable" } { button { "Disable" } }
            } @else {
                form method="post" action={ (at) "/enable" } { button.main { "Enable" } }
            }
            details.ask {
                summary { "Replay…" }
                form method="post" action={ (at) "/replay" } {
                    label { "Send events again from this time on, in UTC" input type="datetime-local" name="time" step="1"; }
                    label.check { input type="checkbox" name="from" value="earliest"; "From the oldest event that is kept" }
                    button { "Replay" }
                    p.hint { "Your server sees events twice; their ids tell." }
                }
            }
            details.ask {
                summary { "Delete…" }
                form method="post" action={ (at) "/delete" } {
                    p { "Its history and the events that were given up go, too." }
                    button.danger { "Delete the webhook" }
                }
            }
        }
    }
}
