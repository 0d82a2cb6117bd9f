//! Pipelines. They are shown as they were sent, together with their state.

use axum::extract::State;
use campaigns::{
    CreatedPipelines, DeletedPipeline, PipelineFilter, PipelinePage, PipelineSort, PipelineView, TriggerKind,
};
use http::StatusCode;
use model::ids::{OperationId, PipelineId, PipelineKind};
use model::pipeline::{Pipeline, PipelineStatus, Rate, parse_global_rates};
use model::time::UtcMillis;
use providers::percent_encoded;
use schemars::JsonSchema;
use serde::Serialize;
use targeting::Order;

use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathId;
use crate::query::{ORDERS, Params};

/// The words of the filter by trigger.
pub(super) const TRIGGERS: [(&str, TriggerKind); 10] = [
    ("TAG_ADDED", TriggerKind::TagAdded),
    ("TAG_REMOVED", TriggerKind::TagRemoved),
    ("FIRST_REG", TriggerKind::FirstRegistration),
    ("FIRST_OPT_IN", TriggerKind::FirstOptIn),
    ("ACTIVITY", TriggerKind::Activity),
    ("REGION_ENTERED", TriggerKind::RegionEntered),
    ("REGION_EXITED", TriggerKind::RegionExited),
    ("CUSTOM_EVENT", TriggerKind::CustomEvent),
    ("SUBSCRIPTION_ADDED", TriggerKind::SubscriptionAdded),
    ("SUBSCRIPTION_REMOVED", TriggerKind::SubscriptionRemoved),
];

#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    operation_id: OperationId,
    pipeline_urls: Vec<String>,
    pipeline_ids: Vec<PipelineId>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_page: Option<String>,
    pipelines: Vec<PipelineRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct One {
    pipeline: PipelineRecord,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PipelineRecord {
    uid: PipelineId,
    url: String,
    #[schemars(with = "String")]
    status: PipelineStatus,
    creation_time: String,
    last_modified_time: String,
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pipeline: Pipeline,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DeletedPage {
    pipelines: Vec<DeletedRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeletedPipeline")]
pub(super) struct DeletedRecord {
    pipeline_id: PipelineId,
    deletion_time: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Limited {
    limits: Limits,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PipelineLimits")]
pub(super) struct Limits {
    total_limit: usize,
    active_limit: usize,
    total_count: usize,
    active_count: usize,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Constraints {
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    constraints: Vec<Rate>,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let pipelines = input.parse(Pipeline::parse_one_or_many).await?;
    let CreatedPipelines { operation_id, ids } =
        edge.engine.campaigns().create_pipelines(app.id, pipelines, input.idempotency_key).await?;
    let pipeline_urls = ids.iter().map(|id| url(&links, *id)).collect();
    let answer = Answer::ok(Created { operation_id, pipeline_urls, pipeline_ids: ids })?;
    Ok(answer.data_attribute("pipeline_urls").status(StatusCode::CREATED))
}

pub(super) async fn validate(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let pipelines = input.parse(Pipeline::parse_one_or_many).await?;
    edge.engine.campaigns().validate_pipelines(app.id, pipelines).await?;
    Answer::ok(Done {})
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let enabled = params.choice("enabled", &[("true", true), ("false", false)]);
    let limit = params.limit(PageSize::PIPELINES);
    let offset = params.number("offset", 0..=u32::MAX).unwrap_or(0);
    params.finish()?;
    let found = edge.engine.campaigns().pipelines(app.id, enabled, offset, limit).await?;
    let filter = enabled.map(|enabled| format!("&enabled={enabled}")).unwrap_or_default();
    page(&links, found, offset, limit, |offset| format!("/api/pipelines?limit={limit}&offset={offset}{filter}"))
}

pub(super) async fn filtered(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let offset = params.number("start", 0..=u32::MAX).unwrap_or(0);
    let limit = params.limit(PageSize::FILTERED_PIPELINES);
    let filter = PipelineFilter {
        only_enabled: params.choice("enabled", &[("true", true), ("false", false)]).unwrap_or(false),
        started_after: params.parsed("started_date_mills", |text| {
            text.parse().map(UtcMillis).map_err(|_| "This must be a number of milliseconds since 1970.")
        }),
        name_prefix: params.text("prefix"),
        triggers: params.choices("triggers", &TRIGGERS),
        // Other words are taken for `name`, as documented.
        sort: match params.text("sort").as_deref() {
            Some("started_date") => PipelineSort::Started,
            Some(_) | None => PipelineSort::Name,
        },
        order: params.choice("order", &ORDERS).unwrap_or(Order::Ascending),
    };
    let mut same = params.repeated(&["enabled", "started_date_mills", "prefix", "sort", "order"]);
    same.extend(params.all("triggers").map(|words| format!("&triggers={}", percent_encoded(words))));
    params.finish()?;
    let found = edge.engine.campaigns().filtered_pipelines(app.id, filter, offset, limit).await?;
    page(&links, found, offset, limit, |start| format!("/api/pipelines/filtered?start={start}&limit={limit}{same}"))
}

/// The page of a listing that begins at an offset, with links to those around it.
fn page(
    links: &Links,
    PipelinePage { shown, total: total_count }: PipelinePage,
    offset: u32,
    limit: u32,
    path: impl Fn(u32) -> String,
) -> Result<Answer> {
    let next = offset.checked_add(limit).filter(|next| (*next as usize) < total_count);
    let next_page = next.map(|next| links.to(&path(next)));
    let pipelines: Vec<_> = shown.into_iter().map(|view| record(links, view)).collect();
    let prev_page = (offset > 0).then(|| links.to(&path(offset.saturating_sub(limit))));
    let count = pipelines.len();
    let answer = Answer::ok(Page { total_count, next_page: next_page.clone(), prev_page, pipelines })?;
    let total = i64::try_from(total_count).unwrap_or(i64::MAX);
    Ok(answer.data_attribute("pipelines").counts(count, total).next_page(next_page.as_deref()))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<PipelineKind>,
    links: Links,
) -> Result<Answer> {
    let view = edge.engine.campaigns().pipeline(app.id, id).await?;
    Ok(Answer::ok(One { pipeline: record(&links, view) })?.data_attribute("pipeline"))
}

pub(super) async fn replace(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<PipelineKind>,
    input: Input,
) -> Result<Answer> {
    let pipeline = input.parse(Pipeline::parse).await?;
    edge.engine.campaigns().replace_pipeline(app.id, id, pipeline).await?;
    Answer::done()
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<PipelineKind>,
) -> Result<Answer> {
    edge.engine.campaigns().delete_pipeline(app.id, id).await?;
    Ok(Answer::nothing())
}

pub(super) async fn deleted(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    mut params: Params,
) -> Result<Answer> {
    let start = params.parsed("start", |text| {
        UtcMillis::parse_api(text).ok_or("This must be a date-time, such as 2030-01-31T12:00:00.")
    });
    let limit = params.limit(PageSize::DELETED_PIPELINES);
    params.finish()?;
    let deleted = edge.engine.campaigns().deleted_pipelines(app.id, start, limit as usize).await?;
    let pipelines = deleted
        .into_iter()
        .map(|DeletedPipeline { id, deleted }| DeletedRecord { pipeline_id: id, deletion_time: deleted.to_api() });
    Ok(Answer::ok(DeletedPage { pipelines: pipelines.collect() })?.data_attribute("pipelines"))
}

pub(super) async fn show_limits(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    let counts = edge.engine.campaigns().pipeline_counts(app.id).await?;
    let most = edge.engine.campaigns().pipeline_limits();
    let limits = Limits {
        total_limit: most.total,
        active_limit: most.active,
        total_count: counts.total,
        active_count: counts.active,
    };
    Ok(Answer::ok(Limited { limits })?.data_attribute("limits"))
}

pub(super) async fn constraints(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    let constraints = edge.engine.campaigns().pipeline_rates(app.id).await?;
    Ok(Answer::ok(Constraints { constraints })?.data_attribute("constraints"))
}

pub(super) async fn set_constraints(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    input: Input,
) -> Result<Answer> {
    let rates = input.parse(parse_global_rates).await?;
    edge.engine.campaigns().set_pipeline_rates(app.id, rates).await?;
    Answer::done()
}

fn record(links: &Links, view: PipelineView) -> PipelineRecord {
    PipelineRecord {
        uid: view.id,
        url: url(links, view.id),
        status: view.status,
        creation_time: view.created.to_api(),
        last_modified_time: view.modified.to_api(),
        pipeline: view.pipeline,
    }
}

fn url(links: &Links, id: PipelineId) -> String {
    links.to(&format!("/api/pipelines/{id}"))
}
