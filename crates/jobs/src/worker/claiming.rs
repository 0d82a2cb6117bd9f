//! Finds due jobs for which a slot is free, and claims them. Finding is a read, which does not wait for writers; only the chosen
//! jobs are then claimed. Those that found no slot are remembered, so that a slot that is left is filled without another look.

use std::collections::BTreeMap;
use std::time::Duration;

use base::Result;
use futures_util::future;
use model::time::UtcMillis;
use store::jobs::{self, ClaimedJob, DueJob};
use store::{Part, Tx};

use super::running::Run;
use super::slots::{Slot, Slots};
use super::waiting::{Next, Waiting};
use super::{LEASE, POLL, Worker};

/// If more jobs than this are due, the first of every lane is looked up as well. Most of the time there are fewer.
const LOOKED_AT: usize = 500;
/// For how long a look is left at that, for each job that it has found: with many of them waiting for slots, looking at all of
/// them whenever another one comes would take more time than the jobs.
const REST_PER_JOB: Duration = Duration::from_micros(50);

/// Due jobs that have found no free slot, since the last look.
#[derive(Default)]
pub(super) struct Backlog {
    waiting: Waiting,
    n_found: u32,
    are_all: bool,
    is_new: bool,
    /// Until there may be more jobs for the slots that are free now.
    pub(super) look_again_in: Duration,
    /// Whether a due job was skipped because this process still runs it: it may have been given back a moment ago.
    pub(super) is_one_running: bool,
}

impl Backlog {
    /// After a look that has failed, or was not made.
    pub(super) fn unknown() -> Self {
        Self { look_again_in: POLL, ..Self::default() }
    }

    pub(super) fn has_room(&self, slots: &Slots) -> bool {
        self.waiting.has_room(slots)
    }

    /// Whether jobs may be due for a slot that were not read.
    pub(super) fn may_lack_jobs_for(&self, slot: &Slot) -> bool {
        !self.are_all && !self.waiting.has_jobs_for(slot)
    }

    /// How long to do with what was found, although other jobs have come.
    pub(super) fn rest(&self) -> Duration {
        if self.waiting.is_empty() { Duration::ZERO } else { REST_PER_JOB * self.n_found }
    }
}

/// A job that nothing else in this process runs, with its slot.
pub(super) struct Begun {
    pub(super) job: ClaimedJob,
    pub(super) slot: Slot,
    pub(super) run: Run,
}

impl Worker {
    /// Looks for due jobs, unless the clock differs from that of the other nodes.
    pub(super) async fn look(&self, slots: &Slots) -> Result<Backlog> {
        self.jobs.end_stranded_waits().await;
        let parts = &self.jobs.0;
        let Some(now) = parts.clock.trusted_now() else { return Ok(Backlog::unknown()) };
        // Running jobs, of this or another worker of this process, may be due as well.
        let limit = u32::try_from(LOOKED_AT + parts.running.len()).unwrap_or(u32::MAX);
        let read = move |tx: &mut Tx<'_>, part: &Part| {
            let due = jobs::due(tx, part, now, limit)?;
            Ok::<_, store::Error>(vec![(due, jobs::next_due_after(tx, part, now)?)])
        };
        let (mut due, mut are_all, mut next_due) = (Vec::new(), true, None);
        for (of_part, next_of_part) in parts.store.read_all(read).await? {
            due.extend(of_part.jobs);
            are_all &= of_part.are_all;
            next_due = next_due.into_iter().chain(next_of_part).min();
        }
        // Looked at after the clock by which the jobs are due, so that no jump goes unnoticed between the two.
        if !parts.clock_watch.is_settled() {
            due.retain(|job: &DueJob| !parts.kinds.is_timed(&job.kind));
        }
        Ok(Backlog {
            n_found: u32::try_from(due.len()).unwrap_or(u32::MAX),
            are_all,
            is_new: true,
            waiting: Waiting::new(due, &parts.kinds, slots),
            look_again_in: wait_until(next_due, now),
            is_one_running: false,
        })
    }

    /// Claims up to `at_most` of the jobs that were found, for which slots are free.
    pub(super) async fn claim(&self, at_most: usize, backlog: &mut Backlog, slots: &mut Slots) -> Result<Vec<Begun>> {
        let is_new = std::mem::replace(&mut backlog.is_new, false);
        if !is_new {
            backlog.waiting.rank(slots);
        }
        let mut chosen = Vec::new();
        while chosen.len() < at_most {
            let Some(Next { job, track, is_ahead }) = backlog.waiting.pop(slots) else { break };
            match self.jobs.0.running.begin(job.app, job.id) {
                Some(run) => chosen.push((job, track.clone(), slots.take(track, is_ahead), run)),
                None => backlog.is_one_running = true,
            }
        }
        // The lanes of the chosen jobs may have more due jobs, which were not read.
        if !backlog.are_all && chosen.iter().any(|(_, track, ..)| slots.has_room(track)) {
            backlog.look_again_in = Duration::ZERO;
        }
        let mut begun = Vec::with_capacity(chosen.len());
        let claimed = self.claim_these(chosen.iter().map(|(job, ..)| (job.app, job.id)).collect()).await;
        let (mut claimed, failed) = match claimed {
            Ok(claimed) => (claimed, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        for (wanted, _, slot, run) in chosen {
            match claimed.iter().position(|job| (job.app, job.id) == (wanted.app, wanted.id)) {
                Some(index) => begun.push(Begun { job: claimed.swap_remove(index), slot, run }),
                None => {
                    // Another process has claimed it meanwhile, and others that were found earlier perhaps as well.
                    slots.leave(&slot);
                    if !is_new {
                        *backlog = Backlog { is_one_running: backlog.is_one_running, ..Backlog::default() };
                    }
                }
            }
        }
        failed.map_or(Ok(begun), Err)
    }

    async fn claim_these(&self, wanted: Vec<jobs::JobKey>) -> Result<Vec<ClaimedJob>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        // It may have been set since the jobs were found. Another node that has come since holds jobs by a clock that is right.
        if self.jobs.0.clock.is_wrong_and_alone() {
            self.jobs.0.clock.compare(&self.jobs.0.store).await;
        }
        let Some(now) = self.jobs.0.clock.trusted_now() else { return Ok(Vec::new()) };
        let store = &self.jobs.0.store;
        let mut by_part = BTreeMap::<Part, Vec<jobs::JobKey>>::new();
        for key in wanted {
            by_part.entry(store.part_of(key.0)).or_default().push(key);
        }
        let claims = by_part.into_iter().map(|(part, wanted)| {
            let (node, clock) = (store.node(), self.jobs.0.clock.clone());
            // The lease begins when the claim is made, however long it has waited for its turn.
            store.write_part(&part, move |tx| jobs::claim(tx, node, &wanted, now, clock.lease_begin().plus(LEASE)))
        });
        let (mut claimed, mut failure) = (Vec::new(), None);
        for claim in future::join_all(claims).await {
            match claim {
                Ok(of_part) => claimed.extend(of_part),
                Err(error) => failure = Some(error),
            }
        }
        self.jobs.record_takeovers(&claimed).await;
        // What was claimed is run, whatever became of the rest.
        failure.filter(|_: &store::Error| claimed.is_empty()).map_or(Ok(claimed), |error| Err(error.into()))
    }
}

/// Jobs that become due earlier are announced by signals, unless those are lost.
fn wait_until(next: Option<UtcMillis>, now: UtcMillis) -> Duration {
    let wait =
        next.map_or(POLL, |next| Duration::from_millis(u64::try_from(next.0.saturating_sub(now.0)).unwrap_or(0)));
    wait.min(POLL)
}
