//! One run of a block: a steady stream of messages, with recipients read ahead and checkpoints written alongside.

mod alongside;
mod answers;
mod ending;
mod queueing;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};

use base::{Error, Result};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jobs::Stop;
use model::device_type::DeviceType;
use model::ids::{AppId, BulkId, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;

use super::block::{Look, SendingBlock};
use super::feed::Feed;
use super::outcomes::{OF_BATCHES, OF_MESSAGES, OutcomeTally};
use super::render::{FILLING_AT_ONCE, Renderer};
use super::transport::{Transport, UnifiedPush};
use crate::Sending;
use crate::health::RefusalOf;
use crate::push::SendPermission;
use alongside::{BackgroundWork, RunEvent};
use queueing::Ready;

/// The most deliveries of a block that are under way or not yet recorded: at most this many are repeated after a crash.
const UNRECORDED: usize = 4096;
/// This many are worth a checkpoint; the rest of the above is sent meanwhile.
const CHECKPOINT: usize = UNRECORDED / 2;
/// How often a block has its platform paused for refused addresses, which may be stale addresses of its own only.
const DOUBTED_TRIES: u32 = 3;
/// A run turns at least twice a second. If it has not for this long, the process stood still, its lease may have run out, and
/// another node may be sending the rest.
const STANDSTILL: Duration = Duration::from_secs(10);
/// Answers taken in before new messages go out.
const ANSWERS_AT_ONCE: usize = 64;

/// The constants of a run.
#[derive(Clone, Copy)]
pub(super) struct RunContext<'a> {
    pub(super) sending: &'a Sending,
    pub(super) app: AppId,
    pub(super) push: PushId,
    /// The file with the recipients of the push, if they are in one.
    pub(super) upload: Option<BulkId>,
    pub(super) device_type: &'a DeviceType,
    pub(super) sent_at: UtcMillis,
    pub(super) expires: Option<UtcMillis>,
    pub(super) transport: &'a Transport,
    pub(super) unified_push: Option<&'a UnifiedPush>,
    pub(super) stop: &'a Stop,
}

pub(super) struct SendRun<'a> {
    context: RunContext<'a>,
    renderer: Renderer<'a>,
    block: SendingBlock,
    feed: Feed,
    /// Recipients that get over live connections what the sandbox keeps.
    live_beside: RoaringBitmap,
    /// The messages for the provider of the platform by lane, those for Amazon, and those for phones by the lanes of their push
    /// services: none takes room from another.
    own: Vec<Queue<'a>>,
    by_amazon: Queue<'a>,
    to_phones: Vec<Queue<'a>>,
    tally: OutcomeTally,
    /// Recipients in all queues.
    n_ready: usize,
    /// Messages under way.
    n_in_flight: usize,
    /// Messages that the checkpoint in work records.
    n_saving: usize,
    /// Whether this run has sent anything, and whether anything was taken.
    has_sent: bool,
    has_served: bool,
    /// Looks at the push since the last checkpoint.
    n_looks: u32,
    /// When the current turn began.
    turn: Instant,
    probe: Probe,
    /// Whether the provider is known to be down, and nothing has shown otherwise.
    is_down: bool,
    stop_reason: Option<StopReason>,
    /// Why Amazon refuses us, which reaches some devices of another platform.
    amazon_refusal: Option<String>,
}

#[derive(Default)]
struct Queue<'a> {
    /// The requests that can be sent next.
    ready: VecDeque<Ready<'a>>,
    /// Requests under way.
    n_requests: usize,
    /// Requests that may be under way now.
    n_allowed: usize,
    /// When an answer came, or a request began to wait for one alone.
    moved: Option<Instant>,
}

/// A paused platform is tried with one message first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// The platform is not paused, or no longer.
    No,
    Waiting(RefusalOf),
    /// The provider took it.
    Passed,
}

/// How a run treats its platform, chosen by what is known of it at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunMode {
    Normal,
    /// The provider refused us, and this run tries whether it still does.
    Probing(RefusalOf),
    /// The provider took nothing the last time.
    AfterOutage,
}

/// Why nothing more is sent in this run.
#[derive(Debug)]
enum StopReason {
    Stopping,
    Paused,
    /// The operator holds the platform.
    Held,
    Over,
    Expired,
    /// The platform asked for time, or takes nothing at all.
    Throttled,
    /// The provider refuses us, says this reason: the platform is to be paused.
    Refused(String),
    /// The provider refuses many addresses that took messages before, says this reason. It must be us, and the platform is to be
    /// paused.
    Doubted(String),
    /// An error of our own: deliveries are recorded before it is returned, and the block is tried again.
    Broken(Error),
    /// The probe of a paused platform failed.
    Unproven,
}

impl<'a> SendRun<'a> {
    pub(super) fn new(
        context: RunContext<'a>,
        renderer: Renderer<'a>,
        block: SendingBlock,
        feed: Feed,
        live_beside: RoaringBitmap,
        mode: RunMode,
    ) -> Self {
        let n_lanes = match context.transport {
            Transport::Provider(provider) => provider.n_lanes(),
            Transport::Open(_) | Transport::Sandbox | Transport::Missing { .. } => 1,
        };
        let n_phone_lanes = context.unified_push.map_or(0, UnifiedPush::n_lanes);
        Self {
            context,
            renderer,
            block,
            feed,
            live_beside,
            own: (0..n_lanes).map(|_| Queue::default()).collect(),
            by_amazon: Queue::default(),
            to_phones: (0..n_phone_lanes).map(|_| Queue::default()).collect(),
            tally: OutcomeTally::default(),
            n_ready: 0,
            n_in_flight: 0,
            n_saving: 0,
            has_sent: false,
            has_served: false,
            n_looks: 0,
            turn: Instant::now(),
            probe: match mode {
                RunMode::Probing(refusal) => Probe::Waiting(refusal),
                RunMode::Normal | RunMode::AfterOutage => Probe::No,
            },
            is_down: mode == RunMode::AfterOutage,
            stop_reason: None,
            amazon_refusal: None,
        }
    }

    pub(super) async fn run(mut self) -> Result<()> {
        let RunContext { sending, push, .. } = self.context;
        let mut in_flight = FuturesUnordered::new();
        let mut alongside = BackgroundWork::new();
        self.turn = Instant::now();
        loop {
            let now = sending.0.clock.now();
            if std::mem::replace(&mut self.turn, Instant::now()).elapsed() >= STANDSTILL {
                self.break_off(Error::LeaseLost);
            }
            self.check_limits(now);
            while let Some(request) = self.next_request(now) {
                in_flight.push(request.send(sending, push, now));
            }
            self.begin_alongside(&mut alongside, now);
            if self.feed.is_empty() && alongside.reading.is_none() {
                self.defer_stalled();
            }
            let is_through = self.stop_reason.is_some() || (self.n_ready == 0 && self.feed.is_empty());
            if is_through && in_flight.is_empty() && alongside.reading.is_none() {
                break;
            }
            let is_turn_over = self.is_turn_over();
            if is_turn_over {
                tokio::task::yield_now().await;
            }
            let event = poll_fn(|cx| {
                let mut n_answered = 0;
                while n_answered < ANSWERS_AT_ONCE
                    && let Poll::Ready(Some(answered)) = in_flight.poll_next_unpin(cx)
                {
                    self.take_answer(answered);
                    n_answered += 1;
                }
                if n_answered > 0 {
                    return Poll::Ready(RunEvent::Answered);
                }
                match alongside.poll(cx) {
                    Poll::Pending if is_turn_over => Poll::Ready(RunEvent::TurnOver),
                    poll => poll,
                }
            });
            match event.await {
                RunEvent::Answered if self.probe == Probe::Passed => {
                    self.probe = Probe::No;
                    self.resume().await;
                }
                RunEvent::Answered if self.is_down && self.tally.n_served() > 0 => {
                    self.is_down = false;
                    let ended = sending.end_outage(self.context.app, self.context.device_type).await;
                    ended.unwrap_or_else(|error| self.break_off(error));
                }
                RunEvent::Answered | RunEvent::TurnOver => {}
                RunEvent::Read(Ok(chunk)) => self.take_in(chunk),
                RunEvent::Read(Err(error)) | RunEvent::Looked(Err(error)) => self.break_off(error),
                RunEvent::Saved(look) => {
                    self.n_saving = 0;
                    self.on_look(look?);
                }
                RunEvent::Looked(Ok(look)) => self.on_look(look),
                RunEvent::Tick => self.n_looks += 1,
            }
        }
        if let Some(saving) = alongside.saving {
            self.on_look(saving.await?);
        }
        self.end().await
    }

    /// Whether texts of recipients were filled in for so long that other work has to have its turn.
    fn is_turn_over(&self) -> bool {
        self.renderer.is_personal() && self.turn.elapsed() >= FILLING_AT_ONCE
    }

    /// Notices how much may be sent now, and what ends a run from outside.
    fn check_limits(&mut self, now: UtcMillis) {
        for to in self.receivers() {
            self.queue(to).n_allowed = self.requests_allowed(to);
        }
        if self.stop_reason.is_some() {
            return;
        }
        let is_throttled = match self.context.transport {
            Transport::Provider(provider) => self.tally.says_wait(OF_MESSAGES) || provider.route.quiet_until(now) > now,
            Transport::Open(_) => self.tally.says_wait(OF_BATCHES),
            Transport::Sandbox | Transport::Missing { .. } => false,
        };
        if self.context.expires.is_some_and(|expires| expires <= now) {
            self.stop_reason = Some(StopReason::Expired);
        } else if self.context.stop.is_requested() {
            self.stop_reason = Some(StopReason::Stopping);
        } else if is_throttled {
            self.stop_reason = Some(StopReason::Throttled);
        }
    }

    fn on_look(&mut self, Look { permission, is_held }: Look) {
        match permission {
            SendPermission::Allowed if is_held => {
                self.stop_reason.get_or_insert(StopReason::Held);
            }
            SendPermission::Allowed => {}
            SendPermission::Paused => {
                self.stop_reason.get_or_insert(StopReason::Paused);
            }
            // A run that broke off leaves it to the next one to notice that its push has ended.
            SendPermission::Ended if matches!(self.stop_reason, Some(StopReason::Broken(_))) => {}
            SendPermission::Ended => self.stop_reason = Some(StopReason::Over),
        }
    }

    /// The provider took a message: all blocks may send again.
    async fn resume(&mut self) {
        if let Err(error) = self.context.sending.resume_platform(self.context.app, self.context.device_type).await {
            self.break_off(error);
        }
    }

    fn break_off(&mut self, error: Error) {
        self.stop_reason = Some(StopReason::Broken(error));
    }
}
