//! The channels that wait for a pipeline: sets by the instant at which they are due, cut into blocks, with one job for each
//! instant.

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

    pub(crate) fn remove(&mut self, channels: &RoaringBitmap) {
        self.channels -= channels;
        self.causes.remove(channels);
    }

    /// Removes the channels that are not among `others`; the rest stays.
    pub(super) fn take_all_but(&mut self, others: &RoaringBitmap) -> Self {
        let channels = &self.channels - others;
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
    /// Lets channels wait for an instant.
    pub(super) fn add_waiting(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        (list, canceling): (WaitingList, Canceling),
        due: UtcMillis,
        Waiting { channels, causes }: &Waiting,
    ) -> Result<()> {
        let key = list.key();
        for (block, channels) in blocks(channels) {
            match canceling {
                Canceling::Possible => spans::add(tx, app, key, due, block.0, &channels)?,
                Canceling::Never => {}
            }
            let before = pipeline_timers::get(tx, app, key, due, block.0)?;
            let mut waiting = before.as_ref().map(Waiting::decode).transpose()?.unwrap_or_default();
            waiting.add(&Waiting { causes: causes.within(&channels), channels });
            let (members, causes) = (codec::encode(&waiting.channels), waiting.causes.encode()?);
            pipeline_timers::put(tx, app, key, &TimerPart { due, block: block.0, members, causes })?;
        }
        jobs::enqueue_as(tx, app, list.job_at(due), due, &FirePipeline { pipeline: list.pipeline, due })
    }

    /// Removes channels from everything they wait for that is due by an instant. A job whose channels have all left finds none.
    pub(super) fn remove_waiting(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        list: WaitingList,
        last: UtcMillis,
        channels: &RoaringBitmap,
    ) -> Result<()> {
        let key = list.key();
        for (block, channels) in blocks(channels) {
            for (within, channels) in spans::with(tx, app, key, last, block.0, &channels)? {
                for part in pipeline_timers::between(tx, app, key, block.0, within)? {
                    leave(tx, app, key, &part, &channels)?;
                }
            }
        }
        Ok(())
    }
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

fn leave(tx: &mut Tx<'_>, app: AppId, key: PipelineId, part: &TimerPart, channels: &RoaringBitmap) -> Result<()> {
    let mut waiting = Waiting::decode(part)?;
    if waiting.channels.is_disjoint(channels) {
        return Ok(());
    }
    waiting.remove(channels);
    if waiting.channels.is_empty() {
        pipeline_timers::delete_part(tx, app, key, part.due, part.block)?;
    } else {
        let (members, causes) = (codec::encode(&waiting.channels), waiting.causes.encode()?);
        pipeline_timers::put(tx, app, key, &TimerPart { due: part.due, block: part.block, members, causes })?;
    }
    Ok(())
}
