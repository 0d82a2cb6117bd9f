//! Taking out everybody who waits for a pipeline that was deleted or disabled. What comes due meanwhile finds nothing to send, so
//! that it need not happen at once: there may be a second's worth of channels for every second of months.

use model::ids::{AppId, Id, PipelineId};
use model::time::UtcMillis;
use store::documents::{self, DocumentKind};
use store::jobs::{self, ClaimedJob, JobId, Lane};
use store::{Tx, pipeline_sent, pipeline_spans, pipeline_timers};
use uuid::Uuid;

use crate::job::{Job, pipeline_lane};
use crate::worker::{LEASE, Stop};
use crate::{Engine, Result};

/// Rows that go in one transaction.
const PORTION: u32 = 1000;

impl Engine {
    /// To be called when a pipeline is deleted or disabled, in the transaction that does so.
    pub(super) fn stop_waiting(&self, tx: &mut Tx<'_>, app: AppId, id: PipelineId, now: UtcMillis) -> Result<()> {
        self.enqueue_as(tx, app, job_of(id), now, &Job::ClearPipeline { pipeline: id })
    }

    /// To be called when a pipeline is enabled again: channels that waited before it was disabled must not get what it sends now.
    /// Most often all of them have been taken out by then.
    pub(super) fn begin_anew(&self, tx: &mut Tx<'_>, app: AppId, id: PipelineId) -> Result<()> {
        jobs::cancel(tx, app, job_of(id))?;
        clear_some(tx, app, id, u32::MAX)?;
        Ok(())
    }

    /// Running it twice is harmless: deleting what is gone deletes nothing, and each portion makes sure that the job was not
    /// canceled because the pipeline is enabled again.
    pub(crate) async fn clear_pipeline(&self, claimed: &ClaimedJob, id: PipelineId, stop: &Stop) -> Result<()> {
        let app = claimed.app;
        loop {
            let (job, now, is_stopping) = (claimed.clone(), self.clock().now(), stop.is_requested());
            let portion = move |tx: &mut Tx<'_>| -> Result<bool> {
                if !jobs::renew(tx, &job, now.plus(LEASE))? {
                    return Ok(false);
                }
                let is_more = clear_some(tx, app, id, PORTION)?;
                match (is_more, is_stopping) {
                    (true, false) => return Ok(true),
                    (true, true) => jobs::postpone(tx, &job, now)?,
                    (false, _) => jobs::settle(tx, &job)?,
                };
                Ok(false)
            };
            if !self.0.store.write(app, portion).await? {
                return Ok(());
            }
        }
    }
}

/// Whether anything may be left.
fn clear_some(tx: &mut Tx<'_>, app: AppId, id: PipelineId, at_most: u32) -> Result<bool> {
    let most = u64::from(at_most);
    if pipeline_timers::delete_some(tx, app, id, at_most)? == most
        || pipeline_spans::delete_some(tx, app, id, at_most)? == most
        || jobs::cancel_some(tx, &Lane { app, name: pipeline_lane(id) }, at_most)? == most
    {
        return Ok(true);
    }
    // A pipeline that comes back remembers what it has sent to whom, for the sake of its rates.
    let is_deleted = documents::get(tx, app, DocumentKind::Pipeline, &id.to_string())?.is_none();
    Ok(is_deleted && pipeline_sent::forget_some(tx, app, id, at_most)? == most)
}

/// One at most for each pipeline.
fn job_of(pipeline: PipelineId) -> JobId {
    Id::from_uuid(Uuid::new_v5(&pipeline.uuid(), b"clearing"))
}
