//! The pushes of a period, each with its reach and its responses, in apps and in browsers.

use axum::extract::State;
use events::{Counts, Metric, PushReport};
use model::ids::PushId;
use model::origin::Origin;
use providers::percent_encoded;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Activities<'a> {
    app_key: &'a str,
    start: String,
    end: String,
    limit: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    activities: Vec<Activity>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Activity {
    push_id: PushId,
    timestamp: String,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Whether it is part of an experiment.
    experiment: bool,
    details: Details,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityDetails")]
pub(in crate::routes) struct Details {
    interaction: Places,
    delivery: Places,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityPlaces")]
pub(in crate::routes) struct Places {
    web: u64,
    app: u64,
}

pub(in crate::routes) async fn activity(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let dates = params.dates();
    let limit = params.limit(PageSize::REPORTED_PUSHES);
    let start = params.id("push_id_start");
    let dates = params.finish_with(dates)?;
    let (pushes, next) = edge.engine.events().newest_pushes(app.id, dates.clone(), start, limit).await?;
    let next_page = next.map(|next| {
        let (start, end) = (percent_encoded(&dates.start.to_iso()), percent_encoded(&dates.end.to_iso()));
        let path = "/api/reports/activity/details";
        links.to(&format!("{path}?start={start}&end={end}&limit={limit}&push_id_start={next}"))
    });
    let answer = Activities {
        app_key: app.key.as_str(),
        start: dates.start.to_report(),
        end: dates.end.to_report(),
        limit,
        next_page: next_page.clone(),
        activities: pushes.iter().map(Activity::of).collect(),
    };
    Ok(Answer::ok(answer)?.data_attribute("activities").next_page(next_page.as_deref()))
}

impl Activity {
    fn of(report: &PushReport) -> Self {
        let counts = &report.counts;
        let responses = [Metric::DirectResponses, Metric::InfluencedResponses];
        let details =
            Details { interaction: Places::of(counts, &responses), delivery: Places::of(counts, &[Metric::Sends]) };
        Self {
            push_id: report.id,
            timestamp: report.created.to_report(),
            kind: if report.origin.group().is_some() { "GROUP" } else { "PUSH" },
            experiment: matches!(report.origin, Origin::Experiment(_)),
            details,
        }
    }
}

impl Places {
    fn of(counts: &Counts, metrics: &[Metric]) -> Self {
        let web: u64 = metrics.iter().map(|metric| counts.on("web", *metric)).sum();
        let devices: u64 = metrics.iter().map(|metric| counts.on_devices(*metric)).sum();
        Self { web, app: devices.saturating_sub(web) }
    }
}
