//! Firing a variant: it becomes a push for its share of the audience.

use std::time::Duration;

use base::{Error, Result};
use jobs::{ClaimedJob, Job, Stop};
use model::ids::{AppId, ExperimentId, OperationId, PushId};
use model::origin::{Origin, Part, Provenance, VariantPart};
use model::schedule::Wave;
use model::time::UtcMillis;
use sending::NewPush;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind};

use super::control::WithholdControlGroup;
use super::stored::Stored;
use crate::Campaigns;
use crate::schedules::{Timing, due_waves};

/// When an unreadable experiment is looked at again, which only another version of this program can read.
const UNREADABLE_FOR: Duration = Duration::from_secs(60 * 60);

/// The experiment that is sent, and when.
#[derive(Clone, Copy)]
pub(super) struct Occasion {
    pub(super) app: AppId,
    pub(super) id: ExperimentId,
    pub(super) now: UtcMillis,
}

/// Sends a variant of an experiment to the channels whose time has come.
#[derive(Serialize, Deserialize)]
pub(crate) struct FireVariant {
    pub(super) experiment: ExperimentId,
    pub(super) variant: u32,
}

impl Job for FireVariant {
    type Room = Campaigns;
    const NAME: &'static str = "fire_variant";
    const IS_TIMED: bool = true;
    const LONGEST_WAIT: Option<Duration> = None;

    async fn run(self, campaigns: &Campaigns, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        campaigns.fire_variant(claimed, self.experiment, self.variant).await
    }
}

impl Campaigns {
    /// Running it twice is harmless: the timer has to be the one that the variant waits for, and the transaction that accepts
    /// the pushes settles it and sets the next, if there is another.
    pub(crate) async fn fire_variant(&self, claimed: &ClaimedJob, id: ExperimentId, variant: u32) -> Result<()> {
        let (campaigns, claimed, now) = (self.clone(), claimed.clone(), self.0.clock.now());
        let app = claimed.app;
        let write = move |tx: &mut Tx<'_>| campaigns.write_variant(tx, &claimed, id, variant, now);
        let n_pushes = self.0.store.write(app, write).await?;
        self.0.metrics.pushes_accepted(n_pushes);
        Ok(())
    }

    /// Returns how many pushes were accepted.
    fn write_variant(
        &self,
        tx: &mut Tx<'_>,
        claimed: &ClaimedJob,
        id: ExperimentId,
        variant: u32,
        now: UtcMillis,
    ) -> Result<u64> {
        let app = claimed.app;
        let document = documents::get(tx, app, DocumentKind::Experiment, &id.to_string())?;
        let before = document.as_ref().and_then(Stored::readable);
        if document.is_some() && before.is_none() {
            jobs::postpone(tx, claimed, now.plus(UNREADABLE_FOR))?;
            return Ok(0);
        }
        jobs::settle(tx, claimed)?;
        let Some(before) = before else { return Ok(0) };
        let mut stored = before.clone();
        let Some((schedule, timing)) = before.waiting(variant, claimed.id) else { return Ok(0) };
        let waves = due_waves(tx, app, schedule, timing.done_until, now)?;
        let last_run = waves.last().map(|wave| wave.time).or(timing.last_run);
        let mut next_push = timing.next_push;
        let mut pushes = Vec::with_capacity(waves.len());
        for Wave { clocks, .. } in waves {
            let clocks = clocks.map(|clocks| clocks.iter().map(|clock| clock.name.to_owned()).collect());
            pushes.push((std::mem::replace(&mut next_push, PushId::at(now)), clocks));
        }
        stored.set_timing(variant, Timing::after(schedule, now, next_push, last_run));
        let n_pushes = self.send_variant(tx, Occasion { app, id, now }, &mut stored, variant, pushes)?;
        self.put_experiment(tx, app, id, Some(&before), &stored, now)?;
        Ok(n_pushes)
    }

    /// Sends the variants that have no schedule.
    pub(super) fn send_unscheduled(&self, tx: &mut Tx<'_>, occasion: Occasion, stored: &mut Stored) -> Result<u64> {
        let unscheduled = stored.experiment.variants.iter().filter(|variant| variant.schedule.is_none());
        let unscheduled: Vec<u32> = unscheduled.map(|variant| variant.id).collect();
        let mut n_pushes = 0;
        for variant in unscheduled {
            n_pushes += self.send_variant(tx, occasion, stored, variant, vec![(PushId::at(occasion.now), None)])?;
        }
        Ok(n_pushes)
    }

    /// Accepts pushes of a variant, each for the channels with some clocks. The first push of an experiment starts it.
    fn send_variant(
        &self,
        tx: &mut Tx<'_>,
        Occasion { app, id, now }: Occasion,
        stored: &mut Stored,
        variant: u32,
        pushes: Vec<(PushId, Option<Vec<String>>)>,
    ) -> Result<u64> {
        let (shares, index) = (stored.experiment.shares(), variant as usize);
        let found = stored.experiment.variants.get(index).zip(shares.variants.get(index));
        let (content, share) = found.ok_or_else(|| Error::internal("a variant that an experiment does not have"))?;
        let payload = serde_json::to_string(&content.push).map_err(Error::internal)?;
        let mut provenances = Vec::with_capacity(pushes.len());
        if !stored.has_started && !pushes.is_empty() {
            stored.has_started = true;
            stored.control_with = (!shares.control.is_empty()).then_some(variant);
        }
        let control = (stored.control_with == Some(variant)).then_some(shares.control);
        let withheld = (!shares.control.is_empty()).then_some(shares.control);
        for (push, clocks) in pushes {
            // A channel that changes its time zone gets the variant once.
            let run = clocks.is_some().then(|| variant.to_string());
            let part = Part::Variant(VariantPart { variant, share: *share, control, withheld, clocks });
            provenances.push((push, Provenance { origin: Origin::Experiment(id), run, part }));
        }
        let new = provenances.iter().map(|(push, provenance)| NewPush {
            id: *push,
            push: &content.push,
            payload: &payload,
            provenance,
            author: stored.author.as_deref(),
        });
        let new: Vec<_> = new.collect();
        if !new.is_empty() {
            self.0.sending.insert_pushes(tx, app, now, OperationId::at(now), &new)?;
        }
        for NewPush { id: push, .. } in new.iter().filter(|_| control.is_some()) {
            jobs::enqueue(tx, app, now, &WithholdControlGroup { push: *push })?;
        }
        Ok(new.len() as u64)
    }
}
