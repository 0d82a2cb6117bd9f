//! Finds due jobs for which a slot is free, and claims them. Finding is a read, which does not wait for writers; only the chosen
//! jobs are then claimed.

use std::time::Duration;

use base::Result;
use model::time::UtcMillis;
use store::Tx;
use store::apps::OPERATOR;
use store::jobs::{self, ClaimedJob};

use super::running::Run;
use super::slots::{Slot, Slots, Track};
use super::waiting::{Next, Waiting};
use super::{LEASE, POLL, Worker};

/// If more jobs than this are due, the first of every lane is looked up as well. Most of the time there are fewer.
const LOOKED_AT: usize = 500;

/// The result of looking for jobs.
pub(super) struct Claimed {
    pub(super) jobs: Vec<Begun>,
    /// Until there may be more jobs for the slots that are free now.
    pub(super) look_again_in: Duration,
    /// Whether a due job was skipped because this process still runs it: it may have been given back a moment ago.
    pub(super) is_one_running: bool,
    /// Where jobs are due that found no free slot.
    pub(super) left: Vec<Track>,
}

/// A job that nothing else in this process runs, with its slot.
pub(super) struct Begun {
    pub(super) job: ClaimedJob,
    pub(super) slot: Slot,
    pub(super) run: Run,
}

impl Worker {
    /// Claims up to `at_most` jobs for which slots are free.
    pub(super) async fn claim(&self, at_most: usize, slots: &mut Slots) -> Result<Claimed> {
        let (parts, now) = (&self.jobs.0, self.jobs.0.clock.now());
        // Running jobs, of this or another worker of this process, may be due as well.
        let limit = u32::try_from(LOOKED_AT + parts.running.len()).unwrap_or(u32::MAX);
        let read = move |tx: &mut Tx<'_>| {
            let due = jobs::due(tx, now, limit)?;
            Ok::<_, store::Error>((due, jobs::next_due_after(tx, now)?))
        };
        let (due, next_due) = parts.store.read(read).await?;
        let mut waiting = Waiting::new(due.jobs, &parts.kinds, slots);
        let (mut chosen, mut is_one_running) = (Vec::new(), false);
        while chosen.len() < at_most {
            let Some(Next { job, track, is_ahead }) = waiting.pop(slots) else { break };
            match parts.running.begin(job.app, job.id) {
                Some(run) => chosen.push((job, slots.take(track, is_ahead), run)),
                None => is_one_running = true,
            }
        }
        // The lanes of the chosen jobs may have more due jobs, which were not read.
        let is_more = !due.are_all && !chosen.is_empty();
        let look_again_in = if is_more { Duration::ZERO } else { wait_until(next_due, now) };
        let mut begun = Vec::with_capacity(chosen.len());
        let claimed = self.claim_these(chosen.iter().map(|(job, ..)| (job.app, job.id)).collect(), now).await;
        let (mut claimed, failed) = match claimed {
            Ok(claimed) => (claimed, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        for (wanted, slot, run) in chosen {
            match claimed.iter().position(|job| (job.app, job.id) == (wanted.app, wanted.id)) {
                Some(index) => begun.push(Begun { job: claimed.swap_remove(index), slot, run }),
                // Another process has claimed it meanwhile.
                None => slots.leave(&slot),
            }
        }
        let left = waiting.into_tracks();
        failed.map_or(Ok(Claimed { jobs: begun, look_again_in, is_one_running, left }), Err)
    }

    async fn claim_these(&self, wanted: Vec<jobs::JobKey>, now: UtcMillis) -> Result<Vec<ClaimedJob>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let clock = self.jobs.0.clock.clone();
        // The lease begins when the claim is made, however long it has waited for its turn.
        let node = self.jobs.0.store.node();
        let claim = move |tx: &mut Tx<'_>| jobs::claim(tx, node, &wanted, now, clock.now().plus(LEASE));
        Ok(self.jobs.0.store.write(OPERATOR, claim).await?)
    }
}

/// Jobs that become due earlier are announced by signals, unless those are lost.
fn wait_until(next: Option<UtcMillis>, now: UtcMillis) -> Duration {
    let wait =
        next.map_or(POLL, |next| Duration::from_millis(u64::try_from(next.0.saturating_sub(now.0)).unwrap_or(0)));
    wait.min(POLL)
}
