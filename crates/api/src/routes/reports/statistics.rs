//! The old statistics of sends per hour, for programs that were written when there were seven kinds of devices.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use events::{Counts, Metric};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use model::report::{Period, Precision};
use schemars::JsonSchema;
use serde::Serialize;

use super::MOST_BUCKETS;
use super::buckets::refuse_rest;
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::query::Params;

#[derive(Clone, Copy)]
pub(super) enum Format {
    Json,
    Csv,
}

/// The forms of an answer.
pub(super) const FORMATS: [(&str, Format); 2] = [("json", Format::Json), ("csv", Format::Csv)];

/// The kinds of devices in their order, with their present names; those without a name no longer exist.
const KINDS: [(&str, Option<&str>); 7] = [
    ("ios", Some("ios")),
    ("helium", None),
    ("blackberry", None),
    ("c2dm", None),
    ("gcm", Some("android")),
    ("windows8", Some("wns")),
    ("windows_phone8", None),
];

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct SendsOfHour {
    start: String,
    #[serde(flatten)]
    sends: BTreeMap<&'static str, u64>,
}

pub(in crate::routes) async fn push_stats(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    mut params: Params,
) -> Result<Response> {
    let dates = params.dates();
    let format = params.choice("format", &FORMATS).unwrap_or(Format::Json);
    let period = params.finish_with(dates.and_then(|dates| Period::new(dates.start, dates.end, Precision::Hourly)))?;
    let report = edge.engine.events().report(app.id, &[Metric::Sends], period, MOST_BUCKETS).await?;
    refuse_rest(&report)?;
    let rows = report.buckets.iter().map(|(start, counts)| (start.to_report(), counts));
    match format {
        Format::Json => {
            let rows = rows.map(|(start, counts)| SendsOfHour { start, sends: sends(counts).collect() });
            Ok(Answer::bare(rows.collect::<Vec<_>>())?.into_response())
        }
        Format::Csv => {
            let lines = rows.map(|(start, counts)| {
                let numbers: Vec<String> = sends(counts).map(|(_, n)| n.to_string()).collect();
                format!("{start},{}\r\n", numbers.join(","))
            });
            let mut response = Response::new(Body::from(lines.collect::<String>()));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/csv"));
            Ok(response)
        }
    }
}

fn sends(counts: &Counts) -> impl Iterator<Item = (&'static str, u64)> {
    KINDS.into_iter().map(|(kind, platform)| (kind, platform.map_or(0, |name| counts.on(name, Metric::Sends))))
}
