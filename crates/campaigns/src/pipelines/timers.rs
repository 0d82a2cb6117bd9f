//! The channels that wait for a pipeline: sets by the instant at which they are due, cut into blocks, with one job for each
//! instant.

use std::collections::{BTreeMap, BTreeSet};

use audience::block::blocks;
use audience::codec;
use base::{Error, Result};
use jobs::JobId;
use model::ids::{AppId, Id, PipelineId};
use model::pipeline::Pipeline;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use sending::Causes;
use store::Tx;
use store::pipeline_timers::{self, TimerPart};
use uuid::Uuid;

use super::cancellation::Cancellation;
use super::fire::FirePipeline;
use super::spans;
use crate::Campaigns;

/// All channels that wait for a pipeline. When a pipeline is enabled again it begins a new list, so that the old one can be
/// deleted in portions while channels wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaitingList {
    pub(super) pipeline: PipelineId,
    pub(super) generation: u32,
}

impl WaitingList {
    pub(super) const fn first(pipeline: PipelineId) -> Self {
        Self { pipeline, generation: 0 }
    }

    pub(super) const fn next(self) -> Self {
        Self { generation: self.generation.saturating_add(1), ..self }
    }

    /// What its rows are stored under: the first list has the id of the pipeline.
    pub(super) fn key(self) -> PipelineId {
        match self.generation {
            0 => self.pipeline,
            generation => Id::from_uuid(Uuid::new_v5(&self.pipeline.uuid(), &generation.to_be_bytes())),
        }
    }

    /// The job of all channels that wait for an instant.
    pub(super) fn job_at(self, due: UtcMillis) -> JobId {
        Id::from_uuid(Uuid::new_v5(&self.key().uuid(), &due.0.to_be_bytes()))
    }
}

/// Whether a pipeline can cancel, so that waiting channels have to be found before they are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Canceling {
    #[default]
    Never,
    Possible,
}

/// Which instants stand in for one, for channels that wait for it already because of another entrance of a journey. A push has a
/// channel once, so that each entrance needs an instant of its own. They are a millisecond apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandIns {
    Before,
    After,
}

/// An instant and those that stand in for it. If a channel waits for all of them, the last of its entrances takes the place of the
/// first: devices may cause any number of events.
const INSTANTS: i64 = 100;

impl StandIns {
    /// The instant itself and those that stand in for it.
    pub(super) fn with(self, due: UtcMillis) -> impl Iterator<Item = UtcMillis> {
        let step = match self {
            StandIns::Before => -1,
            StandIns::After => 1,
        };
        (0..INSTANTS).map(move |n| UtcMillis(due.0.saturating_add(n * step)))
    }

    fn span(self, due: UtcMillis) -> (UtcMillis, UtcMillis) {
        match self {
            StandIns::Before => (UtcMillis(due.0.saturating_sub(INSTANTS)), due),
            StandIns::After => (due, UtcMillis(due.0.saturating_add(INSTANTS))),
        }
    }
}

/// Channels that wait, and the causes of some of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Waiting {
    pub(super) channels: RoaringBitmap,
    pub(super) causes: Causes,
}

impl Waiting {
    pub(super) fn add(&mut self, others: &Waiting) {
        self.channels |= &others.channels;
        self.causes.add(&others.causes);
    }

    /// Adds channels, but for those that are there because of another entrance of a journey, which it returns.
    pub(super) fn join(&mut self, mut others: Waiting) -> Self {
        let common = &self.channels & &others.channels;
        let is_apart = |number: &u32| self.causes.entrance(*number) != others.causes.entrance(*number);
        let apart: RoaringBitmap = common.iter().filter(is_apart).collect();
        let apart = others.take(apart);
        self.add(&others);
        apart
    }

    fn remove(&mut self, channels: &RoaringBitmap) {
        self.channels -= channels;
        self.causes.remove(channels);
    }

    pub(super) fn cancel(&mut self, cancellation: &Cancellation) {
        let canceled = cancellation.among(&self.channels, |number| self.causes.entrance(number));
        if !canceled.is_empty() {
            self.remove(&canceled);
        }
    }

    /// Removes the channels that are not among `others`; the rest stays.
    pub(super) fn take_all_but(&mut self, others: &RoaringBitmap) -> Self {
        self.take(&self.channels - others)
    }

    /// Removes some of the channels.
    fn take(&mut self, channels: RoaringBitmap) -> Self {
        let causes = self.causes.within(&channels);
        self.remove(&channels);
        Self { channels, causes }
    }

    fn decode(part: &TimerPart) -> Result<Self> {
        let channels = codec::decode(&part.members).map_err(Error::internal)?;
        Ok(Self { channels, causes: Causes::decode(part.causes.as_deref())? })
    }
}

impl Canceling {
    pub(super) fn of(pipeline: &Pipeline) -> Self {
        if pipeline.can_cancel() { Canceling::Possible } else { Canceling::Never }
    }
}

impl Campaigns {
    /// Lets channels wait for an instant, or for one that stands in for it.
    pub(super) fn add_waiting(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        (list, canceling): (WaitingList, Canceling),
        (due, stand_ins): (UtcMillis, StandIns),
        Waiting { channels, causes }: &Waiting,
    ) -> Result<()> {
        let key = list.key();
        let mut instants = BTreeSet::new();
        for (block, channels) in blocks(channels) {
            let new = Waiting { causes: causes.within(&channels), channels };
            for (due, waiting) in joined(tx, app, (key, block.0), (due, stand_ins), new)? {
                match canceling {
                    Canceling::Possible => spans::add(tx, app, key, due, block.0, &waiting.channels)?,
                    Canceling::Never => {}
                }
                let (members, causes) = (codec::encode(&waiting.channels), waiting.causes.encode()?);
                pipeline_timers::put(tx, app, key, &TimerPart { due, block: block.0, members, causes })?;
                instants.insert(due);
            }
        }
        for due in instants {
            jobs::enqueue_as(tx, app, list.job_at(due), due, &FirePipeline { pipeline: list.pipeline, due })?;
        }
        Ok(())
    }

    /// Removes channels from what they wait for that is due by an instant and canceled. A job whose channels have all left finds
    /// none.
    pub(super) fn remove_waiting(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        list: WaitingList,
        last: UtcMillis,
        cancellation: &Cancellation,
    ) -> Result<()> {
        let key = list.key();
        for (block, channels) in blocks(&cancellation.channels()) {
            spans::leave(tx, app, key, last, (block.0, &channels), |tx, within| {
                let mut left = RoaringBitmap::new();
                for part in pipeline_timers::between(tx, app, key, block.0, within)? {
                    left |= leave(tx, app, key, &part, cancellation)?;
                }
                Ok(left)
            })?;
        }
        Ok(())
    }
}

/// What waits in a block for an instant and those that stand in for it once channels have joined, as far as that changes.
fn joined(
    tx: &mut Tx<'_>,
    app: AppId,
    (key, block): (PipelineId, u16),
    (due, stand_ins): (UtcMillis, StandIns),
    new: Waiting,
) -> Result<BTreeMap<UtcMillis, Waiting>> {
    let before = pipeline_timers::get(tx, app, key, due, block)?;
    let mut there = before.as_ref().map(Waiting::decode).transpose()?.unwrap_or_default();
    let mut apart = there.join(new);
    let mut joined = BTreeMap::from([(due, there)]);
    if apart.channels.is_empty() {
        return Ok(joined);
    }
    let parts = pipeline_timers::between(tx, app, key, block, stand_ins.span(due))?;
    let decode = |part: &TimerPart| -> Result<_> { Ok((part.due, Waiting::decode(part)?)) };
    let mut parts: BTreeMap<UtcMillis, Waiting> = parts.iter().map(decode).collect::<Result<_>>()?;
    for instant in stand_ins.with(due).skip(1) {
        let mut there = parts.remove(&instant).unwrap_or_default();
        apart = there.join(apart);
        joined.insert(instant, there);
        if apart.channels.is_empty() {
            return Ok(joined);
        }
    }
    joined.entry(due).or_default().add(&apart);
    Ok(joined)
}

/// The channels that wait for an instant.
pub(super) fn waiting_at(tx: &mut Tx<'_>, app: AppId, list: WaitingList, due: UtcMillis) -> Result<RoaringBitmap> {
    let mut channels = RoaringBitmap::new();
    for part in pipeline_timers::at(tx, app, list.key(), due)? {
        channels |= codec::decode(&part.members).map_err(Error::internal)?;
    }
    Ok(channels)
}

/// Removes and returns the channels that wait for an instant.
pub(super) fn take_waiting(tx: &mut Tx<'_>, app: AppId, list: WaitingList, due: UtcMillis) -> Result<Waiting> {
    let mut waiting = Waiting::default();
    for part in pipeline_timers::take(tx, app, list.key(), due)? {
        waiting.add(&Waiting::decode(&part)?);
    }
    spans::forget_past(tx, app, list.key())?;
    Ok(waiting)
}

/// Removes the channels that stop waiting, and returns those that are left.
fn leave(
    tx: &mut Tx<'_>,
    app: AppId,
    key: PipelineId,
    part: &TimerPart,
    cancellation: &Cancellation,
) -> Result<RoaringBitmap> {
    let mut waiting = Waiting::decode(part)?;
    let n_before = waiting.channels.len();
    waiting.cancel(cancellation);
    if waiting.channels.len() == n_before {
        return Ok(waiting.channels);
    }
    if waiting.channels.is_empty() {
        pipeline_timers::delete_part(tx, app, key, part.due, part.block)?;
    } else {
        let (members, causes) = (codec::encode(&waiting.channels), waiting.causes.encode()?);
        pipeline_timers::put(tx, app, key, &TimerPart { due: part.due, block: part.block, members, causes })?;
    }
    Ok(waiting.channels)
}
