//! Reports of an app over time, bucket by bucket.

use axum::extract::State;
use events::{Buckets, Counts, Metric, Opted};
use futures_util::future::BoxFuture;
use model::report::{Period, Precision};
use schemars::JsonSchema;
use serde::Serialize;

use super::{ByPlatform, MOST_BUCKETS, Report, by_platform, if_any, period, rest_of};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::links::Links;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Bucket<T> {
    date: String,
    #[serde(flatten)]
    platforms: ByPlatform<T>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ResponseCounts")]
pub(in crate::routes) struct Responses {
    direct: u64,
    influenced: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unproven: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct WebInteraction {
    app_key: String,
    start: String,
    end: String,
    precision: &'static str,
    total_counts: Vec<WebCounts>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct WebCounts {
    date: String,
    counts: Interactions,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WebInteractions")]
pub(in crate::routes) struct Interactions {
    clicks: u64,
    sessions: u64,
}

/// Answers with how often one thing happened.
pub(in crate::routes) fn count_of(
    name: &'static str,
    metric: &'static [Metric; 1],
) -> impl Fn(State<Edge>, CallingApp, Links, Params) -> BoxFuture<'static, Result<Answer>> + Clone {
    move |State(edge), CallingApp(app), links, params| {
        Box::pin(async move {
            let period: Period = period(params, Precision::Daily)?;
            let report = edge.engine.events().report(app.id, metric, period, MOST_BUCKETS).await?;
            shown(&links, name, &report, |counts, platform| counts.on(platform, metric[0]))
        })
    }
}

/// Answers with how many devices opened the app, each of them once in a bucket.
pub(in crate::routes) fn devices_of(
    name: &'static str,
    opted: Opted,
) -> impl Fn(State<Edge>, CallingApp, Links, Params) -> BoxFuture<'static, Result<Answer>> + Clone {
    move |State(edge), CallingApp(app), links, params| {
        Box::pin(async move {
            let period = period(params, Precision::Daily)?;
            let metric = Metric::devices(opted, period.precision);
            let report = edge.engine.events().report(app.id, &[metric], period, MOST_BUCKETS).await?;
            shown(&links, name, &report, |counts, platform| counts.on(platform, metric))
        })
    }
}

/// How many seconds a session lasted on average.
pub(in crate::routes) async fn time_in_app(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    params: Params,
) -> Result<Answer> {
    let period = period(params, Precision::Daily)?;
    let metrics = &[Metric::Sessions, Metric::SessionSeconds];
    let report = edge.engine.events().report(app.id, metrics, period, MOST_BUCKETS).await?;
    shown(&links, "timeinapp", &report, |counts, platform| {
        average(counts.on(platform, Metric::SessionSeconds), counts.on(platform, Metric::Sessions))
    })
}

const RESPONSES: [Metric; 4] =
    [Metric::DirectResponses, Metric::InfluencedResponses, Metric::UnprovenResponses, Metric::LateResponses];

pub(in crate::routes) async fn responses(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    params: Params,
) -> Result<Answer> {
    let period = period(params, Precision::Daily)?;
    let report = edge.engine.events().report(app.id, &RESPONSES, period, MOST_BUCKETS).await?;
    shown(&links, "responses", &report, |counts, platform| Responses {
        direct: counts.on(platform, Metric::DirectResponses),
        influenced: counts.on(platform, Metric::InfluencedResponses),
        unproven: if_any(counts.on(platform, Metric::UnprovenResponses)),
        late: if_any(counts.on(platform, Metric::LateResponses)),
    })
}

/// Figures of browsers. A client library accepts no unknown key, so there are no pages.
pub(in crate::routes) async fn web_interaction(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    params: Params,
) -> Result<Answer> {
    let period = period(params, Precision::Hourly)?;
    let report =
        edge.engine.events().report(app.id, &[Metric::DirectResponses, Metric::Opens], period, MOST_BUCKETS).await?;
    refuse_rest(&report)?;
    let total_counts = report.buckets.iter().map(|(start, counts)| {
        let (clicks, sessions) = (counts.on("web", Metric::DirectResponses), counts.on("web", Metric::Opens));
        WebCounts { date: start.to_report(), counts: Interactions { clicks, sessions } }
    });
    Answer::bare(WebInteraction {
        app_key: app.key.as_str().to_owned(),
        start: period.start().to_report(),
        end: period.end().to_report(),
        precision: period.precision.name(),
        total_counts: total_counts.collect(),
    })
}

/// For reports that have no pages.
pub(super) fn refuse_rest(report: &Buckets) -> Result<()> {
    match report.rest {
        None => Ok(()),
        Some(_) => {
            let message = format!("This report has at most {MOST_BUCKETS} rows; ask for a shorter time.");
            Err(Error::invalid("end", message))
        }
    }
}

fn shown<T: Serialize>(
    links: &Links,
    name: &'static str,
    report: &Buckets,
    figure: impl Fn(&Counts, &'static str) -> T,
) -> Result<Answer> {
    let rows = report.buckets.iter().map(|(start, counts)| Bucket {
        date: start.to_report(),
        platforms: by_platform(counts, |platform| figure(counts, platform)),
    });
    let next_page = report.rest.as_ref().map(|rest| rest_of(links, name, rest));
    let report = Report { name, rows: rows.collect(), next_page: next_page.clone() };
    Ok(Answer::ok(report)?.data_attribute(name).next_page(next_page.as_deref()))
}

/// To a thousandth, which is precise enough for an average.
fn average(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { (sum as f64 / count as f64 * 1000.0).round() / 1000.0 }
}
