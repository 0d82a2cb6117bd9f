//! Responses to pushes: to one push, and to all pushes of a period.

use axum::extract::State;
use events::{Counts, Metric, PushReport};
use model::ids::PushId;
use model::payload::push_type::PushType;
use providers::percent_encoded;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{Report, if_any, push_id};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathVars;
use crate::query::Params;

/// The id has two names, because documents and client libraries disagree.
#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct PushRecord {
    push_id: PushId,
    push_uuid: PushId,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    push_time: String,
    #[schemars(with = "String")]
    push_type: PushType,
    sends: u64,
    /// Of the sends, those that devices have told to have received. Not there while there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<u64>,
    direct_responses: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unproven_responses: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late_responses: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_channels_sends: Option<OpenSends>,
}

/// Sends to open channels, which no other figure of a push contains.
#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct OpenSends {
    platforms: Vec<OpenPlatformSends>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct OpenPlatformSends {
    id: String,
    sends: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<u64>,
}

pub(in crate::routes) async fn of_push(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
) -> Result<Answer> {
    let report = edge.engine.events().push_report(app.id, push_id(&id)?).await?;
    Answer::ok(PushRecord::from(report))
}

pub(in crate::routes) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let dates = params.dates();
    let limit = params.limit(PageSize::REPORTED_PUSHES);
    // Client libraries disagree about the name.
    let start = params.id("push_id_start");
    let start = start.or(params.id("start_id"));
    let dates = params.finish_with(dates)?;
    let (pushes, next) = edge.engine.events().newest_pushes(app.id, dates.clone(), start, limit).await?;
    let next_page = next.map(|next| {
        let (start, end) = (percent_encoded(&dates.start.to_iso()), percent_encoded(&dates.end.to_iso()));
        let path = "/api/reports/responses/list";
        links.to(&format!("{path}?start={start}&end={end}&limit={limit}&push_id_start={next}"))
    });
    let rows: Vec<PushRecord> = pushes.into_iter().map(PushRecord::from).collect();
    let report = Report { name: "pushes", rows, next_page: next_page.clone() };
    Ok(Answer::ok(report)?.data_attribute("pushes").next_page(next_page.as_deref()))
}

impl From<PushReport> for PushRecord {
    fn from(report: PushReport) -> Self {
        let PushReport { id, name, created, push_type, origin, counts } = report;
        Self {
            push_id: id,
            push_uuid: id,
            name,
            push_time: created.to_report(),
            push_type,
            sends: counts.on_devices(Metric::Sends),
            received: if_any(counts.on_devices(Metric::Received)),
            direct_responses: counts.on_devices(Metric::DirectResponses),
            unproven_responses: if_any(counts.on_devices(Metric::UnprovenResponses)),
            late_responses: if_any(counts.on_devices(Metric::LateResponses)),
            group_id: origin.group(),
            open_channels_sends: OpenSends::of(&counts),
        }
    }
}

impl OpenSends {
    /// `None` when nothing was sent to open channels.
    pub(super) fn of(counts: &Counts) -> Option<Self> {
        let sends = counts.on_open_platforms(Metric::Sends);
        let received = |id: &str| counts.on_open_platforms(Metric::Received).find(|(known, _)| *known == id);
        let platforms = sends.map(|(id, sends)| {
            let received = received(id).map(|(_, n)| n);
            OpenPlatformSends { id: id.to_owned(), sends, received }
        });
        let platforms: Vec<_> = platforms.collect();
        (!platforms.is_empty()).then_some(Self { platforms })
    }
}
