//! A month of messages: what was sent, and what schedules and experiments are going to send.

mod month;

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};
use model::time::UtcMillis;
use serde::Deserialize;

use crate::answer::Answer;
use crate::error::Result;
use crate::form::query;
use crate::parts::numbers::count;
use crate::visit::Visit;
use month::Month;

/// Of a day that are seen without unfolding the rest.
const SEEN: usize = 4;
/// Of a day that can be unfolded; a list is better for more.
const UNFOLDED: usize = 20;

#[derive(Deserialize)]
struct Page {
    occurrences: Vec<Occurrence>,
    complete: bool,
}

#[derive(Deserialize)]
struct Occurrence {
    at: String,
    kind: String,
    title: Option<String>,
    origin: Option<Origin>,
    push_id: Option<String>,
    pushes: Option<u64>,
    #[serde(default)]
    local: bool,
    #[serde(default)]
    paused: bool,
}

#[derive(Deserialize)]
struct Origin {
    r#type: String,
    id: String,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let today = visit.console.engine.clock().now().day();
    let month = visit.query.text("month").and_then(Month::parse).unwrap_or_else(|| Month::of_day(today));
    let days = month.days_with_weeks();
    let (from, to) = (date(days.start), date(days.end));
    let path = query([("from", from.as_str()), ("to", to.as_str())]);
    let page: Page = visit.get(&format!("/api/schedules/occurrences{path}")).await?;
    let mut by_day: BTreeMap<i32, Vec<&Occurrence>> = BTreeMap::new();
    for occurrence in &page.occurrences {
        if let Some(at) = UtcMillis::parse_api(&occurrence.at) {
            by_day.entry(at.day()).or_default().push(occurrence);
        }
    }
    let to = |month: Month| format!("{}{}", visit.path, query([("month", month.to_string().as_str())]));
    let body = html! {
        div.head {
            h2 { (month.title()) }
            nav.tabs aria-label="Month" {
                a rel="prev" href=(to(month.before())) { "‹ " (month.before().title()) }
                a href=(visit.path) aria-current=[(Month::of_day(today) == month).then_some("date")] { "This month" }
                a rel="next" href=(to(month.after())) { (month.after().title()) " ›" }
            }
        }
        @if page.occurrences.is_empty() {
            div.empty { p { "Nothing was sent or is planned in these weeks. What is sent, scheduled or automated is shown on its day." } }
        }
        table.calendar {
            caption.hidden { "Messages in " (month.title()) ", by days of UTC" }
            thead { tr { @for day in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] { th scope="col" { (day) } } } }
            tbody {
                @for monday in days.step_by(7) {
                    tr { @for day in monday..monday + 7 { (cell(&visit, day, month, today, by_day.get(&day).map_or(&[][..], Vec::as_slice))) } }
                }
            }
        }
        p.quiet {
            "Days and times are in UTC; ⌂ is by the clock of each device. "
            @if !page.complete { "There is more than is shown here." }
        }
        (legend())
    };
    Answer::page("Calendar", body)
}

fn cell(visit: &Visit, day: i32, month: Month, today: i32, entries: &[&Occurrence]) -> Markup {
    let text = date(day);
    let number = text.get(8..).unwrap_or_default().trim_start_matches('0');
    let kind = match (month.has(day), entries.is_empty()) {
        (true, false) => "day",
        (true, true) => "day bare",
        (false, _) => "day other",
    };
    let (seen, rest) = entries.split_at(entries.len().min(SEEN));
    html! {
        td class=(kind) aria-current=[(day == today).then_some("date")] {
            p.number { span.long { (month::weekday(day)) " " } (number) span.hidden { " " (month.title()) } }
            @for occurrence in seen { (entry(visit, occurrence)) }
            @if !rest.is_empty() {
                details {
                    summary { (rest.len()) " more" }
                    @for occurrence in rest.iter().take(UNFOLDED) { (entry(visit, occurrence)) }
                    @if rest.len() > UNFOLDED { a href=(visit.to(&messages_of(day))) { "All messages of that day" } }
                }
            }
        }
    }
}

fn entry(visit: &Visit, occurrence: &Occurrence) -> Markup {
    let time = occurrence.at.get(11..16).unwrap_or_default();
    let title = occurrence.title.as_deref().unwrap_or("without a text");
    let words = match (occurrence.kind.as_str(), occurrence.paused) {
        (_, true) => "paused",
        ("sent", false) => "sent",
        ("automated", false) => "automated",
        ("recurring", false) => "recurring",
        (_, false) => "scheduled",
    };
    html! {
        a.entry.(words) href=(visit.to(&target(occurrence))) title={ (words) ": " (title) } {
            span.hidden { (words) " " }
            @match occurrence.pushes {
                Some(pushes) => { (count(pushes, "message", "messages")) ", " },
                None => { (time) @if occurrence.local { "⌂" } " " },
            }
            (title)
        }
    }
}

/// The page that tells more.
fn target(occurrence: &Occurrence) -> String {
    match (&occurrence.origin, &occurrence.push_id) {
        (Some(origin), _) if origin.r#type == "experiment" => format!("/experiments/{}", origin.id),
        (_, Some(_)) if occurrence.kind == "automated" => "/automation".to_owned(),
        (_, Some(push)) => format!("/messages/{push}"),
        (_, None) => "/schedules".to_owned(),
    }
}

/// The list of what was sent on a day.
fn messages_of(day: i32) -> String {
    format!("/messages{}", query([("from", date(day).as_str()), ("to", date(day + 1).as_str())]))
}

fn legend() -> Markup {
    html! {
        ul.legend {
            @for kind in ["sent", "automated", "scheduled", "recurring", "paused"] { li { span.entry.(kind) { (kind) } } }
        }
    }
}

fn date(day: i32) -> String {
    UtcMillis::of_day(day).to_api().get(..10).unwrap_or_default().to_owned()
}
