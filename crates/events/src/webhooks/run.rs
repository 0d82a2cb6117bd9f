//! One run of a webhook's job: events are read ahead, sent as the window permits, and saved alongside.

use std::sync::Arc;
use std::time::Duration;

use base::Result;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use jobs::{ClaimedJob, Job, SlotKind, Stop};
use model::ids::WebhookId;
use model::time::UtcMillis;
use providers::webhook::{Hook, HookAnswer, WebhookConfig};
use serde::{Deserialize, Serialize};
use store::Signal;
use store::webhooks::{self, Stretch};
use tokio::time::{self, Instant};

use super::attempts::AttemptLog;
use super::checkpoint::{Rest, RunBasis, Saved, Snapshot};
use super::cursor::WebhookCursor;
use super::window::{Batch, FailedAttempt, Window};
use crate::{EventFilter, EventPage, Events};

/// Then others get their turn.
const SLICE: Duration = Duration::from_secs(30);
/// How long answers are waited for when the process ends; events without one by then are sent again by the next process.
const GRACE: Duration = Duration::from_secs(2);
/// A checkpoint is due after this many attempts, or this much time.
const CHECKPOINT: usize = 1000;
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// No more is sent while this many are not saved: at most this many are repeated after a crash.
const UNRECORDED: usize = 4 * CHECKPOINT;
/// How often to look whether a failed event can be tried again while others are under way.
const TICK: Duration = Duration::from_millis(100);

struct Run<'a> {
    events: &'a Events,
    job: &'a ClaimedJob,
    basis: RunBasis,
    hook: Hook,
    config: WebhookConfig,
    filter: EventFilter,
    window: Window,
    attempts: AttemptLog,
    /// Whether there was nothing more to read the last time.
    is_end: bool,
    stop_reason: Option<StopReason>,
    n_saving: usize,
    saved: Instant,
}

/// Why nothing more is sent in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopReason {
    /// The process stops, other jobs get their turn, or the configuration has changed.
    Yield,
    /// The position of the webhook has changed, so there is nothing to save.
    Moved,
}

struct Answered {
    batch: Batch,
    answer: HookAnswer,
    millis: u32,
}

/// Forwards events to a webhook. Lasts as long as the webhook, and sleeps while nothing happens.
#[derive(Serialize, Deserialize)]
pub(crate) struct ForwardEvents {
    pub(super) webhook: WebhookId,
}

impl Job for ForwardEvents {
    type Room = Events;
    const NAME: &'static str = "forward_events";
    const SLOTS: SlotKind = SlotKind::Forwarding;

    fn lane(&self) -> String {
        format!("{}/{}", Self::NAME, self.webhook)
    }

    async fn run(self, events: &Events, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        events.forward_events(claimed, self.webhook, stop).await
    }
}

impl Events {
    /// Running it twice repeats at most the events that were not saved, with the same event ids; receivers are told to expect
    /// that. Saving makes another run that began from the same position fail.
    pub(crate) async fn forward_events(&self, claimed: &ClaimedJob, id: WebhookId, stop: &Stop) -> Result<()> {
        let app = claimed.app;
        let Some(webhook) = self.0.store.read(move |tx| webhooks::get(tx, app, id)).await? else {
            return jobs::settle_alone(&self.0.store, claimed).await;
        };
        if !webhook.enabled {
            return self.rest_disabled(claimed, id).await;
        }
        let config = match self.unseal_webhook(app, &webhook) {
            Ok(config) => config,
            Err(error) => return self.rest_unreadable(claimed, id, error).await,
        };
        let position = &webhook.position;
        let (network, now) = (&self.0.network, self.0.clock.now());
        let (hook, kept) = self.0.webhooks.take((app, id), position.version, &config, network, now);
        let reason = webhook.failing.as_ref().map(|(_, reason)| reason.clone());
        let window = match kept {
            Some(window) => window,
            None => Window::new(position.done, &WebhookCursor::from_stored(position.held.as_deref())?, reason),
        };
        let run = Run {
            events: self,
            job: claimed,
            basis: RunBasis {
                webhook: id,
                version: position.version,
                changes: webhook.changes,
                is_failing: webhook.failing.is_some(),
            },
            hook,
            filter: EventFilter::of_kinds(config.types.kinds()),
            config,
            window,
            attempts: AttemptLog::default(),
            is_end: false,
            stop_reason: None,
            n_saving: 0,
            saved: Instant::now(),
        };
        run.go(stop).await
    }
}

impl Run<'_> {
    async fn go(mut self, stop: &Stop) -> Result<()> {
        let (hook, started) = (self.hook.clone(), Instant::now());
        let mut signals = self.events.0.store.signals_of(Signal::Log(self.job.app));
        let mut sending = FuturesUnordered::new();
        let mut reading: Option<BoxFuture<'_, Result<EventPage>>> = None;
        let mut saving: Option<BoxFuture<'_, Result<Saved>>> = None;
        let mut ticks = time::interval(TICK);
        let mut stopping: Option<Instant> = None;
        loop {
            if stop.is_requested() && stopping.get_or_insert_with(Instant::now).elapsed() > GRACE {
                sending.clear();
            }
            if stop.is_requested() || started.elapsed() > SLICE || self.attempts.end.is_some() {
                self.stop_reason.get_or_insert(StopReason::Yield);
            }
            let now = self.events.0.clock.now();
            self.window.end_stranded_waits(now);
            if self.stop_reason.is_none() && self.attempts.letters.len() < CHECKPOINT {
                self.attempts.letters.extend(self.window.make_room(now));
            }
            while let Some(batch) = self.next(sending.len(), now) {
                sending.push(post(&hook, batch, now));
            }
            if self.stop_reason.is_some() {
                reading = None;
            } else if reading.is_none() && !self.is_end && self.window.wanted() > 0 {
                reading = Some(self.read());
            }
            if saving.is_none() && self.is_worth_saving() {
                let snapshot = self.snapshot()?;
                saving = Some(self.save(snapshot, Rest::None));
            }
            if sending.is_empty() && reading.is_none() && saving.is_none() {
                break;
            }
            tokio::select! {
                biased;
                Some(answered) = sending.next(), if !sending.is_empty() => {
                    self.take_answer(answered);
                    while let Some(Some(answered)) = sending.next().now_or_never() {
                        self.take_answer(answered);
                    }
                }
                page = some(&mut reading) => {
                    reading = None;
                    self.take_in(page?).await;
                }
                saved = some(&mut saving) => {
                    saving = None;
                    self.on_saved(saved?);
                }
                _ = signals.next() => self.is_end = false,
                _ = ticks.tick() => {}
            }
        }
        self.end().await
    }

    fn next(&mut self, n_sending: usize, now: UtcMillis) -> Option<Batch> {
        let n_unrecorded = self.window.n_flying() + self.n_saving + self.attempts.n_events();
        if self.stop_reason.is_some() || n_sending >= self.hook.room() || n_unrecorded >= UNRECORDED {
            return None;
        }
        // A webhook that is away is tried with an event that failed before only if there is no other.
        if self.window.is_away() && !self.is_end && self.window.wanted() > 0 {
            return None;
        }
        self.window.next_batch(self.hook.batch_size().min(UNRECORDED - n_unrecorded), now)
    }

    fn read(&self) -> BoxFuture<'static, Result<EventPage>> {
        let (events, app, filter) = (self.events.clone(), self.job.app, self.filter.clone());
        let (after, at_most) = (self.window.read(), self.window.wanted());
        Box::pin(async move { events.read_events(app, after, at_most, &filter).await })
    }

    async fn take_in(&mut self, page: EventPage) {
        self.is_end = page.is_end;
        let records = self.window.take_in(page.events, page.looked, page.missed);
        if records > 0 {
            let (app, webhook) = (self.events.0.tenancy.key_for_log(self.job.app).await, self.basis.webhook);
            tracing::warn!(event = "webhook.missed", app, %webhook, records, "a webhook was behind for so long that events were deleted unsent");
            self.attempts.missed(records, self.window.done(), self.events.0.clock.now());
        }
    }

    fn take_answer(&mut self, Answered { batch, answer, millis }: Answered) {
        let now = self.events.0.clock.now();
        match answer {
            HookAnswer::Taken { status } => {
                for sent in self.window.batch_taken(batch, now) {
                    self.attempts.delivered(sent, status, millis, now);
                }
            }
            HookAnswer::Failed { status, reason, after, is_refusal } => {
                let is_busy = matches!(status, Some(429 | 503));
                let setback = FailedAttempt { reason: &reason, pause: after, is_busy, is_refusal };
                self.take_failure(batch, setback, status, millis, now);
                if let Some(since) = self.window.useless_since(now) {
                    let reason = reason.trim_end_matches('.');
                    let why =
                        format!("It has taken no event since {} (UTC); the last failure: {reason}.", since.to_iso());
                    self.attempts.end.get_or_insert(why);
                }
            }
            HookAnswer::Gone => {
                const WHY: &str = "The webhook answered 410: it wants no more events.";
                let setback = FailedAttempt { reason: WHY, pause: None, is_busy: false, is_refusal: false };
                self.take_failure(batch, setback, Some(410), millis, now);
                self.attempts.end = Some(WHY.to_owned());
            }
        }
    }

    fn take_failure(
        &mut self,
        batch: Batch,
        setback: FailedAttempt<'_>,
        status: Option<u16>,
        millis: u32,
        now: UtcMillis,
    ) {
        let (sent, letter) = self.window.batch_failed(batch, setback, self.config.give_up_after(), now);
        self.attempts.failed(sent, status, setback.reason, millis, now);
        self.attempts.letters.extend(letter);
    }

    fn is_worth_saving(&self) -> bool {
        let is_due = self.attempts.n_events() >= CHECKPOINT || self.saved.elapsed() > SAVE_EVERY;
        is_due && !self.attempts.is_empty() && self.stop_reason.is_none()
    }

    /// Everything since the last one.
    fn snapshot(&mut self) -> Result<Snapshot> {
        let attempts = std::mem::take(&mut self.attempts);
        self.n_saving = attempts.n_events();
        self.saved = Instant::now();
        let stretch = Stretch {
            done: self.window.done(),
            held: Some(self.window.cursor().to_bytes()?),
            n_delivered: attempts.n_delivered,
            n_failed: attempts.n_failed,
            n_given_up: i64::try_from(attempts.letters.len()).unwrap_or(i64::MAX),
            n_missed: attempts.n_missed,
            last_delivered: attempts.last_delivered,
            failing: self.window.failing(),
        };
        Ok(Snapshot { stretch, read: self.window.read(), attempts })
    }

    fn save(&mut self, snapshot: Snapshot, rest: Rest) -> BoxFuture<'static, Result<Saved>> {
        let (events, job, basis) = (self.events.clone(), self.job.clone(), self.basis);
        self.basis.is_failing = snapshot.stretch.failing.is_some();
        Box::pin(async move { events.save_webhook(job, basis, Arc::new(snapshot), rest).await })
    }

    fn on_saved(&mut self, saved: Saved) {
        self.n_saving = 0;
        self.basis.version += 1;
        match saved {
            Saved::GoOn => {}
            Saved::Changed => self.stop_reason = Some(StopReason::Yield),
            Saved::Moved => self.stop_reason = Some(StopReason::Moved),
        }
    }

    async fn end(mut self) -> Result<()> {
        if self.stop_reason == Some(StopReason::Moved) {
            return Ok(());
        }
        let rest = self.rest();
        let snapshot = self.snapshot()?;
        let saved = self.save(snapshot, rest).await?;
        self.on_saved(saved);
        if saved == Saved::GoOn && self.window.n_flying() == 0 && self.window.len() > 0 {
            let (RunBasis { webhook, version, .. }, now) = (self.basis, self.events.0.clock.now());
            self.events.0.webhooks.keep(self.job.app, webhook, version, self.window, now);
        }
        Ok(())
    }

    fn rest(&self) -> Rest {
        match (self.stop_reason, self.window.next_due()) {
            (Some(_), _) => Rest::Now,
            (None, Some(due)) if self.window.has_enough() => Rest::Until(due),
            (None, due) => Rest::UntilGrowth(due),
        }
    }
}

async fn post(hook: &Hook, batch: Batch, now: UtcMillis) -> Answered {
    let begun = Instant::now();
    let answer = hook.post(&batch.events, now).await;
    Answered { batch, answer, millis: u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX) }
}

/// The result of the future; pending forever if there is none.
async fn some<T>(under_way: &mut Option<BoxFuture<'_, T>>) -> T {
    match under_way {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}
