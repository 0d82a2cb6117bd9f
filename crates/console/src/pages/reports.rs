//! Reports over a chosen time, each as a chart with its figures, beside the time before, and as a table for spreadsheets.

mod csv;
mod panels;
mod period;
mod retention;

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;

use crate::answer::Answer;
use crate::chart::{Columns, columns_beside, funnel};
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::numbers::{figure, grouped};
use crate::visit::Visit;
use panels::{Panel, Series, panels};
use period::Period;

const METRICS: &str =
    "sends,opens,direct,influenced,optins,optouts,devices,opted_in,installs,uninstalls,sessions,session_seconds";
const PRESETS: [u32; 3] = [7, 30, 90];

#[derive(Deserialize)]
struct Events {
    events: Vec<Event>,
    total_count: u64,
}

#[derive(Deserialize)]
struct Event {
    name: String,
    conversion: String,
    location: String,
    count: u64,
    value: f64,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let period = Period::of(&visit.query, visit.console.engine.clock().now())?;
    let panels = load(&visit, &period).await?;
    let events = events(&visit, &period).await?;
    let retention = retention::section(&visit).await?;
    let body = html! {
        (chooser(&visit, &period))
        div.figures {
            @for panel in &panels {
                @if let Some(total) = panel.total { (figure(panel.name, &panel.shown(total), panel.change().as_deref())) }
            }
        }
        @for panel in &panels { (section(&visit, panel, &period)) }
        section {
            h2 { "From sent to opened" }
            (funnel(&steps(&panels)))
        }
        (retention)
        (event_section(&visit, &events))
    };
    Answer::page("Reports", body)
}

/// The figures of one panel for a spreadsheet.
pub(crate) async fn download(visit: Arc<Visit>) -> Result<Answer> {
    let period = Period::of(&visit.query, visit.console.engine.clock().now())?;
    let name = visit.var("panel");
    let none = || Error::NotFound("There is no such report.".to_owned());
    let id = name.strip_suffix(".csv").ok_or_else(none)?;
    if id == "retention" {
        return retention::download(&visit).await;
    }
    let text = match id {
        "events" => csv::of_events(&events(&visit, &period).await?),
        id => csv::of_panel(load(&visit, &period).await?.iter().find(|panel| panel.id == id).ok_or_else(none)?),
    };
    csv::answer(&format!("{id}-{}-{}.csv", period.from, period.to), text)
}

/// How many of the messages of the time led somebody into the app.
fn steps(panels: &[Panel]) -> Vec<(&'static str, u64)> {
    let panel = |id: &str| panels.iter().find(|panel| panel.id == id);
    let sum = |id: &str, layer: usize| {
        let rows = panel(id).map(|panel| panel.rows.as_slice()).unwrap_or_default();
        rows.iter().filter_map(|(_, values)| values.get(layer)).sum::<u64>()
    };
    let sent = panel("sends").and_then(|panel| panel.total).unwrap_or(0);
    let (direct, influenced) = (sum("responses", 0), sum("responses", 1));
    vec![("sent", sent), ("the app was opened within 12 hours", direct + influenced), ("opened by the message", direct)]
}

async fn load(visit: &Visit, period: &Period) -> Result<Vec<Panel>> {
    let (start, end) = (period.from.as_str(), period.end.as_str());
    let path = |metrics: &str, by: &str| {
        let precision = period.precision;
        query([
            ("metrics", metrics),
            ("start", start),
            ("end", end),
            ("precision", precision),
            ("by", by),
            ("compare", "previous"),
        ])
    };
    let all: Series = visit.get(&format!("/api/reports/series{}", path(METRICS, ""))).await?;
    let sends: Series = visit.get(&format!("/api/reports/series{}", path("sends", "platform"))).await?;
    Ok(panels(&all, &sends))
}

async fn events(visit: &Visit, period: &Period) -> Result<Events> {
    let path = query([("start", period.from.as_str()), ("end", period.end.as_str())]);
    visit.get(&format!("/api/reports/events{path}")).await
}

fn chooser(visit: &Visit, period: &Period) -> Markup {
    html! {
        div.head {
            nav.tabs aria-label="Time" {
                @for days in PRESETS {
                    a href={ (visit.path) (query([("days", days.to_string().as_str())])) } aria-current=[(period.preset == Some(days)).then_some("page")] {
                        (days) " days"
                    }
                }
            }
            form.filter method="get" {
                div.field { label for="from" { "From" } input id="from" name="from" type="date" value=(period.from) required; }
                div.field { label for="to" { "To" } input id="to" name="to" type="date" value=(period.to) required; }
                button { "Show" }
            }
        }
    }
}

fn section(visit: &Visit, panel: &Panel, period: &Period) -> Markup {
    let chart = Columns { caption: panel.caption.to_owned(), names: panel.names.clone(), rows: panel.rows.clone() };
    let file = format!("/reports/{}.csv", panel.id);
    html! {
        section {
            div.head { h2 { (panel.name) } a href={ (visit.to(&file)) (period.query()) } download { "CSV" span.hidden { " of " (panel.name) } } }
            (columns_beside(&chart, &panel.before))
        }
    }
}

fn event_section(visit: &Visit, events: &Events) -> Markup {
    html! {
        section {
            div.head {
                h2 { "Custom events" }
                @if !events.events.is_empty() { a href={ (visit.to("/reports/events.csv")) (visit.query.with(&[])) } download { "CSV" span.hidden { " of custom events" } } }
            }
            @if events.events.is_empty() {
                div.empty { p { "No custom events in this time. Apps and servers report what people do, such as a purchase with its value." } }
            } @else {
                div.scroll tabindex="0" {
                    table {
                        caption.hidden { "Custom events by name" }
                        thead {
                            tr {
                                th scope="col" { "Event" } th scope="col" { "After a message" } th scope="col" { "Where" }
                                th.number scope="col" { "Count" } th.number scope="col" { "Sum of values" }
                            }
                        }
                        tbody {
                            @for event in &events.events {
                                tr {
                                    th.wide scope="row" { (event.name) }
                                    td { (event.conversion) }
                                    td { (event.location) }
                                    td.number { (grouped(event.count)) }
                                    td.number { (format!("{:.2}", event.value)) }
                                }
                            }
                        }
                    }
                }
                p.quiet { (grouped(events.total_count)) " in all." }
            }
        }
    }
}
