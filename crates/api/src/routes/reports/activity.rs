//! The pushes of a period but for those to one device, each with its reach and its responses, in apps and in browsers.

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
    /// The same as in `details`: clients look in either place.
    delivery: Delivery,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityDetails")]
pub(in crate::routes) struct Details {
    interaction: Interaction,
    delivery: Delivery,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityInteraction")]
pub(in crate::routes) struct Interaction {
    web: WebInteraction,
    app: AppInteraction,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityWebInteraction")]
pub(in crate::routes) struct WebInteraction {
    clicks: u64,
    sessions: u64,
}

/// `indirect` and `influenced` are the same, under the names of two versions.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityAppInteraction")]
pub(in crate::routes) struct AppInteraction {
    direct: u64,
    indirect: u64,
    influenced: u64,
    rich_read: u64,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "ActivityDelivery")]
pub(in crate::routes) struct Delivery {
    web: WebDelivery,
    app: AppDelivery,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "ActivityWebDelivery")]
pub(in crate::routes) struct WebDelivery {
    total: u64,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "ActivityAppDelivery")]
pub(in crate::routes) struct AppDelivery {
    silent: u64,
    alerting: u64,
    rich: u64,
    in_app: InAppDelivery,
}

/// How often the in-app message that came with the push was shown.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "ActivityInAppDelivery")]
pub(in crate::routes) struct InAppDelivery {
    impressions: u64,
    impressions_opted_in: u64,
    impressions_opted_out: u64,
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
    let (pushes, next) = edge.engine.events().newest_activities(app.id, dates.clone(), start, limit).await?;
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
        let delivery = Delivery::of(&report.counts);
        Self {
            push_id: report.id,
            timestamp: report.created.to_report(),
            kind: if report.origin.group().is_some() { "GROUP" } else { "PUSH" },
            experiment: matches!(report.origin, Origin::Experiment(_)),
            details: Details { interaction: Interaction::of(&report.counts), delivery },
            delivery,
        }
    }
}

impl Interaction {
    fn of(counts: &Counts) -> Self {
        let influenced = in_apps(counts, Metric::InfluencedResponses);
        let (clicks, sessions) =
            (counts.on("web", Metric::DirectResponses), counts.on("web", Metric::InfluencedResponses));
        Self {
            web: WebInteraction { clicks, sessions },
            app: AppInteraction {
                direct: in_apps(counts, Metric::DirectResponses),
                indirect: influenced,
                influenced,
                rich_read: in_apps(counts, Metric::RichReads),
            },
        }
    }
}

impl Delivery {
    fn of(counts: &Counts) -> Self {
        let alerting = in_apps(counts, Metric::AlertingSends);
        let (impressions, impressions_opted_in) =
            (in_apps(counts, Metric::InAppDisplays), in_apps(counts, Metric::InAppOptedInDisplays));
        Self {
            web: WebDelivery { total: counts.on("web", Metric::Sends) },
            app: AppDelivery {
                silent: in_apps(counts, Metric::Sends).saturating_sub(alerting),
                alerting,
                rich: in_apps(counts, Metric::RichSends),
                in_app: InAppDelivery {
                    impressions,
                    impressions_opted_in,
                    impressions_opted_out: impressions.saturating_sub(impressions_opted_in),
                },
            },
        }
    }
}

fn in_apps(counts: &Counts, metric: Metric) -> u64 {
    counts.on_devices(metric).saturating_sub(counts.on("web", metric))
}
