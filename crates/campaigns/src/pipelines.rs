//! Pipelines: created, shown, replaced and deleted. Their triggers are read from the log (`watch.rs`, `reading.rs`), the waiting
//! channels are kept by instant and block (`timers.rs`), and when that has come they send (`fire.rs`).

mod cancellation;
mod clearing;
mod conditions;
mod counts;
mod dayparts;
mod filter;
mod fire;
mod follow;
mod heard;
mod inactivity;
mod rates;
mod reading;
mod spans;
mod stored;
mod timers;
mod watch;

use std::slice;

use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, OperationId, PipelineId};
use model::json::OneOrMany;
use model::limits;
use model::payload::Push;
use model::pipeline::{Fact, Pipeline, PipelineStatus, Rate};
use model::problem::Problem;
use model::time::UtcMillis;
use sending::{RequestPath, refuse_unfit, refuse_unsupported_in_group};
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind, Order};
use targeting::{audience_problems, unknown_push, unknown_pushes};
use tenancy::IdempotencyKey;

use crate::Campaigns;
pub(crate) use clearing::ClearWaitingList;
use counts::{Added, is_active};
pub use counts::{PipelineCounts, PipelineLimits};
pub use filter::{PipelineFilter, PipelineSort, TriggerKind};
pub(crate) use fire::FirePipeline;
pub(crate) use follow::FollowTriggers;
pub(crate) use inactivity::CheckInactivity;
use stored::Stored;
pub use stored::note_cleaned;
use timers::WaitingList;
pub(crate) use watch::Watches;

/// The answer to the creation of pipelines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedPipelines {
    pub operation_id: OperationId,
    pub ids: Vec<PipelineId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PipelineView {
    pub id: PipelineId,
    pub pipeline: Pipeline,
    pub status: PipelineStatus,
    pub created: UtcMillis,
    pub modified: UtcMillis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletedPipeline {
    pub id: PipelineId,
    pub deleted: UtcMillis,
}

const NOT_FOUND: Error = Error::NotFound("pipeline");

/// A page of a listing of pipelines.
#[derive(Clone, Debug)]
pub struct PipelinePage {
    pub shown: Vec<PipelineView>,
    /// How many there are on all pages.
    pub total: usize,
}

/// The lane of all messages of a pipeline, so that they can be canceled together; `ClearWaitingList`, which does that once the
/// pipeline is not enabled, is not in it.
fn lane(pipeline: PipelineId) -> String {
    format!("pipeline/{pipeline}")
}

#[boxed]
impl Campaigns {
    /// Creates all of the pipelines or none. Earlier events do not trigger them.
    pub async fn create_pipelines(
        &self,
        app: AppId,
        pipelines: OneOrMany<Pipeline>,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedPipelines> {
        let request_path = RequestPath::of(&pipelines, "");
        let (mut pipelines, now) = (pipelines.into_vec(), self.0.clock.now());
        self.fill_in_outcomes(app, &mut pipelines, request_path).await?;
        refuse_outcomes(&pipelines, request_path, |push| refuse_unsupported_in_group([push], RequestPath::WHOLE))?;
        let ids = pipelines.iter().map(|_| PipelineId::at(now)).collect();
        let created = CreatedPipelines { operation_id: OperationId::at(now), ids };
        let campaigns = self.clone();
        self.0
            .tenancy
            .write_once(app, idempotency_key, move |tx| {
                refuse_unfit_pipelines(tx, app, &pipelines, request_path)?;
                for (id, pipeline) in created.ids.iter().zip(&pipelines) {
                    campaigns.put_pipeline(tx, app, WaitingList::first(*id), pipeline, None, now)?;
                }
                let added = Added { total: true, active: pipelines.iter().any(|pipeline| is_active(pipeline, now)) };
                campaigns.0.pipeline_limits.check(tx, app, added, now)?;
                campaigns.ensure_trigger_follower(tx, app, now)?;
                Ok(created.clone())
            })
            .await
    }

    /// Finds everything [`Campaigns::create_pipelines`] would object to, and records nothing.
    pub async fn validate_pipelines(&self, app: AppId, pipelines: OneOrMany<Pipeline>) -> Result<()> {
        let request_path = RequestPath::of(&pipelines, "");
        let mut pipelines = pipelines.into_vec();
        self.fill_in_outcomes(app, &mut pipelines, request_path).await?;
        refuse_outcomes(&pipelines, request_path, |push| refuse_unsupported_in_group([push], RequestPath::WHOLE))?;
        let read = move |tx: &mut Tx<'_>| refuse_unfit_pipelines(tx, app, &pipelines, request_path);
        self.0.store.read(read).await
    }

    pub async fn pipeline(&self, app: AppId, id: PipelineId) -> Result<PipelineView> {
        let read = move |tx: &mut Tx<'_>| documents::get(tx, app, DocumentKind::Pipeline, &id.to_string());
        let document = self.0.store.read(read).await?;
        Stored::view(&document.ok_or(NOT_FOUND)?, self.0.clock.now())
    }

    /// Some of all pipelines, or of those that are enabled or not, the newest first.
    pub async fn pipelines(&self, app: AppId, enabled: Option<bool>, offset: u32, limit: u32) -> Result<PipelinePage> {
        let now = self.0.clock.now();
        let is_wanted = move |view: &PipelineView| enabled.is_none_or(|enabled| view.pipeline.enabled == enabled);
        let on_page = (offset as usize)..(offset as usize).saturating_add(limit as usize);
        let read = move |tx: &mut Tx<'_>| -> Result<PipelinePage> {
            let mut page = PipelinePage { shown: Vec::new(), total: 0 };
            documents::visit(tx, app, DocumentKind::Pipeline, Order::Descending, |document| {
                if let Some(view) = Stored::readable_view(&document, now).filter(is_wanted) {
                    page.shown.extend(on_page.contains(&page.total).then_some(view));
                    page.total += 1;
                }
                Ok(())
            })?;
            Ok(page)
        };
        self.0.store.read(read).await
    }

    /// Some of the pipelines that a filter lets through, in its order.
    pub async fn filtered_pipelines(
        &self,
        app: AppId,
        filter: PipelineFilter,
        offset: u32,
        limit: u32,
    ) -> Result<PipelinePage> {
        let now = self.0.clock.now();
        let read = move |tx: &mut Tx<'_>| -> Result<PipelinePage> {
            let mut found = Vec::new();
            documents::visit(tx, app, DocumentKind::Pipeline, Order::Ascending, |document| {
                found.extend(Stored::readable_view(&document, now).filter(|view| filter.lets_through(view)));
                Ok(())
            })?;
            let total = found.len();
            filter.sort(&mut found);
            let shown = found.into_iter().skip(offset as usize).take(limit as usize).collect();
            Ok(PipelinePage { shown, total })
        };
        self.0.store.read(read).await
    }

    /// Replaces a pipeline. Waiting channels keep waiting and get the new messages, unless it is no longer enabled.
    pub async fn replace_pipeline(&self, app: AppId, id: PipelineId, mut pipeline: Pipeline) -> Result<()> {
        let now = self.0.clock.now();
        self.fill_in_outcomes(app, slice::from_mut(&mut pipeline), RequestPath::WHOLE).await?;
        refuse_outcomes(slice::from_ref(&pipeline), RequestPath::WHOLE, |push| {
            refuse_unsupported_in_group([push], RequestPath::WHOLE)
        })?;
        let campaigns = self.clone();
        self.0
            .store
            .write(app, move |tx| {
                let document = documents::get(tx, app, DocumentKind::Pipeline, &id.to_string())?.ok_or(NOT_FOUND)?;
                let list = stored::waiting_list(id, &document.body);
                // An unreadable pipeline has done nothing and can be replaced.
                let before = Stored::read(&document.body).ok();
                refuse_unfit_pipelines(tx, app, slice::from_ref(&pipeline), RequestPath::WHOLE)?;
                let list = match before.as_ref().filter(|before| before.pipeline.enabled) {
                    Some(before) if pipeline.enabled => {
                        spans::keep_up(tx, app, list.key(), &before.pipeline, &pipeline)?;
                        list
                    }
                    Some(_) | None => {
                        campaigns.stop_waiting(tx, app, list, now)?;
                        if pipeline.enabled { list.next() } else { list }
                    }
                };
                campaigns.put_pipeline(tx, app, list, &pipeline, before.as_ref(), now)?;
                let was_active = before.is_some_and(|before| is_active(&before.pipeline, now));
                let added = Added { total: false, active: is_active(&pipeline, now) && !was_active };
                campaigns.0.pipeline_limits.check(tx, app, added, now)?;
                campaigns.ensure_trigger_follower(tx, app, now)
            })
            .await
    }

    /// Deletes a pipeline. Waiting channels get nothing; messages already sent stay.
    pub async fn delete_pipeline(&self, app: AppId, id: PipelineId) -> Result<()> {
        let (campaigns, now) = (self.clone(), self.0.clock.now());
        // Sorts by the time of the deletion.
        let deletion = OperationId::at(now).to_string();
        self.0
            .store
            .write(app, move |tx| {
                let document = documents::get(tx, app, DocumentKind::Pipeline, &id.to_string())?.ok_or(NOT_FOUND)?;
                documents::delete(tx, app, DocumentKind::Pipeline, &id.to_string())?;
                campaigns.stop_waiting(tx, app, stored::waiting_list(id, &document.body), now)?;
                documents::put(tx, app, DocumentKind::DeletedPipeline, &deletion, &id.to_string(), now)?;
                forget_old_deletions(tx, app)?;
                campaigns.ensure_trigger_follower(tx, app, now)
            })
            .await
    }

    /// Pipelines that were deleted by an instant, the last one first.
    pub async fn deleted_pipelines(
        &self,
        app: AppId,
        start: Option<UtcMillis>,
        limit: usize,
    ) -> Result<Vec<DeletedPipeline>> {
        let most = limits::DELETED_PIPELINES;
        let read = move |tx: &mut Tx<'_>| {
            documents::page(tx, app, DocumentKind::DeletedPipeline, None, Order::Descending, most)
        };
        let documents = self.0.store.read(read).await?;
        let wanted = documents.into_iter().filter(|document| start.is_none_or(|start| document.created <= start));
        let deleted = wanted.take(limit).map(|document| {
            let id = document.body.parse().map_err(Error::internal)?;
            Ok(DeletedPipeline { id, deleted: document.created })
        });
        deleted.collect()
    }

    pub async fn pipeline_counts(&self, app: AppId) -> Result<PipelineCounts> {
        let now = self.0.clock.now();
        self.0.store.read(move |tx| PipelineCounts::read(tx, app, now)).await
    }

    /// How many pipelines an app may have.
    pub fn pipeline_limits(&self) -> PipelineLimits {
        self.0.pipeline_limits
    }

    /// The rates of all pipelines together.
    pub async fn pipeline_rates(&self, app: AppId) -> Result<Vec<Rate>> {
        self.0.store.read(move |tx| stored::global_rates(tx, app)).await
    }

    pub async fn set_pipeline_rates(&self, app: AppId, rates: Vec<Rate>) -> Result<()> {
        let now = self.0.clock.now();
        let write = move |tx: &mut Tx<'_>| stored::put_global_rates(tx, app, &rates, now);
        self.0.store.write(app, write).await
    }

    fn put_pipeline(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        list: WaitingList,
        pipeline: &Pipeline,
        before: Option<&Stored>,
        now: UtcMillis,
    ) -> Result<()> {
        // A replaced pipeline continues where it was: events that were not read yet are not lost.
        let before = before.filter(|before| before.pipeline.enabled);
        let (since, since_time) = match before {
            Some(before) => (before.since, before.since_time),
            None => (store::log::head(tx, app)?, now),
        };
        let watched = before.filter(|before| !before.pipeline.historical.is_empty());
        let checked_day = watched.map_or(now.day(), |before| before.checked_day);
        let WaitingList { pipeline: id, generation } = list;
        let stored = Stored { pipeline: pipeline.clone(), modified: now, since, since_time, checked_day, generation };
        stored.put(tx, app, id, now)?;
        self.plan_inactivity(tx, app, id, pipeline, now)
    }
}

impl Campaigns {
    async fn fill_in_outcomes(&self, app: AppId, pipelines: &mut [Pipeline], request_path: RequestPath) -> Result<()> {
        let named = pipelines.iter_mut().enumerate().filter_map(|(n, pipeline)| {
            let is_named = pipeline.outcomes.iter_mut().any(|push| !push.stored_texts().is_empty());
            is_named.then_some((n, pipeline))
        });
        let mut named: Vec<(usize, &mut Pipeline)> = named.collect();
        let mut pushes = Vec::new();
        for (n, pipeline) in &mut named {
            let path = |number| format!("{}.", outcome_path(pipeline, number, *n, request_path));
            let paths: Vec<String> = (0..pipeline.outcomes.len()).map(path).collect();
            pushes.extend(paths.into_iter().zip(&mut pipeline.outcomes));
        }
        self.0.sending.fill_in_content_templates(app, pushes).await?;
        for (_, pipeline) in named {
            pipeline.reprint_outcomes().map_err(Error::internal)?;
        }
        Ok(())
    }
}

/// Refuses pipelines whose messages or conditions name what is not there.
fn refuse_unfit_pipelines(
    tx: &mut Tx<'_>,
    app: AppId,
    pipelines: &[Pipeline],
    request_path: RequestPath,
) -> Result<()> {
    refuse_outcomes(pipelines, request_path, |push| refuse_unfit(tx, app, [push], RequestPath::WHOLE))?;
    let mut problems = Vec::new();
    for (n, pipeline) in pipelines.iter().enumerate() {
        for (fact, _) in pipeline.conditions.iter().flat_map(|condition| &condition.facts) {
            if let Fact::Push(past) = fact {
                problems.extend(unknown_push(tx, app, past, || request_path.of_push(n, "condition"))?);
            }
        }
    }
    for (n, pipeline) in pipelines.iter().enumerate() {
        for (path, selector) in pipeline.asked_audiences() {
            let path = request_path.of_push(n, &path);
            problems.extend(audience_problems(selector, &path));
            problems.extend(unknown_pushes(tx, app, selector, &path)?);
        }
    }
    Error::refuse(problems)
}

/// Collects the problems of the outcomes, each with its path in the request. `check` finds the problems of one push
/// without knowing where it is.
fn refuse_outcomes(
    pipelines: &[Pipeline],
    request_path: RequestPath,
    mut check: impl FnMut(&Push) -> Result<()>,
) -> Result<()> {
    let mut problems = Vec::new();
    for (n, pipeline) in pipelines.iter().enumerate() {
        for (number, push) in pipeline.outcomes.iter().enumerate() {
            let inside = outcome_path(pipeline, number, n, request_path);
            match check(push) {
                Err(Error::Invalid(found)) => problems.extend(
                    found
                        .iter()
                        .map(|problem| Problem { path: format!("{inside}.{}", problem.path), ..problem.clone() }),
                ),
                other => other?,
            }
        }
    }
    Error::refuse(problems)
}

/// The path of the push of an outcome of the n-th pipeline.
fn outcome_path(pipeline: &Pipeline, number: usize, n: usize, request_path: RequestPath) -> String {
    let outcome = if pipeline.has_many_outcomes() { format!("outcome[{number}]") } else { "outcome".to_owned() };
    let inside = if pipeline.has_flat_outcome(number) { "" } else { ".push" };
    request_path.beside_push(n, &format!("{outcome}{inside}"))
}

fn forget_old_deletions(tx: &mut Tx<'_>, app: AppId) -> Result<()> {
    let most = limits::DELETED_PIPELINES;
    let listed = documents::page(tx, app, DocumentKind::DeletedPipeline, None, Order::Descending, most + 1)?;
    for old in listed.iter().skip(most as usize) {
        documents::delete(tx, app, DocumentKind::DeletedPipeline, &old.id)?;
    }
    Ok(())
}
