//! Pipelines: made, shown, replaced and deleted. What they wait for is read from the log (`watch.rs`, `reading.rs`), who waits
//! for them is kept by instant and block (`timers.rs`), and when that has come they send (`fire.rs`).

mod clearing;
mod conditions;
mod dayparts;
mod fire;
mod follow;
mod inactivity;
mod rates;
mod reading;
mod spans;
mod stored;
mod timers;
mod watch;

use std::slice;

use model::ids::{AppId, OperationId, PipelineId};
use model::json::OneOrMany;
use model::limits;
use model::payload::Push;
use model::pipeline::{Pipeline, PipelineStatus, Rate};
use model::problem::Problem;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind, Order};

use crate::push::{Place, fail_with, refuse_unfit_platforms, refuse_unsupported_in_group};
use crate::{Engine, Error, IdempotencyKey, Result};
use stored::Stored;
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

/// How many pipelines there are, and how many of them are enabled and not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineCounts {
    pub total: usize,
    pub active: usize,
}

const NOT_FOUND: Error = Error::NotFound("pipeline");

impl Engine {
    /// Creates all of the pipelines or none. What has happened before does not set them off.
    pub async fn create_pipelines(
        &self,
        app: AppId,
        pipelines: OneOrMany<Pipeline>,
        once: Option<IdempotencyKey>,
    ) -> Result<CreatedPipelines> {
        let is_array = matches!(pipelines, OneOrMany::Many(_));
        let (pipelines, now) = (pipelines.into_vec(), self.clock().now());
        refuse_outcomes(&pipelines, is_array, |push| refuse_unsupported_in_group([push], WHOLE))?;
        let ids = pipelines.iter().map(|_| PipelineId::at(now)).collect();
        let created = CreatedPipelines { operation_id: OperationId::at(now), ids };
        let engine = self.clone();
        self.write_once(app, once, move |tx| {
            refuse_outcomes(&pipelines, is_array, |push| refuse_unfit_platforms(tx, app, [push], WHOLE))?;
            for (id, pipeline) in created.ids.iter().zip(&pipelines) {
                engine.put_pipeline(tx, app, *id, pipeline, None, now)?;
            }
            refuse_too_many(tx, app, now)?;
            engine.tend_automation(tx, app)?;
            Ok(created.clone())
        })
        .await
    }

    /// Finds everything [`Engine::create_pipelines`] would object to, and records nothing.
    pub async fn validate_pipelines(&self, app: AppId, pipelines: OneOrMany<Pipeline>) -> Result<()> {
        let is_array = matches!(pipelines, OneOrMany::Many(_));
        let pipelines = pipelines.into_vec();
        refuse_outcomes(&pipelines, is_array, |push| refuse_unsupported_in_group([push], WHOLE))?;
        let read = move |tx: &mut Tx<'_>| {
            refuse_outcomes(&pipelines, is_array, |push| refuse_unfit_platforms(tx, app, [push], WHOLE))
        };
        self.0.store.read(read).await
    }

    pub async fn pipeline(&self, app: AppId, id: PipelineId) -> Result<PipelineView> {
        let read = move |tx: &mut Tx<'_>| documents::get(tx, app, DocumentKind::Pipeline, &id.to_string());
        let document = self.0.store.read(read).await?;
        Stored::view(&document.ok_or(NOT_FOUND)?, self.clock().now())
    }

    /// All pipelines, or those that are enabled or not, the newest first.
    pub async fn pipelines(&self, app: AppId, enabled: Option<bool>) -> Result<Vec<PipelineView>> {
        let now = self.clock().now();
        let documents = self.0.store.read(move |tx| documents::list(tx, app, DocumentKind::Pipeline)).await?;
        let is_wanted = |view: &PipelineView| enabled.is_none_or(|enabled| view.pipeline.enabled == enabled);
        Ok(Stored::views(documents.iter().rev(), now).filter(is_wanted).collect())
    }

    /// Replaces a pipeline. Those who wait for it go on waiting and get what it sends then, unless it is not enabled any more.
    pub async fn replace_pipeline(&self, app: AppId, id: PipelineId, pipeline: Pipeline) -> Result<()> {
        let now = self.clock().now();
        refuse_outcomes(slice::from_ref(&pipeline), false, |push| refuse_unsupported_in_group([push], WHOLE))?;
        let engine = self.clone();
        self.0
            .store
            .write(app, move |tx| {
                let before = documents::get(tx, app, DocumentKind::Pipeline, &id.to_string())?.ok_or(NOT_FOUND)?;
                // One that cannot be read has done nothing and can be replaced.
                let before = Stored::read(&before.body).ok();
                let of_one = slice::from_ref(&pipeline);
                refuse_outcomes(of_one, false, |push| refuse_unfit_platforms(tx, app, [push], WHOLE))?;
                let was_enabled = before.as_ref().is_some_and(|before| before.pipeline.enabled);
                match (was_enabled, pipeline.enabled) {
                    (true, true) => {}
                    (false, true) => engine.begin_anew(tx, app, id)?,
                    (true | false, false) => engine.stop_waiting(tx, app, id, now)?,
                }
                spans::keep_up(tx, app, id, before.as_ref().map(|before| &before.pipeline), &pipeline)?;
                engine.put_pipeline(tx, app, id, &pipeline, before.as_ref(), now)?;
                refuse_too_many(tx, app, now)?;
                engine.tend_automation(tx, app)
            })
            .await
    }

    /// Deletes a pipeline. Whoever waits for it gets nothing; what it has sent stays sent.
    pub async fn delete_pipeline(&self, app: AppId, id: PipelineId) -> Result<()> {
        let (engine, now) = (self.clone(), self.clock().now());
        // Sorts by the time of the deletion.
        let deletion = OperationId::at(now).to_string();
        self.0
            .store
            .write(app, move |tx| {
                if !documents::delete(tx, app, DocumentKind::Pipeline, &id.to_string())? {
                    return Err(NOT_FOUND);
                }
                engine.stop_waiting(tx, app, id, now)?;
                documents::put(tx, app, DocumentKind::DeletedPipeline, &deletion, &id.to_string(), now)?;
                forget_old_deletions(tx, app)?;
                engine.tend_automation(tx, app)
            })
            .await
    }

    /// Pipelines that were deleted not after an instant, the last one first.
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
        let now = self.clock().now();
        self.0.store.read(move |tx| count(tx, app, now)).await
    }

    /// The rates of all pipelines together.
    pub async fn pipeline_rates(&self, app: AppId) -> Result<Vec<Rate>> {
        self.0.store.read(move |tx| stored::global_rates(tx, app)).await
    }

    pub async fn set_pipeline_rates(&self, app: AppId, rates: Vec<Rate>) -> Result<()> {
        let now = self.clock().now();
        let write = move |tx: &mut Tx<'_>| stored::put_global_rates(tx, app, &rates, now);
        self.0.store.write(app, write).await
    }

    fn put_pipeline(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        id: PipelineId,
        pipeline: &Pipeline,
        before: Option<&Stored>,
        now: UtcMillis,
    ) -> Result<()> {
        // One that is replaced goes on from where it was: what has happened and was not read yet is not lost.
        let before = before.filter(|before| before.pipeline.enabled);
        let (since, since_time) = match before {
            Some(before) => (before.since, before.since_time),
            None => (store::log::head(tx, app)?, now),
        };
        let watched = before.filter(|before| !before.pipeline.historical.is_empty());
        let checked_day = watched.map_or(now.day(), |before| before.checked_day);
        Stored { pipeline: pipeline.clone(), modified: now, since, since_time, checked_day }.put(tx, app, id, now)?;
        self.plan_inactivity(tx, app, id, pipeline, now)
    }
}

/// Problems are found per outcome, without saying where it is.
const WHOLE: Place = Place::of(&OneOrMany::One(()), "");

/// Collects what is wrong with the outcomes, each problem at its place in the request.
fn refuse_outcomes(pipelines: &[Pipeline], is_array: bool, mut check: impl FnMut(&Push) -> Result<()>) -> Result<()> {
    let mut problems = Vec::new();
    for (n, pipeline) in pipelines.iter().enumerate() {
        let pipeline_path = if is_array { format!("[{n}].") } else { String::new() };
        for (number, push) in pipeline.outcomes.iter().enumerate() {
            let place = if pipeline.has_many_outcomes() { format!("outcome[{number}]") } else { "outcome".to_owned() };
            match check(push) {
                Err(Error::Invalid(found)) => problems.extend(found.iter().map(|problem| Problem {
                    path: format!("{pipeline_path}{place}.push.{}", problem.path),
                    ..problem.clone()
                })),
                other => other?,
            }
        }
    }
    fail_with(problems)
}

fn count(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<PipelineCounts> {
    let documents = documents::list(tx, app, DocumentKind::Pipeline)?;
    let is_active = |pipeline: &Pipeline| match pipeline.status(now) {
        PipelineStatus::Live | PipelineStatus::Pending => true,
        PipelineStatus::Completed | PipelineStatus::Disabled => false,
    };
    let readable = documents.iter().filter_map(|document| Stored::read(&document.body).ok());
    let active = readable.filter(|stored| is_active(&stored.pipeline)).count();
    Ok(PipelineCounts { total: documents.len(), active })
}

/// Called after the change, which is undone with everything else.
fn refuse_too_many(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<()> {
    let PipelineCounts { total, active } = count(tx, app, now)?;
    let (most, most_active) = (limits::PIPELINES_PER_APP, limits::ACTIVE_PIPELINES_PER_APP);
    if total > most {
        return Err(Error::Conflict(format!("An app has at most {most} pipelines; delete one first.")));
    }
    if active > most_active {
        let text = format!("At most {most_active} pipelines can be enabled at once; disable one first.");
        return Err(Error::Conflict(text));
    }
    Ok(())
}

fn forget_old_deletions(tx: &mut Tx<'_>, app: AppId) -> Result<()> {
    let most = limits::DELETED_PIPELINES;
    let listed = documents::page(tx, app, DocumentKind::DeletedPipeline, None, Order::Descending, most + 1)?;
    for old in listed.iter().skip(most as usize) {
        documents::delete(tx, app, DocumentKind::DeletedPipeline, &old.id)?;
    }
    Ok(())
}
