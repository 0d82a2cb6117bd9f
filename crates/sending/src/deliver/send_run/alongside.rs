//! What a run awaits beside its messages: recipients, checkpoints, and changes of its push.

use std::task::{Context, Poll};
use std::time::Duration;

use base::Result;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::time::UtcMillis;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::{CHECKPOINT, Probe, RunContext, SendRun};
use crate::deliver::block::{Look, Next};
use crate::deliver::feed::{CHUNK, Chunk};
use crate::deliver::outcomes::Suspicion;

/// How often a run looks whether its push was paused or canceled, or its platform is held.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// After this many looks a checkpoint is due, however little it records: after about a second.
const LOOKS: u32 = 2;

pub(super) enum RunEvent {
    Answered,
    Read(Result<Chunk>),
    Saved(Result<Look>),
    Looked(Result<Look>),
    /// It is time to look again.
    Tick,
    /// Nothing has happened, and there is more to be filled in.
    TurnOver,
}

pub(super) struct BackgroundWork {
    pub(super) reading: Option<BoxFuture<'static, Result<Chunk>>>,
    pub(super) saving: Option<BoxFuture<'static, Result<Look>>>,
    looking: Option<BoxFuture<'static, Result<Look>>>,
    is_time_to_look: bool,
    clock: Interval,
}

impl BackgroundWork {
    pub(super) fn new() -> Self {
        let mut clock = interval(LOOK_EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first look is not due at once: the run has just read its push.
        clock.reset();
        Self { reading: None, saving: None, looking: None, is_time_to_look: false, clock }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<RunEvent> {
        if let Some(chunk) = done(&mut self.reading, cx) {
            return Poll::Ready(RunEvent::Read(chunk));
        }
        if let Some(look) = done(&mut self.saving, cx) {
            return Poll::Ready(RunEvent::Saved(look));
        }
        if let Some(look) = done(&mut self.looking, cx) {
            return Poll::Ready(RunEvent::Looked(look));
        }
        if self.clock.poll_tick(cx).is_ready() {
            self.is_time_to_look = true;
            return Poll::Ready(RunEvent::Tick);
        }
        Poll::Pending
    }
}

fn done<T>(chore: &mut Option<BoxFuture<'static, T>>, cx: &mut Context<'_>) -> Option<T> {
    match chore.as_mut()?.poll_unpin(cx) {
        Poll::Ready(answer) => {
            *chore = None;
            Some(answer)
        }
        Poll::Pending => None,
    }
}

impl SendRun<'_> {
    pub(super) fn begin_alongside(&mut self, alongside: &mut BackgroundWork, now: UtcMillis) {
        self.read_ahead(alongside, now);
        let is_due = self.tally.n_finished() >= CHECKPOINT || (self.n_looks >= LOOKS && self.tally.n_finished() > 0);
        if is_due && alongside.saving.is_none() {
            self.n_looks = 0;
            self.n_saving = self.tally.n_finished();
            let outcomes = self.close_ledger(Suspicion::Undecided);
            let RunContext { sending, stop, .. } = self.context;
            alongside.saving = Some(self.block.checkpoint(sending, stop, outcomes, Next::GoOn).boxed());
        }
        if std::mem::take(&mut alongside.is_time_to_look) && alongside.looking.is_none() {
            let (app, push) = (self.context.app, self.context.push);
            let (store, device_type) = (self.context.sending.0.store.clone(), self.context.device_type.clone());
            let look = async move { store.read(move |tx| Look::at(tx, app, push, &device_type)).await };
            alongside.looking = Some(look.boxed());
        }
    }

    /// Keeps up to two chunks: one being sent and one that follows it.
    fn read_ahead(&mut self, alongside: &mut BackgroundWork, now: UtcMillis) {
        if self.stop_reason.is_some() {
            // Recipients that were read and not sent to stay pending.
            alongside.reading = None;
            return;
        }
        if alongside.reading.is_some() || self.feed.is_empty() {
            return;
        }
        match self.probe {
            Probe::No if self.n_moving() < CHUNK => alongside.reading = Some(self.feed.read_some().boxed()),
            Probe::Waiting(_) if self.n_ready == 0 && self.n_in_flight == 0 => {
                let seed = u64::try_from(now.0 / 1000).unwrap_or(0);
                alongside.reading = Some(self.feed.read_one(seed).boxed());
            }
            Probe::No | Probe::Waiting(_) | Probe::Passed => {}
        }
    }
}
