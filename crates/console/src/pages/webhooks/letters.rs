//! The events that a webhook never took: shown, sent once more, or discarded.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::settings::words;
use crate::dates::time;
use crate::error::Result;
use crate::form::encode;
use crate::parts::numbers::{count, grouped};
use crate::visit::Visit;

/// The service sends some at a time; a page that takes longer than this many times leaves the rest for another click.
const MOST_ROUNDS: usize = 20;

#[derive(Deserialize)]
pub(super) struct Letters {
    dead_letters: Vec<Letter>,
    after: Option<String>,
}

#[derive(Deserialize)]
struct Letter {
    #[serde(rename = "type")]
    kind: Option<String>,
    given_up: String,
    attempts: u64,
    reason: String,
    event: Option<Value>,
}

#[derive(Deserialize)]
struct Redelivered {
    delivered: u64,
    failed: u64,
    reason: Option<String>,
    after: Option<String>,
}

/// Sends them once more, and tells what came of it.
pub(super) async fn redeliver(visit: &Visit, webhook: &str) -> Result<String> {
    let mut all = Redelivered { delivered: 0, failed: 0, reason: None, after: None };
    for _ in 0..MOST_ROUNDS {
        let after = all.after.as_deref().map(|after| format!("?after={}", encode(after))).unwrap_or_default();
        let came: Redelivered = visit.post(&format!("{webhook}/dead/redeliver{after}"), json!({})).await?;
        all.delivered += came.delivered;
        all.failed += came.failed;
        all.reason = came.reason.or(all.reason);
        all.after = came.after;
        if all.after.is_none() || came.delivered == 0 {
            break;
        }
    }
    Ok(told(&all))
}

fn told(all: &Redelivered) -> String {
    let mut text = format!("{} taken", count(all.delivered, "event was", "events were"));
    match (all.failed, &all.reason) {
        (0, _) => text.push('.'),
        (failed, Some(reason)) => text.push_str(&format!(", {} not: {reason}", grouped(failed))),
        (failed, None) => text.push_str(&format!(", {} not.", grouped(failed))),
    }
    if all.after.is_some() {
        text.push_str(" There are more.");
    }
    text
}

pub(super) fn section(letters: &Letters, at: &str) -> Markup {
    if letters.dead_letters.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Given up" }
            p.quiet { "These events were tried until the time was over. They are kept until they are sent once more or discarded." }
            div.actions {
                form method="post" action={ (at) "/redeliver" } { button { "Send them once more" } }
                details.ask {
                    summary { "Discard…" }
                    form method="post" action={ (at) "/discard" } {
                        p { "They are deleted for good." }
                        button.danger { "Discard them all" }
                    }
                }
            }
            div.scroll tabindex="0" {
                table {
                    caption.hidden { "Events that were given up" }
                    thead {
                        tr {
                            th scope="col" { "Given up" } th scope="col" { "Event" } th.number scope="col" { "Attempts" } th scope="col" { "Why" }
                        }
                    }
                    tbody { @for letter in &letters.dead_letters { (row(letter)) } }
                }
            }
            @if letters.after.is_some() { p.quiet { "The first of them; there are more." } }
        }
    }
}

fn row(letter: &Letter) -> Markup {
    html! {
        tr {
            td { (time(&letter.given_up)) }
            td.wide {
                (letter.kind.as_deref().map_or_else(|| "–".to_owned(), words))
                @if let Some(event) = &letter.event {
                    details { summary { "The event" } pre { code { (format!("{event:#}")) } } }
                }
            }
            td.number { (grouped(letter.attempts)) }
            td.wide { (letter.reason) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_redelivery_is_told() {
        let came = |delivered, failed, reason: Option<&str>, after: Option<&str>| {
            told(&Redelivered { delivered, failed, reason: reason.map(str::to_owned), after: after.map(str::to_owned) })
        };
        assert_eq!(came(1, 0, None, None), "1 event was taken.");
        assert_eq!(
            came(2, 3, Some("It answered 500."), Some("9")),
            "2 events were taken, 3 not: It answered 500. There are more."
        );
    }
}
