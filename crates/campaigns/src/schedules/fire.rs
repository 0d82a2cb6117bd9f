//! Firing a schedule: its push is accepted like any other.

use std::iter;
use std::time::Duration;

use base::{Error, Result};
use jobs::{ClaimedJob, Job, Stop};
use model::ids::{AppId, OperationId, PushId, ScheduleId};
use model::origin::{Origin, Part, Provenance};
use model::schedule::{Schedule, Wave};
use model::time::UtcMillis;
use sending::{NewPush, Registry};
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind};

use super::stored::{Stored, Timing, is_in_use};
use crate::Campaigns;

/// The changes of a schedule that fires.
struct Firing {
    id: ScheduleId,
    /// The schedule as it was when all of this was computed.
    before: String,
    stored: Stored,
    payload: String,
    operation: OperationId,
    pushes: Vec<(PushId, Provenance)>,
    now: UtcMillis,
    /// The timing that follows.
    after: Timing,
    registry: Registry,
}

/// Sends the pushes of a schedule that are due.
#[derive(Serialize, Deserialize)]
pub(crate) struct FireSchedule {
    pub(super) schedule: ScheduleId,
}

impl Job for FireSchedule {
    type Room = Campaigns;
    const NAME: &'static str = "fire_schedule";
    const IS_TIMED: bool = true;
    const LONGEST_WAIT: Option<Duration> = None;

    async fn run(self, campaigns: &Campaigns, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        campaigns.fire_schedule(claimed, self.schedule).await
    }
}

impl Campaigns {
    /// Running it twice is harmless: the timer has to be the one that the schedule waits for, and the transaction that accepts
    /// the pushes settles it and sets the next, or ends the schedule.
    pub(crate) async fn fire_schedule(&self, claimed: &ClaimedJob, id: ScheduleId) -> Result<()> {
        let (app, timer) = (claimed.app, claimed.id);
        let now = self.0.clock.now();
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let Some(document) = documents::get(tx, app, DocumentKind::Schedule, &id.to_string())? else {
                return Ok(None);
            };
            let stored = Stored::read(&document.body)?;
            if stored.timing.timer.is_none_or(|(expected, _)| expected != timer) {
                return Ok(None);
            }
            let waves = due_waves(tx, app, &stored.scheduled.schedule, stored.timing.done_until, now)?;
            Ok(Some((document.body, stored, waves)))
        };
        let Some((before, stored, waves)) = self.0.store.read(read).await? else {
            return jobs::settle_alone(&self.0.store, claimed).await;
        };
        let schedule = &stored.scheduled.schedule;
        let last_run = waves.last().map(|wave| wave.time).or(stored.timing.last_run);
        let next_push = if waves.is_empty() { stored.timing.next_push } else { PushId::at(now) };
        let after = Timing::after(schedule, now, next_push, last_run);
        let pushes = pushes_for(id, waves, stored.timing.next_push, now);
        let payload = serde_json::to_string(&stored.scheduled.push).map_err(Error::internal)?;
        let n_pushes = pushes.len() as u64;
        let operation = OperationId::at(now);
        let registry = self.0.sending.registry_for(app, [&stored.scheduled.push]).await?;
        let firing = Firing { id, before, stored, payload, operation, pushes, now, after, registry };
        let (campaigns, claimed) = (self.clone(), claimed.clone());
        let fired = self.0.store.write(app, move |tx| campaigns.write_firing(tx, &claimed, &firing)).await?;
        if fired {
            self.0.metrics.pushes_accepted(n_pushes);
        }
        Ok(())
    }

    /// `false` when the schedule has been changed since it was read.
    fn write_firing(&self, tx: &mut Tx<'_>, claimed: &ClaimedJob, firing: &Firing) -> Result<bool> {
        let app = claimed.app;
        let current = documents::get(tx, app, DocumentKind::Schedule, &firing.id.to_string())?;
        if current.is_none_or(|current| current.body != firing.before) {
            let timing = Timing::find(tx, app, firing.id)?;
            match timing.and_then(|timing| timing.timer).is_some_and(|(timer, _)| timer == claimed.id) {
                // An erasure has replaced a name in it and left it its timer: it fires as it is now.
                true => jobs::postpone(tx, claimed, firing.now)?,
                false => jobs::settle(tx, claimed)?,
            }
            return Ok(false);
        }
        jobs::settle(tx, claimed)?;
        let new = firing.pushes.iter().map(|(id, provenance)| NewPush {
            id: *id,
            push: &firing.stored.scheduled.push,
            payload: &firing.payload,
            provenance,
            author: firing.stored.author.as_deref(),
        });
        if !firing.pushes.is_empty() {
            firing.registry.register_recipients(tx, [&firing.stored.scheduled.push])?;
            self.0.sending.insert_pushes(tx, app, firing.now, firing.operation, &new.collect::<Vec<_>>())?;
        }
        if !firing.after.will_fire() && firing.stored.scheduled.schedule.recurring.is_none() {
            documents::delete(tx, app, DocumentKind::Schedule, &firing.id.to_string())?;
            return Ok(true);
        }
        let stored = Stored { timing: firing.after, ..firing.stored.clone() };
        self.put_schedule(tx, app, firing.id, &stored, firing.now)?;
        Ok(true)
    }
}

/// All due times, with the clocks that are in use.
pub(crate) fn due_waves(
    tx: &mut Tx<'_>,
    app: AppId,
    schedule: &Schedule,
    done_until: UtcMillis,
    now: UtcMillis,
) -> Result<Vec<Wave>> {
    let mut waves = schedule.waves(done_until, now);
    for clocks in waves.iter_mut().filter_map(|wave| wave.clocks.as_mut()) {
        let mut in_use = Vec::new();
        for clock in clocks.drain(..) {
            if is_in_use(tx, app, clock)? {
                in_use.push(clock);
            }
        }
        *clocks = in_use;
    }
    waves.retain(|wave| wave.clocks.as_ref().is_none_or(|clocks| !clocks.is_empty()));
    Ok(waves)
}

/// A push for each wave, of which the first has its id already.
fn pushes_for(id: ScheduleId, waves: Vec<Wave>, first: PushId, now: UtcMillis) -> Vec<(PushId, Provenance)> {
    let names = iter::once(first).chain(iter::repeat_with(|| PushId::at(now)));
    let provenance = |Wave { time, clocks }: Wave| {
        let mut provenance = Provenance::of(Origin::Schedule(id));
        if let Some(clocks) = clocks {
            provenance.run = Some(time.to_string());
            provenance.part = Part::Clocks(clocks.iter().map(|clock| clock.name.to_owned()).collect());
        }
        provenance
    };
    names.zip(waves.into_iter().map(provenance)).collect()
}
