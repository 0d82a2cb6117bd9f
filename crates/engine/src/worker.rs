//! The one loop that runs jobs: claim, run, settle. Signals wake it; polling is the fallback. Tests step it by hand.

mod followers;
mod places;

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use store::Signal;
use store::jobs::{self, ClaimedJob};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time;

use crate::apps::OPERATOR;
use crate::{Engine, Error, Result};
use places::Places;

/// How long a claim lasts unless it is renewed. A node that dies delays its jobs by at most this.
pub(crate) const LEASE: Duration = Duration::from_secs(15);
const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How long a lost signal can delay a job.
const POLL: Duration = Duration::from_secs(1);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(300);
/// The jobs of followers run for as long as there is a log: how often one was claimed says nothing about how often it failed.
const FOLLOWER_BACK_OFF: Duration = Duration::from_secs(10);

/// Tells a long job that the process is about to end, so that it can stop at its next checkpoint.
#[derive(Clone)]
pub(crate) struct Stop(pub(crate) watch::Receiver<bool>);

impl Stop {
    /// Also when nobody is left who could request it: nobody is left to work for.
    pub(crate) fn is_requested(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }
}

pub struct Worker {
    engine: Engine,
}

impl Worker {
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Runs jobs until `shutdown` turns true, then lets the running ones reach their next checkpoint.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let mut signals = self.engine.0.store.signals_of(Signal::Jobs);
        let stop = Stop(shutdown.clone());
        let mut places = Places::default();
        let mut running = JoinSet::new();
        let waking = tokio::spawn(self.engine.clone().keep_waking_followers());
        while !stop.is_requested() {
            let claimed = match self.claim(places.n_free(), &places).await {
                Ok(claimed) => claimed,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "jobs cannot be claimed");
                    Vec::new()
                }
            };
            let wait = self.wait_after(claimed.len()).await;
            for job in claimed {
                places.take(&job.lane);
                let (engine, stop) = (self.engine.clone(), stop.clone());
                running.spawn(async move {
                    engine.run_and_log(&job, &stop).await;
                    job.lane
                });
            }
            tokio::select! {
                _ = shutdown.changed() => {}
                Some(Ok(lane)) = running.join_next() => places.leave(&lane),
                _ = signals.next(), if places.n_free() > 0 => {}
                () = time::sleep(wait), if places.n_free() > 0 => {}
            }
        }
        waking.abort();
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
        self.engine.wake_followers().await;
        let Some(job) = self.claim(1, &Places::default()).await?.pop() else { return Ok(false) };
        self.engine.run_and_log(&job, &Stop(stop)).await;
        Ok(true)
    }

    /// Those that there are places for. Of a lane with many due jobs only those that fit are taken.
    async fn claim(&self, at_most: usize, places: &Places) -> Result<Vec<ClaimedJob>> {
        let now = self.engine.0.clock.now();
        let at_most = u32::try_from(at_most).unwrap_or(u32::MAX);
        let due = self.engine.0.store.read(jobs::next_due).await?;
        if at_most == 0 || due.is_none_or(|due| due > now) {
            return Ok(Vec::new());
        }
        let places = places.clone();
        let claim = move |tx: &mut store::Tx<'_>| {
            let mut places = places.clone();
            jobs::claim(tx, now, now.plus(LEASE), at_most, &places.full(), |lane| places.take(lane))
        };
        Ok(self.engine.0.store.write(OPERATOR, claim).await?)
    }

    /// Until the next job is due. A job that is due but was not to be had is waiting for others, which will tell.
    async fn wait_after(&self, n_claimed: usize) -> Duration {
        let now = self.engine.0.clock.now();
        match self.engine.0.store.read(jobs::next_due).await {
            Ok(Some(due)) if due > now || n_claimed > 0 => {
                Duration::from_millis(u64::try_from(due.0 - now.0).unwrap_or(0)).min(POLL)
            }
            Ok(_) | Err(_) => POLL,
        }
    }
}

impl Engine {
    /// Only one process can use a SQLite database, so leases found at its start belong to a process that has died.
    pub(crate) async fn release_own_leases(&self) -> Result<()> {
        if !self.0.store.is_single_process() {
            return Ok(());
        }
        let now = self.0.clock.now();
        let n_released = self.0.store.write(OPERATOR, move |tx| jobs::release_all(tx, now)).await?;
        if n_released > 0 {
            tracing::info!(jobs = n_released, "took up the work of the previous run");
        }
        Ok(())
    }

    async fn run_and_log(&self, job: &ClaimedJob, stop: &Stop) {
        self.0.metrics.job_begins();
        let run = AssertUnwindSafe(self.run_job(job, stop)).catch_unwind();
        let outcome = tokio::select! {
            outcome = Box::pin(run) => outcome.unwrap_or_else(|_| Err(Error::internal("the job panicked"))),
            never = self.keep_renewing(job) => match never {},
        };
        self.0.metrics.job_ran(&job.kind, outcome.is_ok());
        let Err(error) = outcome else { return };
        // When even this fails the lease runs out, which has the same effect.
        let back_off = self.put_off(job).await.unwrap_or(LEASE);
        tracing::warn!(
            job = job.kind,
            attempt = job.attempt,
            retry_in_s = back_off.as_secs(),
            error = &error as &dyn std::error::Error,
            "a job failed and will be tried again"
        );
    }

    /// Gives back a job that failed. Answers for how long.
    async fn put_off(&self, job: &ClaimedJob) -> Result<Duration> {
        let (app, now, job) = (job.app, self.0.clock.now(), job.clone());
        let write = move |tx: &mut store::Tx<'_>| {
            if store::followers::position(tx, app, job.id)?.is_some() {
                store::followers::rest_until(tx, &job, now.plus(FOLLOWER_BACK_OFF))?;
                return Ok(FOLLOWER_BACK_OFF);
            }
            let back_off = Duration::from_secs(1 << job.attempt.clamp(0, 20)).min(LONGEST_BACK_OFF);
            jobs::postpone(tx, &job, now.plus(back_off))?;
            Ok::<_, Error>(back_off)
        };
        self.0.store.write(app, write).await
    }

    async fn keep_renewing(&self, job: &ClaimedJob) -> std::convert::Infallible {
        loop {
            time::sleep(RENEW_EVERY).await;
            let (until, job) = (self.0.clock.now().plus(LEASE), job.clone());
            // A lease that is lost shows at the job's next checkpoint.
            let _ = self.0.store.write(job.app, move |tx| jobs::renew(tx, &job, until)).await;
        }
    }
}
