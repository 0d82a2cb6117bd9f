//! Pausing and resuming a recurring schedule.

use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, ScheduleId};
use model::time::UtcMillis;

use super::NOT_FOUND;
use super::stored::{Stored, Timing};
use crate::Campaigns;

#[boxed]
impl Campaigns {
    pub async fn pause_schedule(&self, app: AppId, id: ScheduleId) -> Result<()> {
        self.set_schedule_paused(app, id, true).await
    }

    /// Continues with the times from now on; times that passed meanwhile are never sent.
    pub async fn resume_schedule(&self, app: AppId, id: ScheduleId) -> Result<()> {
        self.set_schedule_paused(app, id, false).await
    }

    async fn set_schedule_paused(&self, app: AppId, id: ScheduleId, paused: bool) -> Result<()> {
        let (campaigns, now) = (self.clone(), self.0.clock.now());
        self.0
            .store
            .write(app, move |tx| {
                let Stored { mut scheduled, timing, author } = Stored::find(tx, app, id)?.ok_or(NOT_FOUND)?;
                let Some(recurring) = &mut scheduled.schedule.recurring else {
                    let text = "Only a recurring schedule can be paused; delete this one, or change its time.";
                    return Err(Error::invalid("schedule.recurring", text));
                };
                if recurring.paused == paused && timing.will_fire() != paused {
                    return Ok(());
                }
                recurring.paused = paused;
                // A push sent a moment ago is not sent again, and one due at this very moment is sent.
                let done_until = timing.done_until.max(UtcMillis(now.0 - 1));
                let after = Timing::after(&scheduled.schedule, done_until, timing.next_push, timing.last_run);
                // A push that is due and not sent yet can still be stopped.
                let is_stopped = paused && timing.will_fire();
                if !is_stopped && after.has_ended(&scheduled.schedule) {
                    let text = "The schedule has come to its end; give it another one, or delete it.";
                    return Err(Error::invalid("schedule.recurring", text));
                }
                campaigns.stop_timer(tx, app, &timing)?;
                campaigns.put_schedule(tx, app, id, &Stored { scheduled, timing: after, author }, now)
            })
            .await
    }
}
