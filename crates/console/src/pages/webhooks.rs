//! Where the events of an app are forwarded to: the list, and the form for a new one.

mod history;
mod letters;
mod one;
mod settings;
mod shown;

use std::sync::Arc;

use maud::{Markup, html};

use crate::answer::Answer;
use crate::dates::{time, time_or};
use crate::error::{Error, Result};
use crate::parts::fields::problems;
use crate::parts::numbers::grouped;
use crate::parts::once::once;
use crate::parts::states::badge;
use crate::visit::Visit;
use shown::{All, One, Shown};

pub(crate) use one::{act, change, show};

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    let body = settings::body(&visit.form, true);
    match visit.post_form::<One>(&call(&visit)?, body).await {
        Ok(One { webhook }) => Answer::to(visit.to(&format!("/webhooks/{}", webhook.webhook_id))),
        Err(error) => Ok(draw(&visit, Some(&error)).await?.refused(&error)),
    }
}

fn call(visit: &Visit) -> Result<String> {
    Ok(format!("/operator/apps/{}/webhooks", visit.app()?.key))
}

async fn draw(visit: &Visit, error: Option<&Error>) -> Result<Answer> {
    let All { webhooks } = visit.get(&call(visit)?).await?;
    let body = html! {
        @if webhooks.is_empty() {
            div.empty {
                p { "No webhook yet. A webhook gets the events of this app as they happen: what was sent, opened and clicked, who came \
                     and went, and what devices report." }
                p { "Each event is one POST with JSON. What is not taken is tried again; nothing is skipped silently." }
            }
        } @else { (table(visit, &webhooks)) }
        section {
            details open[webhooks.is_empty() || error.is_some()] {
                summary { h2 { "New webhook" } }
                form.narrow method="post" action=(visit.to("/webhooks")) {
                    (once(visit))
                    (problems(error, &settings::FIELDS))
                    (settings::fields(None, &visit.form, error))
                    button.main { "Make the webhook" }
                }
            }
        }
    };
    Answer::page("Webhooks", body)
}

fn table(visit: &Visit, webhooks: &[Shown]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.stack {
                caption.hidden { "Webhooks" }
                thead {
                    tr {
                        th scope="col" { "Webhook" } th scope="col" { "State" } th scope="col" { "Progress" }
                        th.number scope="col" { "Delivered" } th.number scope="col" { "Given up" } th scope="col" { "Last delivered" }
                    }
                }
                tbody {
                    @for webhook in webhooks {
                        tr {
                            td.wide {
                                a href=(visit.to(&format!("/webhooks/{}", webhook.webhook_id))) { (webhook.title()) }
                                @if let Some(url) = &webhook.url { p.quiet.clip { (url) } }
                            }
                            td {
                                (badge(&webhook.state))
                                @if let Some(since) = &webhook.failing_since { p.quiet { "since " (time(since)) } }
                                @if let Some(reason) = &webhook.reason { p.quiet.clip { (reason) } }
                            }
                            td data-is="Progress" { (webhook.progress()) }
                            td.number data-is="Delivered" { (grouped(webhook.delivered)) }
                            td.number data-is="Given up" { (grouped(webhook.dead_letters)) }
                            td data-is="Last delivered" { (time_or(webhook.last_delivered.as_deref(), "never")) }
                        }
                    }
                }
            }
        }
    }
}
