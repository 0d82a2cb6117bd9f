//! Pipelines that are triggered by inactivity: once a day, the channels for which enough days have passed are found.

use std::time::Duration;

use audience::plan::Plan;
use model::ids::{AppId, Id, PipelineId};
use model::pipeline::{Inactivity, Pipeline};
use model::term::{DayKind, DayTerm};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::jobs::{self, ClaimedJob, JobId};
use uuid::Uuid;

use super::stored::Stored;
use super::timers::{Canceling, Waiting};
use crate::job::Job;
use crate::plan::Planner;
use crate::{Engine, Result};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Engine {
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
        self.enqueue_as(tx, app, job_of(id), now.plus(DAY), &Job::CheckInactivity { pipeline: id })
    }

    /// Running it twice is harmless: the transaction that lets channels be sent to stores the days that were checked.
    pub(crate) async fn check_inactivity(&self, claimed: &ClaimedJob, id: PipelineId) -> Result<()> {
        let index = self.current_index(claimed.app).await?;
        let (engine, app, now, claimed) = (self.clone(), claimed.app, self.clock().now(), claimed.clone());
        let known = index.clone();
        let plan = move |tx: &mut Tx<'_>| -> Result<_> {
            let Some(stored) = Stored::find(tx, app, id)? else { return Ok(None) };
            let mut planner = Planner::new(tx, app, &known, now, Vec::new());
            let mut plans = Vec::new();
            for day in stored.checked_day.saturating_add(1)..=now.day() {
                for trigger in &stored.pipeline.historical {
                    plans.push(planner.inactive_on(*trigger, day)?);
                }
            }
            Ok(Some((stored, plans)))
        };
        let Some((planned, plans)) = self.0.store.read(plan).await? else { return self.settle(&claimed).await };
        let evaluate = move || plans.iter().fold(RoaringBitmap::new(), |all, plan| all | index.resolve(plan));
        let inactive = Waiting { channels: self.evaluate(evaluate).await?, ..Waiting::default() };
        let write = move |tx: &mut Tx<'_>| {
            let Some(stored) = Stored::find(tx, app, id)? else { return Ok(jobs::settle(tx, &claimed)?) };
            if stored != planned {
                // It was changed meanwhile, and is looked at again as it is now.
                return Ok(jobs::postpone(tx, &claimed, now)?);
            }
            if !inactive.channels.is_empty() {
                engine.add_waiting(tx, app, (stored.list(id), Canceling::of(&stored.pipeline)), now, &inactive)?;
            }
            Stored { checked_day: now.day(), ..stored }.put(tx, app, id, now)?;
            Ok(jobs::postpone(tx, &claimed, now.plus(DAY))?)
        };
        self.0.store.write(app, write).await
    }
}

impl Planner<'_, '_> {
    /// The channels for which enough whole days have passed at the beginning of a day, and that have not come back since. For an
    /// inactive channel this is so on one day only.
    fn inactive_on(&mut self, Inactivity { days }: Inactivity, day: i32) -> Result<Plan> {
        let last = day - i32::from(days) - 1;
        let open = |day| DayTerm { kind: DayKind::Open, day };
        let since: Vec<DayTerm> = (last + 1..=self.now.day()).map(open).collect();
        let parts = vec![self.any_day(&[open(last)])?, Plan::Not(Box::new(self.any_day(&since)?))];
        Ok(Plan::And(parts).normalize())
    }
}

fn job_of(pipeline: PipelineId) -> JobId {
    Id::from_uuid(Uuid::new_v5(&pipeline.uuid(), b"inactivity"))
}
