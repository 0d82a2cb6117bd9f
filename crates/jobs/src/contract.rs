//! What a job is: its name, its payload, where it waits, and how it runs.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use base::{Error, Result};
use model::ids::PushId;
use model::time::LONGEST_WAIT;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::jobs::ClaimedJob;

use crate::Stop;
use crate::queue::is_of_many;

/// A kind of durable work. The value is the payload, which is stored with the job.
///
/// A job is written in the transaction that causes it ([`crate::enqueue`]) and settled in the one that completes its work. A worker
/// that dies leaves its jobs to others, so every job is safe to run twice, and `run` says why.
pub trait Job: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The room that does the work.
    type Room: Clone + Send + Sync + 'static;

    /// For operators, in logs and metrics. It is stored with the job and tells the worker what to run: never change one.
    const NAME: &'static str;

    /// What the job spends its time with.
    const SLOTS: SlotKind = SlotKind::Quick;

    /// Whether the calendar decides what the job does, so that it waits while the clock is in doubt.
    const IS_TIMED: bool = false;

    /// How long the job waits at most before it runs again, or `None` if it waits for a time that somebody has chosen. A wait that
    /// is longer was set by a clock that was wrong, and ends when the clock is put right, so running it early has to be harmless.
    const LONGEST_WAIT: Option<Duration> = Some(LONGEST_WAIT);

    /// Jobs of one lane of an app share a few slots and can be canceled together.
    fn lane(&self) -> String {
        Self::NAME.to_owned()
    }

    /// The push that this job helps to send; all jobs of a push are woken together.
    fn push(&self) -> Option<PushId> {
        None
    }

    /// The lease of the job is renewed while this runs. It ends by settling, postponing or parking the job.
    fn run(self, room: &Self::Room, claimed: &ClaimedJob, stop: &Stop) -> impl Future<Output = Result<()>> + Send;
}

/// What a job in a slot spends its time with. Each kind has slots of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SlotKind {
    /// Waiting for platforms.
    Delivery,
    /// Waiting for webhooks.
    Forwarding,
    /// Work that waits for no other server.
    Quick,
}

impl SlotKind {
    /// Whether a job of this turn may keep a thread busy for long: it sends to many, or feeds a webhook for as long as there is
    /// something to tell.
    pub(crate) const fn is_long(self, turn: u32) -> bool {
        match self {
            SlotKind::Delivery => is_of_many(turn),
            SlotKind::Forwarding => true,
            SlotKind::Quick => false,
        }
    }
}

type JobFuture<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;
type Run = dyn for<'a> Fn(&'a ClaimedJob, &'a Stop) -> JobFuture<'a> + Send + Sync;

/// A kind of job and the room that runs it.
pub struct Kind {
    name: &'static str,
    slots: SlotKind,
    is_timed: bool,
    longest_wait: Option<Duration>,
    run: Box<Run>,
}

impl Kind {
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub fn of<J: Job>(room: &J::Room) -> Self {
        let room = room.clone();
        Self {
            name: J::NAME,
            slots: J::SLOTS,
            is_timed: J::IS_TIMED,
            longest_wait: J::LONGEST_WAIT,
            run: Box::new(move |claimed, stop| run::<J>(&room, claimed, stop)),
        }
    }
}

fn run<'a, J: Job>(room: &J::Room, claimed: &'a ClaimedJob, stop: &'a Stop) -> JobFuture<'a> {
    let room = room.clone();
    Box::pin(async move {
        let job: J = postcard::from_bytes(&claimed.payload).map_err(Error::internal)?;
        job.run(&room, claimed, stop).await
    })
}

/// All kinds that this process knows, by name.
pub(crate) struct Kinds(BTreeMap<&'static str, Kind>);

impl Kinds {
    pub(crate) fn new(kinds: impl IntoIterator<Item = Kind>) -> Self {
        let mut by_name = BTreeMap::new();
        for kind in kinds {
            let name = kind.name;
            assert!(by_name.insert(name, kind).is_none(), "two kinds of jobs are called {name}");
        }
        Self(by_name)
    }

    /// A job of a kind that only a later version knows fails at once, which is quick.
    pub(crate) fn slots(&self, name: &str) -> SlotKind {
        self.0.get(name).map_or(SlotKind::Quick, |kind| kind.slots)
    }

    pub(crate) fn is_timed(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|kind| kind.is_timed)
    }

    /// The kinds that wait for no time that somebody has chosen, by how long they wait at most.
    pub(crate) fn longest_waits(&self) -> BTreeMap<Duration, Vec<&'static str>> {
        let mut waits = BTreeMap::<Duration, Vec<&'static str>>::new();
        for kind in self.0.values() {
            if let Some(wait) = kind.longest_wait {
                waits.entry(wait).or_default().push(kind.name);
            }
        }
        waits
    }

    pub(crate) async fn run(&self, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        match self.0.get(claimed.kind.as_str()) {
            Some(kind) => (kind.run)(claimed, stop).await,
            None => Err(Error::internal(format!("this version has no job '{}'", claimed.kind))),
        }
    }
}
