//! Experiments: kept, shown, and deleted before they start. Each variant has a timer of its own, which is a job; an experiment
//! starts with the first variant that is sent.

mod control;
mod fire;
mod results;
mod stored;

use base::{Error, Result};
use boxed::boxed;
use model::experiment::Experiment;
use model::ids::{AppId, ExperimentId, OperationId, PushId};
use model::problem::{Problem, Problems};
use model::time::UtcMillis;
use sending::{RequestPath, refuse_unfit, refuse_unsupported_in_group};
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind, Order};
use tenancy::IdempotencyKey;

use crate::Campaigns;
use crate::schedules::passed;
pub(crate) use control::WithholdControlGroup;
pub(crate) use fire::FireVariant;
use fire::Occasion;
pub use results::{ExperimentResults, VariantResults};
use stored::Stored;
pub(crate) use stored::Stored as StoredExperiment;

/// The answer to the creation of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedExperiment {
    pub operation_id: OperationId,
    pub id: ExperimentId,
    /// How many pushes were sent at once.
    n_pushes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentView {
    pub id: ExperimentId,
    pub experiment: Experiment,
    pub created: UtcMillis,
}

/// A page of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentPage {
    pub experiments: Vec<ExperimentView>,
    /// How many there are in all.
    pub total: i64,
}

/// The result of asking to delete an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExperimentDeletion {
    Deleted,
    /// A variant has been sent: it stays.
    HasStarted,
}

const NOT_FOUND: Error = Error::NotFound("experiment");

/// Experiments among which those are looked for that have started and have variants left.
const STARTED_LOOKED_AT: u32 = 200;

/// The id of an experiment as a whole in its events and reports. Its pushes have ids of their own.
pub(crate) const fn push_id(experiment: ExperimentId) -> PushId {
    PushId::from_uuid(experiment.uuid())
}

#[boxed]
impl Campaigns {
    /// Keeps an experiment, and sends those of its variants that have no schedule.
    pub async fn create_experiment(
        &self,
        app: AppId,
        experiment: Experiment,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedExperiment> {
        self.create_experiment_with(app, experiment, idempotency_key, |_, _| Ok(())).await
    }

    /// As [`Campaigns::create_experiment`], unless what is written with it refuses it.
    pub(crate) async fn create_experiment_with(
        &self,
        app: AppId,
        mut experiment: Experiment,
        idempotency_key: Option<IdempotencyKey>,
        with: impl Fn(&mut Tx<'_>, ExperimentId) -> Result<()> + Send + Sync + 'static,
    ) -> Result<CreatedExperiment> {
        let now = self.0.clock.now();
        self.0.targeting.ready_atlas(experiment.pushes()).await?;
        self.fill_in_variants(app, &mut experiment).await?;
        let problems = problems_of(&experiment, now)?;
        let (operation_id, id) = (OperationId::at(now), ExperimentId::at(now));
        let stored = Stored::starting(experiment, now);
        let campaigns = self.clone();
        let written = self.0.tenancy.write_once(app, idempotency_key, move |tx| {
            // Only now, because a request that is repeated gets its answer, late as it may be.
            Error::refuse(problems.clone())?;
            refuse_platforms(tx, app, &stored.experiment)?;
            with(tx, id)?;
            let mut stored = Stored { author: tx.requested_by().map(str::to_owned), ..stored.clone() };
            let n_pushes = campaigns.send_unscheduled(tx, Occasion { app, id, now }, &mut stored)?;
            campaigns.put_experiment(tx, app, id, None, &stored, now)?;
            Ok(CreatedExperiment { operation_id, id, n_pushes })
        });
        let created = written.await?;
        // The answer to an earlier request with the same idempotency key bears that request's operation.
        if created.operation_id == operation_id {
            self.0.metrics.pushes_accepted(created.n_pushes);
        }
        Ok(created)
    }

    /// Finds everything [`Campaigns::create_experiment`] would object to, and records nothing.
    pub async fn validate_experiment(&self, app: AppId, mut experiment: Experiment) -> Result<()> {
        self.0.targeting.ready_atlas(experiment.pushes()).await?;
        self.fill_in_variants(app, &mut experiment).await?;
        Error::refuse(problems_of(&experiment, self.0.clock.now())?)?;
        self.0.store.read(move |tx| refuse_platforms(tx, app, &experiment)).await
    }

    pub async fn experiment(&self, app: AppId, id: ExperimentId) -> Result<ExperimentView> {
        self.0.store.read(move |tx| view(tx, app, id)).await?.ok_or(NOT_FOUND)
    }

    /// Experiments in the order of their creation, the last first, without the first `offset` of them.
    pub async fn experiments(&self, app: AppId, offset: u32, limit: u32) -> Result<ExperimentPage> {
        let read = move |tx: &mut Tx<'_>| {
            let kind = DocumentKind::Experiment;
            let found = documents::slice(tx, app, kind, Order::Descending, offset, limit)?;
            let experiments = found.iter().filter_map(Stored::known_view).collect();
            Ok(ExperimentPage { experiments, total: documents::count(tx, app, kind)? })
        };
        self.0.store.read(read).await
    }

    /// Experiments that wait for their start, the next to start first, without the first `offset` of them.
    pub async fn scheduled_experiments(&self, app: AppId, offset: u32, limit: u32) -> Result<ExperimentPage> {
        let read = move |tx: &mut Tx<'_>| {
            let kind = DocumentKind::ExperimentStart;
            let starts = documents::slice(tx, app, kind, Order::Ascending, offset, limit)?;
            let ids: Vec<_> = starts.iter().map(|start| start.body.as_str()).collect();
            let found = documents::get_many(tx, app, DocumentKind::Experiment, &ids)?;
            let experiments = found.iter().filter_map(Stored::known_view).collect();
            Ok(ExperimentPage { experiments, total: documents::count(tx, app, kind)? })
        };
        self.0.store.read(read).await
    }

    pub async fn delete_experiment(&self, app: AppId, id: ExperimentId) -> Result<ExperimentDeletion> {
        let delete = move |tx: &mut Tx<'_>| {
            let document = documents::get(tx, app, DocumentKind::Experiment, &id.to_string())?.ok_or(NOT_FOUND)?;
            let start = match Stored::readable(&document) {
                Some(stored) if stored.has_started => return Ok(ExperimentDeletion::HasStarted),
                Some(stored) => {
                    stored.timers().try_for_each(|(timer, _)| jobs::cancel(tx, app, timer))?;
                    // There is none if its times have passed without any channel whose clock showed them.
                    stored.start_key(id).map(|start| start.to_string())
                }
                // One that cannot be read can still be got rid of. Its timers will find nothing.
                None => {
                    let waiting = documents::list(tx, app, DocumentKind::ExperimentStart)?;
                    let start = waiting.into_iter().find(|start| start.body == document.id);
                    let Some(start) = start else { return Ok(ExperimentDeletion::HasStarted) };
                    Some(start.id)
                }
            };
            if let Some(start) = start {
                documents::delete(tx, app, DocumentKind::ExperimentStart, &start)?;
            }
            documents::delete(tx, app, DocumentKind::Experiment, &id.to_string())?;
            Ok(ExperimentDeletion::Deleted)
        };
        self.0.store.write(app, delete).await
    }
}

impl Campaigns {
    async fn fill_in_variants(&self, app: AppId, experiment: &mut Experiment) -> Result<()> {
        let named = experiment.variants.iter_mut().filter_map(|variant| {
            let is_named = !variant.push.stored_texts().is_empty();
            is_named.then_some(variant)
        });
        let mut named: Vec<_> = named.collect();
        let pushes = named.iter_mut().map(|variant| (format!("variants[{}].push.", variant.id), &mut variant.push));
        self.0.sending.fill_in_content_templates(app, pushes.collect()).await?;
        for variant in named {
            variant.reprint_push().map_err(Error::internal)?;
        }
        Ok(())
    }
}

/// The experiments that may have variants to send: those that wait for their start, and the newest, which may have started.
pub(crate) fn unfinished_experiments(tx: &mut Tx<'_>, app: AppId, at_most: u32) -> Result<Vec<Document>> {
    let starts = documents::slice(tx, app, DocumentKind::ExperimentStart, Order::Ascending, 0, at_most)?;
    let ids: Vec<_> = starts.iter().map(|start| start.body.as_str()).collect();
    let mut found = documents::get_many(tx, app, DocumentKind::Experiment, &ids)?;
    let newest = documents::page(tx, app, DocumentKind::Experiment, None, Order::Descending, STARTED_LOOKED_AT)?;
    found.extend(newest.into_iter().filter(|document| !ids.contains(&document.id.as_str())));
    Ok(found)
}

fn view(tx: &mut Tx<'_>, app: AppId, id: ExperimentId) -> Result<Option<ExperimentView>> {
    let document = documents::get(tx, app, DocumentKind::Experiment, &id.to_string())?;
    document.map(|document| Stored::view(&document)).transpose()
}

/// Checks that need no store.
fn problems_of(experiment: &Experiment, now: UtcMillis) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for variant in &experiment.variants {
        let inside = format!("variants[{}]", variant.id);
        let passed = variant.schedule.as_ref().and_then(|schedule| passed(schedule.first, now));
        problems.extend(passed.map(|problem| Problem { path: format!("{inside}.{}", problem.path), ..problem }));
        match refuse_unsupported_in_group([&variant.push], RequestPath::WHOLE) {
            Ok(()) => {}
            Err(Error::Invalid(found)) => {
                // A problem of the audience concerns every variant, and is reported once.
                let new: Vec<_> = blamed(&found, &inside).filter(|problem| !problems.contains(problem)).collect();
                problems.extend(new);
            }
            Err(other) => return Err(other),
        }
    }
    Ok(problems)
}

/// Variants have the same device types.
fn refuse_platforms(tx: &mut Tx<'_>, app: AppId, experiment: &Experiment) -> Result<()> {
    refuse_unfit(tx, app, experiment.pushes().take(1), RequestPath::WHOLE)
}

/// The problems of a variant's push, where they are in the experiment.
fn blamed(problems: &Problems, inside: &str) -> impl Iterator<Item = Problem> {
    problems.iter().cloned().map(move |problem| match problem.path.split(['.', '[']).next() {
        Some("audience" | "device_types" | "campaigns") => problem,
        _ => Problem { path: format!("{inside}.push.{}", problem.path), ..problem },
    })
}
