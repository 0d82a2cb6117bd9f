//! Several figures of an app over time at once, for charts.

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use events::{Figure, Line, Lines, LinesRequest};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use model::report::{Period, Precision};
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;

use super::MOST_BUCKETS;
use super::statistics::{FORMATS, Format};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReportSeries")]
pub(in crate::routes) struct SeriesRecord {
    precision: &'static str,
    /// When each bucket begins, in UTC.
    dates: Vec<String>,
    /// The same for the time before.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_dates: Option<Vec<String>>,
    series: Vec<LineRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReportLine")]
pub(in crate::routes) struct LineRecord {
    metric: &'static str,
    /// With `by=platform` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<&'static str>,
    /// One for each date.
    values: Vec<u64>,
    /// Their sum; `null` for figures that do not add up over time.
    total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_total: Option<u64>,
}

pub(in crate::routes) async fn lines(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    mut params: Params,
) -> Result<Response> {
    params.require("metrics", METRICS);
    let figures = params.parsed("metrics", figures);
    let dates = params.dates();
    let precision = params.choice("precision", &Precision::NAMED).unwrap_or(Precision::Daily);
    let by_platform = params.choice("by", &[("platform", true)]).unwrap_or(false);
    let with_previous = params.choice("compare", &[("previous", true)]).unwrap_or(false);
    let format = params.choice("format", &FORMATS).unwrap_or(Format::Json);
    let period = dates.and_then(|dates| Period::new(dates.start, dates.end, precision));
    let (figures, period) = params.finish_with(figures.zip(period))?;
    let request = LinesRequest { figures, period, by_platform, with_previous };
    let lines = edge.engine.events().lines(app.id, request, MOST_BUCKETS).await?;
    if lines.is_cut {
        let message = format!("A series has at most {MOST_BUCKETS} buckets; ask for a shorter time.");
        return Err(Error::invalid("end", message));
    }
    match format {
        Format::Json => Ok(Answer::ok(record(lines, precision))?.data_attribute("series").into_response()),
        Format::Csv => {
            let mut response = Response::new(Body::from(csv(&lines)));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
            Ok(response)
        }
    }
}

/// What `metrics` can be.
const METRICS: &str = "some of sends, received, opens, direct, influenced, optins, optouts, devices, opted_in, installs, \
                       uninstalls, sessions, session_seconds, message_sends, message_reads, message_deletions, in_app_displays, \
                       in_app_clicks, in_app_taps, in_app_pages, in_app_forms_sent, in_app_holdouts and flag_interactions, with \
                       commas between them";

fn figures(text: &str) -> Result<Vec<Figure>, &'static str> {
    let mut wanted = Vec::new();
    for word in text.split(',').map(str::trim) {
        let (_, figure) = Figure::NAMED.into_iter().find(|(name, _)| *name == word).ok_or(WRONG)?;
        if !wanted.contains(&figure) {
            wanted.push(figure);
        }
    }
    Ok(wanted)
}

const WRONG: &str = "These must be some of sends, received, opens, direct, influenced, optins, optouts, devices, opted_in, \
                     installs, uninstalls, sessions, session_seconds, message_sends, message_reads, message_deletions, \
                     in_app_displays, in_app_clicks, in_app_taps, in_app_pages, in_app_forms_sent, in_app_holdouts and \
                     flag_interactions, with commas between them.";

fn record(Lines { dates, previous_dates, lines, .. }: Lines, precision: Precision) -> SeriesRecord {
    let shown = |dates: Vec<UtcMillis>| dates.into_iter().map(UtcMillis::to_report).collect();
    let line = |Line { figure, platform, values, previous }: Line| {
        let total = |values: &Vec<u64>| figure.adds_up().then(|| values.iter().sum());
        LineRecord {
            metric: figure.name(),
            platform,
            total: total(&values),
            previous_total: previous.as_ref().and_then(total),
            values,
            previous,
        }
    };
    SeriesRecord {
        precision: precision.name(),
        dates: shown(dates),
        previous_dates: previous_dates.map(shown),
        series: lines.into_iter().map(line).collect(),
    }
}

/// A row for each bucket and a column for each line, and after it one for the time before. Names need no quotes.
fn csv(Lines { dates, lines, .. }: &Lines) -> String {
    let mut text = "date".to_owned();
    for Line { figure, platform, previous, .. } in lines {
        let name =
            platform.map_or_else(|| figure.name().to_owned(), |platform| format!("{} {platform}", figure.name()));
        text.push_str(&format!(",{name}"));
        if previous.is_some() {
            text.push_str(&format!(",{name} previous"));
        }
    }
    text.push_str("\r\n");
    for (n, date) in dates.iter().enumerate() {
        text.push_str(&date.to_report());
        for Line { values, previous, .. } in lines {
            for values in [Some(values), previous.as_ref()].into_iter().flatten() {
                text.push_str(&format!(",{}", values.get(n).copied().unwrap_or(0)));
            }
        }
        text.push_str("\r\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_name_all_figures() {
        for (name, _) in Figure::NAMED {
            assert!(METRICS.contains(name) && WRONG.contains(name), "{name}");
        }
        assert_eq!(figures("sends, opens,sends"), Ok(vec![Figure::Sends, Figure::Opens]));
        assert_eq!(figures("sends,refused"), Err(WRONG));
    }
}
