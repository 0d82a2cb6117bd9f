//! The follower of the log that triggers pipelines: one per app that has any to trigger.

use std::collections::BTreeSet;

use base::Result;
use jobs::{ClaimedJob, Job, JobId, NEVER, Stop};
use model::event::{EventOffset, RecordKind};
use model::ids::{AppId, Id, Offset};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::log::Record;
use store::{Tx, followers, log, pipeline_timers};
use uuid::Uuid;

use super::reading::{Effect, Effects, Reading};
use super::stored::{self, Stored};
use super::timers::{self, StandIns, Waiting, WaitingList};
use crate::Campaigns;

const RECORDS_PER_READ: u32 = 1_000;
/// An app has one follower of this kind, so its id can be the same in all. It sorts before others: of the jobs due at the same
/// instant, reading the log comes first.
pub(super) const AUTOMATION: JobId = Id::from_uuid(Uuid::from_u128(0xa070));

/// A stretch of the log, and its effects.
struct Stretch {
    from: EventOffset,
    revision: Option<String>,
    looked: EventOffset,
    effects: Effects,
    now: UtcMillis,
}

/// Reads the triggers of pipelines from the log.
#[derive(Serialize, Deserialize)]
pub(crate) struct FollowTriggers {}

impl Job for FollowTriggers {
    type Room = Campaigns;
    const NAME: &'static str = "follow_triggers";
    /// When a trigger is answered depends on when it is read.
    const IS_TIMED: bool = true;

    async fn run(self, campaigns: &Campaigns, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        campaigns.follow_triggers(claimed).await
    }
}

impl Campaigns {
    /// After a change of pipelines: there is a follower if there are triggers to follow.
    pub(super) fn ensure_trigger_follower(&self, tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<()> {
        stored::renew_revision(tx, app, now)?;
        let mut is_needed = false;
        Stored::each_enabled(tx, app, |_, stored| is_needed |= !stored.pipeline.immediate.is_empty())?;
        let is_there = followers::position(tx, app, AUTOMATION)?.is_some();
        match (is_needed, is_there) {
            (true, false) => {
                let head = log::head(tx, app)?;
                followers::start(tx, app, AUTOMATION, EventOffset::end_of(head))?;
                jobs::enqueue_as(tx, app, AUTOMATION, NEVER, &FollowTriggers {})
            }
            (false, true) => {
                followers::stop(tx, app, AUTOMATION)?;
                Ok(jobs::cancel(tx, app, AUTOMATION)?)
            }
            (true, true) | (false, false) => Ok(()),
        }
    }

    /// Running it twice is harmless: the transaction that lets channels wait moves the position in the log from where they were
    /// read, and fails if another run has moved it.
    pub(crate) async fn follow_triggers(&self, claimed: &ClaimedJob) -> Result<()> {
        let (campaigns, app, clock) = (self.clone(), claimed.app, self.0.clock.clone());
        let watch = self.0.store.read(move |tx| campaigns.0.watches.current(tx, app)).await?;
        // Conditions are about the present state; otherwise the index is only needed for names.
        let has_conditions = !watch.conditions.is_empty();
        let index = if has_conditions { self.0.index.current(app).await? } else { self.0.index.get(app).await? };
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let Some(from) = followers::position(tx, app, AUTOMATION)? else { return Ok(None) };
            let head = log::head(tx, app)?;
            // After the end of what is read, so that none of it is to come.
            let now = clock.now();
            let until = if has_conditions { head.min(index.offset()) } else { head };
            let (records, looked) = read_kinds(tx, app, (from.records_done(), until), &watch.kinds())?;
            let (effects, unreadable) = Reading::new(tx, app, &index, &watch, now).effects_of(&records)?;
            let looked = EventOffset::end_of(looked);
            Ok(Some((Stretch { from, revision: watch.revision.clone(), looked, effects, now }, unreadable)))
        };
        let Some((stretch, unreadable)) = self.0.store.read(read).await? else {
            return jobs::settle_alone(&self.0.store, claimed).await;
        };
        let (campaigns, claimed) = (self.clone(), claimed.clone());
        let is_done = self.0.store.write(app, move |tx| campaigns.write_stretch(tx, &claimed, &stretch)).await?;
        if is_done && !unreadable.is_empty() {
            let key = self.0.tenancy.key_for_log(app).await;
            unreadable.iter().for_each(|record| record.report(&key, "pipelines"));
        }
        Ok(())
    }

    /// Whether the position was moved behind it.
    fn write_stretch(&self, tx: &mut Tx<'_>, claimed: &ClaimedJob, stretch: &Stretch) -> Result<bool> {
        let app = claimed.app;
        let is_unmoved = followers::position(tx, app, AUTOMATION)? == Some(stretch.from);
        // Pipelines that have changed since may have other triggers; then the same is read again.
        let is_valid = is_unmoved && stored::revision(tx, app)? == stretch.revision;
        if is_valid {
            for (list, effect) in &stretch.effects {
                self.write_effect(tx, app, *list, effect, stretch.now)?;
            }
            followers::advance(tx, app, AUTOMATION, stretch.looked)?;
        }
        followers::rest(tx, claimed, stretch.now)?;
        Ok(is_valid)
    }
}

impl Campaigns {
    fn write_effect(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        list: WaitingList,
        effect: &Effect,
        now: UtcMillis,
    ) -> Result<()> {
        for (last, cancellation) in &effect.canceled {
            self.remove_waiting(tx, app, list, *last, cancellation)?;
        }
        let mut at_once = Vec::new();
        for (due, waiting) in effect.waiting.iter().filter(|(_, waiting)| !waiting.channels.is_empty()) {
            if *due <= now {
                at_once.push(waiting.clone());
            } else {
                self.add_waiting(tx, app, (list, effect.canceling), (*due, StandIns::Before), waiting)?;
            }
        }
        if at_once.is_empty() {
            return Ok(());
        }
        let mut dues = Dues::new(pending(tx, app, list, now)?.unwrap_or(now), effect.until);
        // A push has each channel once. A channel that was triggered several times is in as many pushes.
        while !at_once.is_empty() {
            let due = dues.take();
            let mut together = Waiting::default();
            let mut taken = timers::waiting_at(tx, app, list, due)?;
            for waiting in &mut at_once {
                let first = waiting.take_all_but(&taken);
                taken |= &first.channels;
                together.add(&first);
            }
            at_once.retain(|waiting| !waiting.channels.is_empty());
            if !together.channels.is_empty() {
                self.add_waiting(tx, app, (list, effect.canceling), (due, StandIns::Before), &together)?;
            }
        }
        Ok(())
    }
}

/// The instants of pushes that are all sent at once, to channels that were triggered several times. None of them is to come, and
/// none is after the end of the pipeline: channels that were triggered in time get their pushes, even if that is read later.
struct Dues {
    next: UtcMillis,
}

impl Dues {
    fn new(first: UtcMillis, until: Option<UtcMillis>) -> Self {
        Self { next: until.map_or(first, |until| first.min(before(until))) }
    }

    fn take(&mut self) -> UtcMillis {
        let due = self.next;
        self.next = before(due);
        due
    }
}

fn before(instant: UtcMillis) -> UtcMillis {
    UtcMillis(instant.0.saturating_sub(1))
}

/// The instant of channels that are due and whose push is not made yet. Others join them: a pipeline that is triggered faster than
/// it can send makes few pushes for many channels, and nobody waits for company. They do not join a push that could not be made
/// and waits to be tried again.
fn pending(tx: &mut Tx<'_>, app: AppId, list: WaitingList, now: UtcMillis) -> Result<Option<UtcMillis>> {
    let first = pipeline_timers::first_due(tx, app, list.key())?;
    match first.filter(|first| *first <= now) {
        Some(first) if store::jobs::is_on_time(tx, app, list.job_at(first), now)? => Ok(Some(first)),
        Some(_) | None => Ok(None),
    }
}

/// The next records of some kinds, and how far the log was read for them.
fn read_kinds(
    tx: &mut Tx<'_>,
    app: AppId,
    (after, until): (Offset, Offset),
    kinds: &BTreeSet<RecordKind>,
) -> Result<(Vec<Record>, Offset)> {
    let mut records = Vec::new();
    if !kinds.is_empty() {
        log::visit_kinds(tx, app, after, until, kinds, RECORDS_PER_READ, |record| {
            records.push(record.into());
            Ok(())
        })?;
    }
    let is_full = records.len() >= RECORDS_PER_READ as usize;
    let looked = records.last().filter(|_| is_full).map_or(until.max(after), |last: &Record| last.offset);
    Ok((records, looked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushes_that_are_sent_at_once_have_instants_of_their_own_that_have_passed() {
        let mut dues = Dues::new(UtcMillis(1_000), Some(UtcMillis(6_500)));
        assert_eq!([(); 3].map(|()| dues.take().0), [1_000, 999, 998]);
        let mut dues = Dues::new(UtcMillis(9_000), Some(UtcMillis(6_500)));
        assert_eq!([(); 2].map(|()| dues.take().0), [6_499, 6_498]);
        let mut dues = Dues::new(UtcMillis(1_000), None);
        assert_eq!([(); 2].map(|()| dues.take().0), [1_000, 999]);
    }
}
