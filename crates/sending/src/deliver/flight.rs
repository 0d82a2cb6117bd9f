//! One run of a block: a steady stream of messages, with recipients read ahead and checkpoints written alongside.

mod chores;
mod ending;
mod landing;
mod loading;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use base::{Error, Result};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jobs::Stop;
use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::time::UtcMillis;

use super::block::{Look, SendingBlock};
use super::courier::{Courier, To};
use super::feed::Feed;
use super::outcomes::{Ledger, OF_BATCHES, OF_MESSAGES};
use super::render::Renderer;
use crate::Sending;
use crate::push::SendPermission;
use chores::{Chores, Event};
use loading::Ready;

/// The most deliveries of a block that are under way or not yet recorded: at most this many are repeated after a crash.
const UNRECORDED: usize = 4096;
/// This many are worth a checkpoint; the rest of the above is sent meanwhile.
const CHECKPOINT: usize = UNRECORDED / 2;
/// How often a block has its platform paused for objections to devices, which may be its own devices only.
const DOUBTED_TRIES: u32 = 3;
/// Answers taken in before new messages go out.
const LANDINGS: usize = 64;

/// The constants of a run.
#[derive(Clone, Copy)]
pub(super) struct Course<'a> {
    pub(super) sending: &'a Sending,
    pub(super) app: AppId,
    pub(super) push: PushId,
    pub(super) device_type: &'a DeviceType,
    pub(super) expires: Option<UtcMillis>,
    pub(super) courier: &'a Courier,
    pub(super) stop: &'a Stop,
}

pub(super) struct Flight<'a> {
    course: Course<'a>,
    renderer: Renderer<'a>,
    sending: SendingBlock,
    feed: Feed,
    /// The messages for the provider of the platform, and those for Amazon: neither takes room from the other. Recipients read
    /// ahead are counted for both together, so a slow one can still hold up the reading of the block.
    own: Queue<'a>,
    by_amazon: Queue<'a>,
    ledger: Ledger,
    /// Recipients in both queues.
    n_ready: usize,
    /// Messages under way.
    n_flying: usize,
    /// Messages that the checkpoint in work records.
    n_saving: usize,
    /// Whether this run has sent anything, and whether anything was taken.
    has_sent: bool,
    has_served: bool,
    /// Looks at the push since the last checkpoint.
    n_looks: u32,
    probe: Probe,
    /// Whether the provider is known to be down, and nothing has shown otherwise.
    is_down: bool,
    halt: Option<Halt>,
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
}

/// A paused platform is tried with one message first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// The platform is not paused, or no longer.
    No,
    Waiting,
    /// The provider took it.
    Passed,
}

/// How a run treats its platform, chosen by what is known of it at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunMode {
    Normal,
    /// The provider refused us, and this run tries whether it still does.
    Probing,
    /// The provider took nothing the last time.
    AfterOutage,
}

/// Why nothing more is sent in this run.
#[derive(Debug)]
enum Halt {
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
    /// The provider objects to most devices, says this reason. It may be us, and the platform is to be paused.
    Doubted(String),
    /// An error of our own: deliveries are recorded before it is returned, and the block is tried again.
    Broken(Error),
    /// The probe of a paused platform failed.
    Unproven,
}

impl<'a> Flight<'a> {
    pub(super) fn new(
        course: Course<'a>,
        renderer: Renderer<'a>,
        sending: SendingBlock,
        feed: Feed,
        mode: RunMode,
    ) -> Self {
        Self {
            course,
            renderer,
            sending,
            feed,
            own: Queue::default(),
            by_amazon: Queue::default(),
            ledger: Ledger::default(),
            n_ready: 0,
            n_flying: 0,
            n_saving: 0,
            has_sent: false,
            has_served: false,
            n_looks: 0,
            probe: if mode == RunMode::Probing { Probe::Waiting } else { Probe::No },
            is_down: mode == RunMode::AfterOutage,
            halt: None,
            amazon_refusal: None,
        }
    }

    pub(super) async fn run(mut self) -> Result<()> {
        let Course { sending, push, .. } = self.course;
        let mut in_flight = FuturesUnordered::new();
        let mut chores = Chores::new();
        loop {
            let now = sending.0.clock.now();
            self.look_around(now);
            while let Some(parcel) = self.next_parcel(now) {
                in_flight.push(parcel.carry(sending, push, now));
            }
            self.begin_chores(&mut chores, now);
            let is_through = self.halt.is_some() || (self.n_ready == 0 && self.feed.is_empty());
            if is_through && in_flight.is_empty() && chores.reading.is_none() {
                break;
            }
            let event = poll_fn(|cx| {
                let mut n_landed = 0;
                while n_landed < LANDINGS
                    && let Poll::Ready(Some(landed)) = in_flight.poll_next_unpin(cx)
                {
                    self.land(landed);
                    n_landed += 1;
                }
                if n_landed > 0 { Poll::Ready(Event::Landed) } else { chores.poll(cx) }
            });
            match event.await {
                Event::Landed if self.probe == Probe::Passed => {
                    self.probe = Probe::No;
                    self.resume().await;
                }
                Event::Landed if self.is_down && self.ledger.n_served() > 0 => {
                    self.is_down = false;
                    let ended = sending.end_outage(self.course.app, self.course.device_type).await;
                    ended.unwrap_or_else(|error| self.break_off(error));
                }
                Event::Landed => {}
                Event::Read(Ok(chunk)) => self.take_in(chunk),
                Event::Read(Err(error)) | Event::Looked(Err(error)) => self.break_off(error),
                Event::Saved(look) => {
                    self.n_saving = 0;
                    self.heed(look?);
                }
                Event::Looked(Ok(look)) => self.heed(look),
                Event::Tick => self.n_looks += 1,
            }
        }
        if let Some(saving) = chores.saving {
            self.heed(saving.await?);
        }
        self.end().await
    }

    /// Notices how much may be sent now, and what ends a run from outside.
    fn look_around(&mut self, now: UtcMillis) {
        self.own.n_allowed = self.requests_allowed(To::Own);
        self.by_amazon.n_allowed = self.requests_allowed(To::Amazon);
        if self.halt.is_some() {
            return;
        }
        let is_throttled = match self.course.courier {
            Courier::Provider(provider) => self.ledger.says_wait(OF_MESSAGES) || provider.route.quiet_until() > now,
            Courier::Open(_) => self.ledger.says_wait(OF_BATCHES),
            Courier::Sandbox | Courier::Missing { .. } => false,
        };
        if self.course.expires.is_some_and(|expires| expires <= now) {
            self.halt = Some(Halt::Expired);
        } else if self.course.stop.is_requested() {
            self.halt = Some(Halt::Stopping);
        } else if is_throttled {
            self.halt = Some(Halt::Throttled);
        }
    }

    fn heed(&mut self, Look { permission, is_held }: Look) {
        match permission {
            SendPermission::Allowed if is_held => {
                self.halt.get_or_insert(Halt::Held);
            }
            SendPermission::Allowed => {}
            SendPermission::Paused => {
                self.halt.get_or_insert(Halt::Paused);
            }
            // A run that broke off leaves it to the next one to notice that its push has ended.
            SendPermission::Ended if matches!(self.halt, Some(Halt::Broken(_))) => {}
            SendPermission::Ended => self.halt = Some(Halt::Over),
        }
    }

    /// The provider took a message: all blocks may send again.
    async fn resume(&mut self) {
        if let Err(error) = self.course.sending.resume_platform(self.course.app, self.course.device_type).await {
            self.break_off(error);
        }
    }

    fn break_off(&mut self, error: Error) {
        self.halt = Some(Halt::Broken(error));
    }
}
