//! Pipelines that are triggered by inactivity: once a day, the channels for which enough days have passed are found.

use std::time::Duration;

use audience::plan::Plan;
use base::Result;
use jobs::{ClaimedJob, Job, JobId, Stop};
use model::ids::{AppId, Id, PipelineId};
use model::pipeline::{Inactivity, Pipeline};
use model::term::{DayKind, DayTerm};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use store::Tx;
use targeting::Planner;
use uuid::Uuid;

use super::lane;
use super::stored::Stored;
use super::timers::{Canceling, StandIns, Waiting};
use crate::Campaigns;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Finds the channels that have been inactive for as long as a pipeline requires.
#[derive(Serialize, Deserialize)]
pub(crate) struct CheckInactivity {
    pub(super) pipeline: PipelineId,
}

impl Job for CheckInactivity {
    type Room = Campaigns;
    const NAME: &'static str = "check_inactivity";
    const IS_TIMED: bool = true;
    const LONGEST_WAIT: Option<Duration> = Some(DAY);

    fn lane(&self) -> String {
        lane(self.pipeline)
    }

    async fn run(self, campaigns: &Campaigns, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        campaigns.check_inactivity(claimed, self.pipeline).await
    }
}

impl Campaigns {
    /// Makes sure that inactive channels are looked for every day from now on.
    pub(super) fn plan_inactivity(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        id: PipelineId,
        pipeline: &Pipeline,
        now: UtcMillis,
    ) -> Result<()> {
        if pipeline.historical.is_empty() || !pipeline.enabled {
            return Ok(jobs::cancel(tx, app, job_of(id))?);
        }
        jobs::enqueue_as(tx, app, job_of(id), now.plus(DAY), &CheckInactivity { pipeline: id })
    }

    /// Running it twice is harmless: the transaction that lets channels be sent to stores the days that were checked.
    pub(crate) async fn check_inactivity(&self, claimed: &ClaimedJob, id: PipelineId) -> Result<()> {
        let index = self.0.index.current(claimed.app).await?;
        let (campaigns, app, now, claimed) = (self.clone(), claimed.app, self.0.clock.now(), claimed.clone());
        let known = index.clone();
        let plan = move |tx: &mut Tx<'_>| -> Result<_> {
            let Some(stored) = Stored::find(tx, app, id)? else { return Ok(None) };
            let mut planner = Planner::new(tx, app, &known, now, Vec::new());
            let mut plans = Vec::new();
            for day in stored.checked_day.saturating_add(1)..=now.day() {
                for trigger in &stored.pipeline.historical {
                    plans.push(inactive_on(&mut planner, *trigger, day)?);
                }
            }
            Ok(Some((stored, plans)))
        };
        let Some((planned, plans)) = self.0.store.read(plan).await? else {
            return jobs::settle_alone(&self.0.store, &claimed).await;
        };
        let evaluate = move || plans.iter().fold(RoaringBitmap::new(), |all, plan| all | index.resolve(plan));
        let inactive = Waiting { channels: self.0.index.evaluate(evaluate).await?, ..Waiting::default() };
        let write = move |tx: &mut Tx<'_>| {
            let Some(stored) = Stored::find(tx, app, id)? else { return Ok(jobs::settle(tx, &claimed)?) };
            if stored != planned {
                // It was changed meanwhile, and is looked at again as it is now.
                return Ok(jobs::postpone(tx, &claimed, now)?);
            }
            if !inactive.channels.is_empty() {
                let list = (stored.list(id), Canceling::of(&stored.pipeline));
                campaigns.add_waiting(tx, app, list, (now, StandIns::Before), &inactive)?;
            }
            Stored { checked_day: now.day(), ..stored }.put(tx, app, id, now)?;
            Ok(jobs::postpone(tx, &claimed, now.plus(DAY))?)
        };
        self.0.store.write(app, write).await
    }
}

/// The channels for which enough whole days have passed at the beginning of a day, and that have not come back since. For an
/// inactive channel this is so on one day only.
fn inactive_on(planner: &mut Planner<'_, '_>, Inactivity { days }: Inactivity, day: i32) -> Result<Plan> {
    let last = day - i32::from(days) - 1;
    let open = |day| DayTerm { kind: DayKind::Open, day };
    let since: Vec<DayTerm> = (last + 1..=planner.now.day()).map(open).collect();
    let parts = vec![planner.any_day(&[open(last)])?, Plan::Not(Box::new(planner.any_day(&since)?))];
    Ok(Plan::And(parts).normalize())
}

fn job_of(pipeline: PipelineId) -> JobId {
    Id::from_uuid(Uuid::new_v5(&pipeline.uuid(), b"inactivity"))
}
