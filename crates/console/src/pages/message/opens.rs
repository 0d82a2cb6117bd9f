//! When a message was opened: by the hour for twelve hours, as a chart.

use maud::{Markup, html};
use model::ids::PushId;
use serde::Deserialize;

use crate::chart::{Columns, columns};
use crate::error::Result;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Series {
    counts: Vec<Hour>,
}

#[derive(Deserialize)]
struct Hour {
    time: String,
    push_platforms: Platforms,
}

#[derive(Deserialize)]
struct Platforms {
    all: Opens,
}

#[derive(Deserialize)]
struct Opens {
    direct_responses: u64,
    influenced_responses: u64,
}

/// Nothing for a message that has no report, or that nobody opened.
pub(super) async fn over_time(visit: &Visit, id: PushId) -> Result<Markup> {
    let series: Option<Series> = visit.find(&format!("/api/reports/perpush/series/{id}?precision=HOURLY")).await?;
    let hours = series.map(|series| series.counts).unwrap_or_default();
    let row = |hour: Hour| {
        (hour.time, vec![hour.push_platforms.all.direct_responses, hour.push_platforms.all.influenced_responses])
    };
    let rows: Vec<(String, Vec<u64>)> = hours.into_iter().map(row).collect();
    let is_opened = rows.iter().any(|(_, opens)| opens.iter().any(|count| *count > 0));
    let chart = Columns {
        caption: "Opens in the first twelve hours, by the hour (UTC)".to_owned(),
        names: vec!["opened by it".to_owned(), "opened after it".to_owned()],
        rows,
    };
    Ok(html! { @if is_opened { section { h2 { "Opened" } (columns(&chart)) } } })
}
