//! The latest requests of a webhook, each with its answer.

use maud::{Markup, html};
use serde::Deserialize;

use super::settings::words;
use crate::dates::time;
use crate::parts::numbers::grouped;
use crate::parts::states::badge;

#[derive(Deserialize)]
pub(super) struct History {
    pub(super) attempts: Vec<Entry>,
}

/// A request, or a gap of some records, which has no event.
#[derive(Deserialize)]
pub(super) struct Entry {
    at: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    attempt: Option<u64>,
    milliseconds: Option<u64>,
    missed_records: Option<u64>,
    status: Option<u64>,
    error: Option<String>,
}

pub(super) fn table(attempts: &[Entry]) -> Markup {
    if attempts.is_empty() {
        return html! { div.empty { p { "No request yet. Each one is listed here with its answer." } } };
    }
    html! {
        div.scroll tabindex="0" {
            table.stack {
                caption.hidden { "The latest requests, the newest first" }
                thead {
                    tr {
                        th scope="col" { "Time" } th scope="col" { "Event" } th.number scope="col" { "Attempt" }
                        th.number scope="col" { "Took" } th scope="col" { "Answer" }
                    }
                }
                tbody {
                    @for entry in attempts {
                        tr {
                            td { (time(&entry.at)) }
                            td.still { (entry.kind.as_deref().map_or_else(|| "–".to_owned(), words)) }
                            td.number data-is="Attempt" { @if let Some(attempt) = entry.attempt { (attempt) } }
                            td.number data-is="Took" { @if let Some(millis) = entry.milliseconds { (grouped(millis)) " ms" } }
                            td.wide { (outcome(entry)) }
                        }
                    }
                }
            }
        }
    }
}

fn outcome(entry: &Entry) -> Markup {
    let is_taken = entry.error.is_none() && entry.status.is_some_and(|status| (200..300).contains(&status));
    html! {
        @if is_taken { (badge("ok")) } @else { (badge("failed")) }
        @if let Some(status) = entry.status { " " (status) }
        @if let Some(error) = &entry.error { " " (error) }
        @if let Some(missed) = entry.missed_records { " " (grouped(missed)) " records were deleted before they could be sent" }
    }
}
