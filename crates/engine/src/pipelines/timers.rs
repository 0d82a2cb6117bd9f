//! Who waits for a pipeline: sets of channels by the instant at which they are due, cut into blocks, with one job for each instant.

use audience::block::blocks;
use audience::codec;
use model::ids::{AppId, Id, PipelineId};
use model::pipeline::Pipeline;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::jobs::JobId;
use store::pipeline_timers::{self, TimerPart};
use uuid::Uuid;

use super::spans;
use crate::causes::Causes;
use crate::job::Job;
use crate::{Engine, Error, Result};

/// Whether a pipeline can cancel, so that waiting channels have to be found before they are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Canceling {
    #[default]
    Never,
    Possible,
}

/// Channels that wait, and what set some of them off.
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

    pub(super) fn remove(&mut self, channels: &RoaringBitmap) {
        self.channels -= channels;
        self.causes.remove(channels);
    }

    /// Takes out the channels that are not among `others`; the rest stays.
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
        if pipeline.cancellation.is_empty() { Canceling::Never } else { Canceling::Possible }
    }
}

impl Engine {
    /// Lets channels wait for an instant.
    pub(super) fn add_waiting(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        (pipeline, canceling): (PipelineId, Canceling),
        due: UtcMillis,
        Waiting { channels, causes }: &Waiting,
    ) -> Result<()> {
        for (block, channels) in blocks(channels) {
            match canceling {
                Canceling::Possible => spans::add(tx, app, pipeline, due, block.0, &channels)?,
                Canceling::Never => {}
            }
            let before = pipeline_timers::get(tx, app, pipeline, due, block.0)?;
            let mut waiting = before.as_ref().map(Waiting::decode).transpose()?.unwrap_or_default();
            waiting.add(&Waiting { causes: causes.within(&channels), channels });
            let (members, causes) = (codec::encode(&waiting.channels), waiting.causes.encode()?);
            pipeline_timers::put(tx, app, pipeline, &TimerPart { due, block: block.0, members, causes })?;
        }
        self.enqueue_as(tx, app, job_of(pipeline, due), due, &Job::FirePipeline { pipeline, due })
    }

    /// Takes channels out of everything they wait for that is due by an instant. A job whose
    /// channels have all left finds nobody.
    pub(super) fn remove_waiting(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        pipeline: PipelineId,
        last: UtcMillis,
        channels: &RoaringBitmap,
    ) -> Result<()> {
        for (block, channels) in blocks(channels) {
            for (within, channels) in spans::with(tx, app, pipeline, last, block.0, &channels)? {
                for part in pipeline_timers::between(tx, app, pipeline, block.0, within)? {
                    leave(tx, app, pipeline, &part, &channels)?;
                }
            }
        }
        Ok(())
    }
}

/// Who waits for an instant.
pub(super) fn waiting_at(tx: &mut Tx<'_>, app: AppId, id: PipelineId, due: UtcMillis) -> Result<RoaringBitmap> {
    let mut channels = RoaringBitmap::new();
    for part in pipeline_timers::at(tx, app, id, due)? {
        channels |= codec::decode(&part.members).map_err(Error::internal)?;
    }
    Ok(channels)
}

/// Takes everybody out who has waited for an instant.
pub(super) fn take_waiting(tx: &mut Tx<'_>, app: AppId, id: PipelineId, due: UtcMillis) -> Result<Waiting> {
    let mut waiting = Waiting::default();
    for part in pipeline_timers::take(tx, app, id, due)? {
        waiting.add(&Waiting::decode(&part)?);
    }
    spans::forget_past(tx, app, id)?;
    Ok(waiting)
}

fn leave(tx: &mut Tx<'_>, app: AppId, id: PipelineId, part: &TimerPart, channels: &RoaringBitmap) -> Result<()> {
    let mut waiting = Waiting::decode(part)?;
    if waiting.channels.is_disjoint(channels) {
        return Ok(());
    }
    waiting.remove(channels);
    if waiting.channels.is_empty() {
        pipeline_timers::delete_part(tx, app, id, part.due, part.block)?;
    } else {
        let (members, causes) = (codec::encode(&waiting.channels), waiting.causes.encode()?);
        pipeline_timers::put(tx, app, id, &TimerPart { due: part.due, block: part.block, members, causes })?;
    }
    Ok(())
}

/// All who wait for an instant do so with one job.
fn job_of(pipeline: PipelineId, due: UtcMillis) -> JobId {
    Id::from_uuid(Uuid::new_v5(&pipeline.uuid(), &due.0.to_be_bytes()))
}
