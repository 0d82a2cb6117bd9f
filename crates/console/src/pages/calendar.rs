//! A month or a week of messages, by the clock of the visitor: what was sent, and what schedules and experiments are going to send.

mod days;
mod month;

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use model::time::UtcMillis;
use serde::Deserialize;

use crate::answer::Answer;
use crate::error::Result;
use crate::form::query;
use crate::parts::numbers::count;
use crate::visit::Visit;
use days::{Span, Zone, date, number};
use month::Month;

/// Of a day that are seen without unfolding the rest.
const SEEN: usize = 4;
/// Of a day that can be unfolded; a list is better for more.
const UNFOLDED: usize = 20;
/// A week has one row, and room for more of each day.
const SEEN_OF_WEEK: usize = 20;

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
    let zone = Zone(visit.zone());
    let today = zone.shows(visit.console.engine.clock().now()).day();
    let week = visit.query.text("week").and_then(days::parse).map(Span::week_of);
    let month = || visit.query.text("month").and_then(Month::parse).unwrap_or_else(|| Month::of_day(today));
    let span = week.unwrap_or_else(|| Span::Month(month()));
    let days = span.days();
    // By the clock of some zone or device, a day begins and ends up to a day away from that of UTC.
    let (from, to) = (date(days.start - 1), date(days.end + 1));
    let path = query([("from", from.as_str()), ("to", to.as_str())]);
    let page: Page = visit.get(&format!("/api/schedules/occurrences{path}")).await?;
    let mut by_day: BTreeMap<i32, Vec<(UtcMillis, &Occurrence)>> = BTreeMap::new();
    for occurrence in &page.occurrences {
        let Some(at) = UtcMillis::parse_api(&occurrence.at) else { continue };
        let at = if occurrence.local { at } else { zone.shows(at) };
        by_day.entry(at.day()).or_default().push((at, occurrence));
    }
    let is_empty = !by_day.keys().any(|day| days.contains(day));
    let shown = Shown { visit: &visit, zone, span, today };
    let body = html! {
        (heading(&visit, span, today))
        @if is_empty {
            div.empty {
                p { "Nothing was sent or is planned in these weeks. What is sent, scheduled or automated is shown on its day." }
                @if visit.may(Role::Editor) { p { a href=(visit.to("/compose")) { "Compose a message" } ", for now or for later." } }
            }
        }
        table.calendar {
            caption.hidden { "Messages in " (span.title()) ", by days of " (zone.0) }
            thead { tr { @for day in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] { th scope="col" { (day) } } } }
            tbody {
                @for monday in days.step_by(7) {
                    tr { @for day in monday..monday + 7 { (shown.cell(day, by_day.get(&day).map_or(&[][..], Vec::as_slice))) } }
                }
            }
        }
        p.quiet {
            "Days and times are those of " (zone.0) "; ⌂ is by the clock of each device. "
            @if !page.complete { "There is more than is shown here." }
        }
        (legend())
    };
    Answer::page("Calendar", body)
}

fn heading(visit: &Visit, span: Span, today: i32) -> Markup {
    let to = |span: Span| {
        let (name, value) = span.field();
        format!("{}{}", visit.path, query([(name, value.as_str())]))
    };
    let now = match span {
        Span::Month(_) => Span::Month(Month::of_day(today)),
        Span::Week(_) => Span::week_of(today),
    };
    // The same days, seen the other way: a month that has today is seen by this week.
    let first = if span.has(today) { today } else { span.days().start + 6 };
    let (month, week) = (Span::Month(Month::of_day(first)), Span::week_of(first));
    html! {
        div.head {
            h2 { (span.title()) }
            nav.tabs aria-label="By month or by week" {
                a href=(to(month)) aria-current=[matches!(span, Span::Month(_)).then_some("true")] { "Month" }
                a href=(to(week)) aria-current=[matches!(span, Span::Week(_)).then_some("true")] { "Week" }
            }
            nav.tabs aria-label="Earlier and later" {
                a rel="prev" href=(to(span.before())) { "‹ " (span.before().title()) }
                a href=(to(now)) aria-current=[(now == span).then_some("date")] { "Today" }
                a rel="next" href=(to(span.after())) { (span.after().title()) " ›" }
            }
        }
    }
}

/// What every cell of the table knows.
struct Shown<'v> {
    visit: &'v Visit,
    zone: Zone<'v>,
    span: Span,
    today: i32,
}

impl Shown<'_> {
    fn cell(&self, day: i32, entries: &[(UtcMillis, &Occurrence)]) -> Markup {
        let kind = match (self.span.has(day), entries.is_empty()) {
            (true, false) => "day",
            (true, true) => "day bare",
            (false, _) => "day other",
        };
        let n_seen = if matches!(self.span, Span::Week(_)) { SEEN_OF_WEEK } else { SEEN };
        let (seen, rest) = entries.split_at(entries.len().min(n_seen));
        html! {
            td class=(kind) aria-current=[(day == self.today).then_some("date")] {
                p.number { span.long { (month::weekday(day)) " " } (number(day)) span.hidden { " " (Month::of_day(day).title()) } }
                @for (at, occurrence) in seen { (entry(self.visit, *at, occurrence)) }
                @if !rest.is_empty() {
                    details {
                        summary { (rest.len()) " more" }
                        @for (at, occurrence) in rest.iter().take(UNFOLDED) { (entry(self.visit, *at, occurrence)) }
                        @if rest.len() > UNFOLDED { a href=(self.visit.to(&self.messages_of(day))) { "All messages of that day" } }
                    }
                }
            }
        }
    }

    /// The list of what was sent on a day.
    fn messages_of(&self, day: i32) -> String {
        let (from, to) = (self.zone.begin(day).to_api(), self.zone.begin(day + 1).to_api());
        format!("/messages{}", query([("from", from.as_str()), ("to", to.as_str())]))
    }
}

fn entry(visit: &Visit, at: UtcMillis, occurrence: &Occurrence) -> Markup {
    let time = at.to_api().get(11..16).unwrap_or_default().to_owned();
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
        (Some(origin), None) if origin.r#type == "schedule" => format!("/schedules/{}", origin.id),
        (_, None) => "/schedules".to_owned(),
    }
}

fn legend() -> Markup {
    html! {
        ul.legend {
            @for kind in ["sent", "automated", "scheduled", "recurring", "paused"] { li { span.entry.(kind) { (kind) } } }
        }
    }
}
