//! The moment a schedule has waited for: its push is accepted like any other.

use model::ids::{AppId, OperationId, PushId, ScheduleId};
use model::origin::{Origin, Part, Provenance};
use model::schedule::Wave;
use model::time::UtcMillis;
use store::documents::{self, DocumentKind};
use store::jobs::{self, ClaimedJob};
use store::{Tx, apps, terms};

use super::stored::{Stored, Timing};
use crate::push::NewPush;
use crate::{Engine, Error, Result};

/// What is written when a schedule fires.
struct Firing {
    id: ScheduleId,
    /// The schedule as it was when all of this was worked out.
    before: String,
    stored: Stored,
    payload: String,
    operation: OperationId,
    pushes: Vec<(PushId, Provenance)>,
    now: UtcMillis,
    /// How it goes on.
    after: Timing,
}

impl Engine {
    /// Running it twice is harmless: the timer has to be the one that the schedule waits for, and the transaction that accepts
    /// the pushes settles it and sets the next, or ends the schedule.
    pub(crate) async fn fire_schedule(&self, claimed: &ClaimedJob, id: ScheduleId) -> Result<()> {
        let (app, timer) = (claimed.app, claimed.id);
        let now = self.clock().now();
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let Some(document) = documents::get(tx, app, DocumentKind::Schedule, &id.to_string())? else {
                return Ok(None);
            };
            let stored = Stored::read(&document.body)?;
            if stored.timing.timer.is_none_or(|(expected, _)| expected != timer) {
                return Ok(None);
            }
            let pushes = pushes_for(tx, app, id, &stored, now)?;
            Ok(Some((document.body, stored, pushes)))
        };
        let Some((before, stored, pushes)) = self.0.store.read(read).await? else { return self.settle(claimed).await };
        let schedule = &stored.scheduled.schedule;
        let last_run = schedule.waves(stored.timing.done_until, now).last().map(|wave| wave.time);
        let next_push = if pushes.is_empty() { stored.timing.next_push } else { PushId::at(now) };
        let after = Timing::after(schedule, now, next_push, last_run.or(stored.timing.last_run));
        let payload = serde_json::to_string(&stored.scheduled.push).map_err(Error::internal)?;
        let n_pushes = pushes.len() as u64;
        let operation = OperationId::at(now);
        let firing = Firing { id, before, stored, payload, operation, pushes, now, after };
        let (engine, claimed) = (self.clone(), claimed.clone());
        let fired = self.0.store.write(app, move |tx| engine.write_firing(tx, &claimed, &firing)).await?;
        if fired {
            self.metrics().pushes_accepted(n_pushes);
        }
        Ok(())
    }

    /// `false` when somebody has changed the schedule, or its timer has been taken over, since it was read.
    fn write_firing(&self, tx: &mut Tx<'_>, claimed: &ClaimedJob, firing: &Firing) -> Result<bool> {
        let app = claimed.app;
        apps::hold(tx, app)?;
        let current = documents::get(tx, app, DocumentKind::Schedule, &firing.id.to_string())?;
        if !jobs::settle(tx, claimed)? || current.is_none_or(|current| current.body != firing.before) {
            return Ok(false);
        }
        let new = firing.pushes.iter().map(|(id, provenance)| NewPush {
            id: *id,
            push: &firing.stored.scheduled.push,
            payload: &firing.payload,
            provenance,
        });
        if !firing.pushes.is_empty() {
            self.insert_pushes(tx, app, firing.now, firing.operation, &new.collect::<Vec<_>>())?;
        }
        if !firing.after.will_fire() && firing.stored.scheduled.schedule.recurring.is_none() {
            documents::delete(tx, app, DocumentKind::Schedule, &firing.id.to_string())?;
            return Ok(true);
        }
        let stored = Stored { scheduled: firing.stored.scheduled.clone(), timing: firing.after };
        self.put_schedule(tx, app, firing.id, &stored, firing.now)?;
        Ok(true)
    }
}

/// A push for everything that is due: one, or by local time one for each time that has come to somebody.
fn pushes_for(
    tx: &mut Tx<'_>,
    app: AppId,
    id: ScheduleId,
    stored: &Stored,
    now: UtcMillis,
) -> Result<Vec<(PushId, Provenance)>> {
    let mut pushes = Vec::new();
    for Wave { time, clocks } in stored.scheduled.schedule.waves(stored.timing.done_until, now) {
        let mut provenance = Provenance::of(Origin::Schedule(id));
        if let Some(clocks) = clocks {
            let mut names = Vec::new();
            for clock in clocks {
                // Nobody has ever had a clock whose term has no number.
                if terms::find(tx, app, &clock.term)?.is_some() {
                    names.push(clock.name.to_owned());
                }
            }
            if names.is_empty() {
                continue;
            }
            provenance.run = Some(time.to_string());
            provenance.part = Part::Clocks(names);
        }
        let id = if pushes.is_empty() { stored.timing.next_push } else { PushId::at(now) };
        pushes.push((id, provenance));
    }
    Ok(pushes)
}
