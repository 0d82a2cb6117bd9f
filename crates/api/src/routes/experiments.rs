//! Experiments: made, shown, and deleted before they start.

use axum::extract::State;
use campaigns::{CreatedExperiment, ExperimentDeletion, ExperimentPage, ExperimentView};
use http::StatusCode;
use model::experiment::Experiment;
use model::ids::{ExperimentId, ExperimentKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::inside::Person;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathId;
use crate::query::Params;

/// The experiment is its own push, as far as reports go.
#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    experiment_id: ExperimentId,
    push_id: ExperimentId,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct One {
    experiment: ExperimentRecord,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    count: usize,
    total_count: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    experiments: Vec<ExperimentRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ExperimentRecord {
    id: ExperimentId,
    push_id: ExperimentId,
    created_at: String,
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    experiment: Experiment,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    person: Person,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let experiment = input.parse(Experiment::parse).await?;
    person.may_send(&edge, &app, experiment.pushes().take(1)).await?;
    let CreatedExperiment { operation_id, id, .. } =
        edge.engine.campaigns().create_experiment(app.id, experiment, input.idempotency_key).await?;
    let answer = Answer::changed(operation_id, Created { experiment_id: id, push_id: id })?;
    Ok(answer.status(StatusCode::CREATED).location(&links.to(&format!("/api/experiments/{id}"))))
}

/// Says under which id it was done, as clients expect, though nothing is.
pub(super) async fn validate(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let experiment = input.parse(Experiment::parse).await?;
    edge.engine.campaigns().validate_experiment(app.id, experiment).await?;
    Answer::done()
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let (offset, limit) = slice(&mut params);
    params.finish()?;
    let page = edge.engine.campaigns().experiments(app.id, offset, limit).await?;
    page_answer(&links, "/api/experiments", offset, limit, page)
}

pub(super) async fn list_scheduled(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let (offset, limit) = slice(&mut params);
    params.finish()?;
    let page = edge.engine.campaigns().scheduled_experiments(app.id, offset, limit).await?;
    page_answer(&links, "/api/experiments/scheduled", offset, limit, page)
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ExperimentKind>,
) -> Result<Answer> {
    let experiment = edge.engine.campaigns().experiment(app.id, id).await?;
    Ok(Answer::ok(One { experiment: experiment.into() })?.data_attribute("experiment"))
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ExperimentKind>,
) -> Result<Answer> {
    match edge.engine.campaigns().delete_experiment(app.id, id).await? {
        ExperimentDeletion::Deleted => Answer::done(),
        ExperimentDeletion::HasStarted => Err(Error::ExperimentStarted),
    }
}

/// How many are skipped, and how many are shown.
fn slice(params: &mut Params) -> (u32, u32) {
    let offset = params.number("offset", 0..=u32::MAX).unwrap_or(0);
    (offset, params.limit(PageSize::EXPERIMENTS))
}

fn page_answer(links: &Links, path: &str, offset: u32, limit: u32, page: ExperimentPage) -> Result<Answer> {
    let ExperimentPage { experiments, total } = page;
    let next = offset.checked_add(limit).filter(|next| i64::from(*next) < total);
    let next_page = next.map(|next| links.to(&format!("{path}?limit={limit}&offset={next}")));
    let experiments: Vec<_> = experiments.into_iter().map(ExperimentRecord::from).collect();
    let page = Page { count: experiments.len(), total_count: total, next_page: next_page.clone(), experiments };
    let answer = Answer::ok(&page)?.data_attribute("experiments").counts(page.count, total);
    Ok(answer.next_page(next_page.as_deref()))
}

impl From<ExperimentView> for ExperimentRecord {
    fn from(view: ExperimentView) -> Self {
        let ExperimentView { id, experiment, created } = view;
        Self { id, push_id: id, created_at: created.to_api(), experiment }
    }
}
