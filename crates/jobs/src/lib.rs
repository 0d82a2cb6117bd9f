//! Durable work: the contract of a job, the queue it waits in, and the worker that runs it.
//!
//! A job is one type in the room that does its work ([`Job`]). The worker knows nothing but the contract: each room hands over its
//! kinds of jobs ([`Kind`]) when the process starts.

mod contract;
mod queue;
mod slices;
mod stop;
mod worker;

use std::sync::Arc;

use base::{Base, ClockWatch, Metrics, SharedClock};
use store::Store;

pub use contract::{Job, Kind, SlotKind};
pub use queue::{BlockJob, enqueue, enqueue_as, enqueue_block, lane, settle_alone};
pub use slices::{Left, in_slices};
pub use stop::Stop;
pub use store::jobs::{
    ClaimedJob, JobId, Lane, NEVER, ParkUntil, cancel, cancel_many, cancel_some, park, postpone, renew, settle,
    wake_lane, wake_push,
};
pub use worker::{LEASE, Worker};

use contract::Kinds;
use worker::Running;

/// The jobs of this process; clones share everything.
#[derive(Clone)]
pub struct Jobs(Arc<Parts>);

struct Parts {
    store: Store,
    /// Other nodes judge by theirs what is due and whose lease has run out.
    clock: SharedClock,
    clock_watch: ClockWatch,
    metrics: Metrics,
    kinds: Kinds,
    running: Running,
    /// Held by the worker that wakes the followers of the log.
    waking: tokio::sync::Mutex<()>,
    /// Held while jobs that a wrong clock has put off are woken.
    ending_waits: tokio::sync::Mutex<()>,
}

impl Jobs {
    /// `kinds` are all kinds of jobs that the rooms have.
    pub fn new(base: &Base, kinds: impl IntoIterator<Item = Kind>) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.shared_clock.clone(),
            clock_watch: base.clock_watch.clone(),
            metrics: base.metrics.clone(),
            kinds: Kinds::new(kinds),
            running: Running::default(),
            waking: tokio::sync::Mutex::default(),
            ending_waits: tokio::sync::Mutex::default(),
        }))
    }

    /// How many jobs this process is running.
    pub fn n_running(&self) -> usize {
        self.0.running.len()
    }
}
