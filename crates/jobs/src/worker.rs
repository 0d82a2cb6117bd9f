//! The one loop that runs jobs: claim, run, settle. Signals wake it; polling is the fallback. Tests step it by hand.

mod claiming;
mod followers;
mod nodes;
mod running;
mod slots;
mod stranded;
mod waiting;

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use base::{Error, Result, doubled};
use boxed::boxed;
use futures_util::FutureExt;
use store::Signal;
use store::apps::OPERATOR;
use store::jobs::{self, ClaimedJob};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{self, Instant};

use crate::{Jobs, Stop};
use claiming::{Backlog, Begun};
pub(crate) use running::Running;
use slots::Slots;

/// How long a claim lasts unless it is renewed. A node that stands still, or is cut off, delays its jobs by at most this; one that
/// dies, by a few seconds ([`nodes`]).
pub const LEASE: Duration = Duration::from_secs(15);
const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How long a lost signal can delay a job.
const POLL: Duration = Duration::from_secs(1);
const SHORTEST_BACK_OFF: Duration = Duration::from_secs(2);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(300);
/// The longest back-off of a follower, because its log grows meanwhile.
const FOLLOWER_BACK_OFF: Duration = Duration::from_secs(10);

pub struct Worker {
    jobs: Jobs,
    /// Where jobs run that keep a thread busy for long.
    for_long_jobs: Option<Handle>,
}

/// What a worker does when something has happened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextStep {
    /// Looks for jobs, and claims those that have a slot.
    Look,
    /// Claims jobs that were found before.
    Claim,
    Wait,
}

#[boxed]
impl Worker {
    pub const fn new(jobs: Jobs) -> Self {
        Self { jobs, for_long_jobs: None }
    }

    /// Jobs that keep a thread busy for long run on another one, so that those who only need it for moments do not wait behind
    /// them: a push to one device takes a dozen steps, and each would wait until messages of a broadcast have gone out.
    pub fn with_long_jobs_on(self, runtime: Handle) -> Self {
        Self { for_long_jobs: Some(runtime), ..self }
    }

    /// Runs jobs until `shutdown` turns true, then lets the running ones reach their next checkpoint.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let mut signals = self.jobs.0.store.signals_of(Signal::Jobs);
        let stop = Stop::new(shutdown.clone());
        let mut slots = Slots::default();
        let mut running = JoinSet::new();
        let waking = tokio::spawn(self.jobs.clone().keep_waking_followers());
        let watching = tokio::spawn(self.jobs.clone().keep_watching_nodes());
        let (mut next, mut backlog) = (NextStep::Look, Backlog::default());
        // When to look for jobs if nothing happens, and before when not even if something does.
        let (mut look_again_at, mut rest_until) = (Instant::now(), Instant::now());
        while !stop.is_requested() {
            if next != NextStep::Wait {
                let (is_look, began) = (next == NextStep::Look, Instant::now());
                if is_look {
                    backlog = self.look(&slots).await.unwrap_or_else(|error| not_found(&error));
                }
                let claimed = self.claim(slots.n_free(), &mut backlog, &mut slots).await;
                let claimed = claimed.unwrap_or_else(|error| {
                    backlog = not_found(&error);
                    Vec::new()
                });
                let now = Instant::now();
                let rest = backlog.rest().max(self.jobs.rest_after(now - began));
                look_again_at = look_again_at.min(now + backlog.look_again_in);
                if is_look {
                    (look_again_at, rest_until) = (now + backlog.look_again_in, now + rest);
                }
                for Begun { job, slot, run } in claimed {
                    let (jobs, stop) = (self.jobs.clone(), stop.clone());
                    let is_long = slot.track().is_long();
                    let work = async move {
                        // Whatever happens, the slot is free again.
                        if AssertUnwindSafe(jobs.run_and_log(&job, &stop)).catch_unwind().await.is_err() {
                            tracing::error!(
                                job = job.kind,
                                "a job panicked while its end was recorded; it runs again later"
                            );
                        }
                        drop(run);
                        slot
                    };
                    match &self.for_long_jobs {
                        Some(runtime) if is_long => running.spawn_on(work, runtime),
                        _ => running.spawn(work),
                    };
                }
            }
            let has_slot = slots.n_free() > 0;
            next = tokio::select! {
                _ = shutdown.changed() => NextStep::Wait,
                Some(Ok(slot)) = running.join_next() => {
                    let mut left = vec![slot];
                    while let Some(Ok(slot)) = running.try_join_next() {
                        left.push(slot);
                    }
                    left.iter().for_each(|slot| slots.leave(slot));
                    if left.iter().any(|slot| backlog.may_lack_jobs_for(slot)) {
                        look_again_at = look_again_at.min(rest_until);
                    }
                    if backlog.is_one_running {
                        NextStep::Look
                    } else if backlog.has_room(&slots) {
                        NextStep::Claim
                    } else {
                        NextStep::Wait
                    }
                }
                _ = signals.next(), if has_slot => {
                    look_again_at = look_again_at.min(rest_until);
                    if rest_until <= Instant::now() { NextStep::Look } else { NextStep::Wait }
                }
                () = time::sleep_until(look_again_at), if has_slot => NextStep::Look,
            };
        }
        waking.abort();
        watching.abort();
        while running.join_next().await.is_some() {}
    }

    /// Runs one due job to its end. `false` when none is due.
    pub async fn step(&self) -> Result<bool> {
        self.step_until(false).await
    }

    /// As [`Worker::step`], with the process about to end: a long job stops at its first checkpoint.
    pub async fn step_and_stop(&self) -> Result<bool> {
        self.step_until(true).await
    }

    async fn step_until(&self, stops: bool) -> Result<bool> {
        let (_keep, stop) = watch::channel(stops);
        self.jobs.wake_followers().await;
        let mut slots = Slots::default();
        let mut backlog = self.look(&slots).await?;
        let mut claimed = self.claim(1, &mut backlog, &mut slots).await?;
        let Some(Begun { job, run: _run, .. }) = claimed.pop() else { return Ok(false) };
        self.jobs.run_and_log(&job, &Stop::new(stop)).await;
        Ok(true)
    }
}

fn not_found(error: &Error) -> Backlog {
    // The store itself tells once that the database is away.
    if !error.is_of_database() {
        tracing::warn!(error = error as &dyn std::error::Error, "jobs cannot be claimed");
    }
    Backlog::unknown()
}

impl Jobs {
    /// How long not to look again after a look that has taken so long. Where apps are spread over servers it takes a query for
    /// every shard, so that no more than a quarter of the time goes into it.
    fn rest_after(&self, look: Duration) -> Duration {
        if self.0.store.is_spread() { 3 * look } else { Duration::ZERO }
    }
}

#[boxed]
impl Jobs {
    /// Only one process can use a SQLite database, so leases found at its start belong to a process that has died.
    pub async fn release_own_leases(&self) -> Result<()> {
        if !self.0.store.is_single_process() {
            return Ok(());
        }
        let now = self.0.clock.now();
        let n_released = self.0.store.write(OPERATOR, move |tx| jobs::release_all(tx, now)).await?;
        if n_released > 0 {
            tracing::info!(event = "node.restarted", jobs = n_released, "took up the work of the previous run");
        }
        Ok(())
    }

    async fn run_and_log(&self, job: &ClaimedJob, stop: &Stop) {
        self.0.metrics.job_begins();
        let run = AssertUnwindSafe(self.0.kinds.run(job, stop)).catch_unwind();
        let outcome = tokio::select! {
            outcome = run => outcome.unwrap_or_else(|_| Err(Error::internal("the job panicked"))),
            never = self.keep_renewing(job) => match never {},
        };
        self.0.metrics.job_ends();
        match outcome {
            Ok(()) => self.0.metrics.job_succeeded(&job.kind),
            Err(Error::AppGone) => self.drop_job(job).await,
            // The job was canceled, or is another worker's: it has not failed, and is not ours to give back.
            Err(Error::LeaseLost) => tracing::debug!(job = job.kind, attempt = job.attempt, "a job is no longer ours"),
            Err(error) => {
                self.0.metrics.job_failed(&job.kind);
                self.give_back_failed(job, &error).await;
            }
        }
    }

    async fn give_back_failed(&self, job: &ClaimedJob, error: &Error) {
        let (given_back, is_of_database) = (self.postpone_failed(job).await, error.is_of_database());
        let (job, attempt, error) = (&job.kind, job.attempt, error as &dyn std::error::Error);
        let retry_in_s = match given_back {
            Ok(back_off) => back_off.as_secs(),
            Err(Error::LeaseLost) => {
                tracing::warn!(job, attempt, error, "a job failed that is no longer ours to try again");
                return;
            }
            // The lease runs out, which has the same effect.
            Err(_) => LEASE.as_secs(),
        };
        let text = "a job failed and will be tried again";
        // The store itself tells once that the database is away.
        match is_of_database {
            true => tracing::debug!(job, attempt, retry_in_s, error, "{text}"),
            false => tracing::warn!(job, attempt, retry_in_s, error, "{text}"),
        }
    }

    /// Everything of a deleted app is being erased, its jobs as well; until then none of them has anything left to do.
    async fn drop_job(&self, job: &ClaimedJob) {
        let (app, id) = (job.app, job.id);
        // When this fails the job is claimed again, to the same effect.
        let _ = self.0.store.write_part(&self.0.store.part_of(app), move |tx| jobs::cancel(tx, app, id)).await;
    }

    /// Gives back a job that failed. Returns for how long.
    async fn postpone_failed(&self, job: &ClaimedJob) -> Result<Duration> {
        let (app, now, job) = (job.app, self.0.clock.now(), job.clone());
        let write = move |tx: &mut store::Tx<'_>| {
            if store::followers::position(tx, app, job.id)?.is_some() {
                store::followers::rest_until(tx, &job, now.plus(FOLLOWER_BACK_OFF))?;
                return Ok(FOLLOWER_BACK_OFF);
            }
            let back_off = doubled(SHORTEST_BACK_OFF, job.failures.saturating_add(1), LONGEST_BACK_OFF);
            jobs::postpone_failed(tx, &job, now.plus(back_off))?;
            Ok::<_, Error>(back_off)
        };
        self.0.store.write(app, write).await
    }

    async fn keep_renewing(&self, job: &ClaimedJob) -> std::convert::Infallible {
        loop {
            time::sleep(RENEW_EVERY).await;
            let (app, clock, job) = (job.app, self.0.clock.clone(), job.clone());
            // The lease lasts from when it is renewed, however long that has waited for its turn.
            let renew = move |tx: &mut store::Tx<'_>| jobs::renew(tx, &job, clock.lease_begin().plus(LEASE));
            if let Err(Error::LeaseLost) = self.0.store.write(app, renew).await.map_err(Error::from) {
                // The job notices at its next checkpoint. Asking again would only spoil the commits of others.
                return std::future::pending().await;
            }
        }
    }
}
