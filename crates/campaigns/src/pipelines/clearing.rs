//! Removing all channels that wait for a pipeline that was deleted or disabled. Timers that come due meanwhile find nothing to
//! send, so it need not happen at once: there may be a set of channels for every second of months.

use base::Result;
use jobs::{ClaimedJob, Job, JobId, LEASE, Lane, Stop};
use model::ids::{AppId, Id, PipelineId};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::documents::{self, DocumentKind};
use store::{Tx, pipeline_sent, pipeline_spans, pipeline_timers};
use uuid::Uuid;

use super::lane;
use super::stored::Stored;
use super::timers::WaitingList;
use crate::Campaigns;

/// Rows that go in one transaction.
const PORTION: u32 = 1000;

/// Removes all channels that waited for a pipeline before it was deleted or disabled.
#[derive(Serialize, Deserialize)]
pub(crate) struct ClearWaitingList {
    pub(super) pipeline: PipelineId,
    pub(super) generation: u32,
}

impl Job for ClearWaitingList {
    type Room = Campaigns;
    const NAME: &'static str = "clear_waiting_list";

    async fn run(self, campaigns: &Campaigns, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        campaigns.clear_waiting_list(claimed, self.pipeline, self.generation, stop).await
    }
}

impl Campaigns {
    /// To be called when a pipeline is deleted, disabled or enabled again, in the same transaction: the channels that have waited
    /// until then get nothing.
    pub(super) fn stop_waiting(&self, tx: &mut Tx<'_>, app: AppId, list: WaitingList, now: UtcMillis) -> Result<()> {
        let WaitingList { pipeline, generation } = list;
        jobs::enqueue_as(tx, app, job_of(list), now, &ClearWaitingList { pipeline, generation })
    }

    /// Running it twice is harmless: deleted rows are not found again, and nothing is added to a list that is to be cleared.
    pub(crate) async fn clear_waiting_list(
        &self,
        claimed: &ClaimedJob,
        pipeline: PipelineId,
        generation: u32,
        stop: &Stop,
    ) -> Result<()> {
        let list = WaitingList { pipeline, generation };
        let app = claimed.app;
        loop {
            let (job, is_stopping) = (claimed.clone(), stop.is_requested());
            let (due, lease) = (self.0.shared_clock.now(), self.0.shared_clock.lease_begin().plus(LEASE));
            let portion = move |tx: &mut Tx<'_>| -> Result<bool> {
                jobs::renew(tx, &job, lease)?;
                let is_more = clear_some(tx, app, list, PORTION)?;
                match (is_more, is_stopping) {
                    (true, false) => return Ok(true),
                    (true, true) => jobs::postpone(tx, &job, due)?,
                    (false, _) => jobs::settle(tx, &job)?,
                }
                Ok(false)
            };
            if !self.0.store.write(app, portion).await? {
                return Ok(());
            }
        }
    }
}

/// Whether anything may be left.
fn clear_some(tx: &mut Tx<'_>, app: AppId, list: WaitingList, at_most: u32) -> Result<bool> {
    let (id, most) = (list.pipeline, u64::from(at_most));
    let document = documents::get(tx, app, DocumentKind::Pipeline, &id.to_string())?;
    let is_enabled = document
        .as_ref()
        .is_some_and(|document| Stored::read(&document.body).is_ok_and(|stored| stored.pipeline.enabled));
    let mut dues = pipeline_timers::delete_some(tx, app, list.key(), at_most)?;
    let n_deleted = dues.len() as u64;
    // The lane of an enabled pipeline has the jobs of its new list, too, so it cannot be canceled as a whole.
    if is_enabled {
        dues.dedup();
        jobs::cancel_many(tx, app, dues.iter().map(|due| list.job_at(*due)))?;
    }
    if n_deleted == most || pipeline_spans::delete_some(tx, app, list.key(), at_most)? == most {
        return Ok(true);
    }
    if !is_enabled && jobs::cancel_some(tx, &Lane { app, name: lane(id) }, at_most)? == most {
        return Ok(true);
    }
    // A pipeline that comes back still needs its history of sends, for its rates.
    Ok(document.is_none() && pipeline_sent::forget_some(tx, app, id, at_most)? == most)
}

/// One at most for each list.
fn job_of(list: WaitingList) -> JobId {
    Id::from_uuid(Uuid::new_v5(&list.key().uuid(), b"clearing"))
}
