//! How often channels have been sent to, as far as a pipeline has a limit. Time is cut into slices (`rates/slices.rs`), and a
//! message sent in a slice counts as sent at its beginning.

mod layers;
mod slices;

use audience::block::{Block, blocks};
use audience::codec;
use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, Id, PipelineId};
use model::limits;
use model::pipeline::{Rate, RateWindow};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::pipeline_sent::{self, SentKey};
use uuid::Uuid;

use crate::Campaigns;
use layers::Layers;
use slices::{EVER, decode, is_endless, oldest_slice, portions, put_together, slice, slices_within};

/// Stands for all pipelines of an app together.
pub(super) const ALL_PIPELINES: PipelineId = Id::from_uuid(Uuid::nil());

/// Parts of sets that one transaction forgets, during which nothing else of the app is written.
const FORGOTTEN_AT_ONCE: u32 = 1_000;

/// The channels that can be sent to without exceeding any of the rates.
pub(super) fn with_room(
    tx: &mut Tx<'_>,
    app: AppId,
    (pipeline, rates): (PipelineId, &[Rate]),
    channels: RoaringBitmap,
    now: UtcMillis,
) -> Result<RoaringBitmap> {
    if rates.is_empty() {
        return Ok(channels);
    }
    let mut with_room = RoaringBitmap::new();
    for part in blocks(&channels) {
        with_room |= with_room_in_block(tx, app, (pipeline, rates), part, now)?;
    }
    Ok(with_room)
}

/// What rates look back to is read once for all of them, and no further than there are channels with room: other writes wait for
/// it.
fn with_room_in_block(
    tx: &mut Tx<'_>,
    app: AppId,
    (pipeline, rates): (PipelineId, &[Rate]),
    (block, channels): (Block, RoaringBitmap),
    now: UtcMillis,
) -> Result<RoaringBitmap> {
    let mut left = channels;
    let mut tallies: Vec<Tally> = rates.iter().map(|rate| Tally::new(*rate, now)).collect();
    for portion in portions(rates, now) {
        pipeline_sent::visit(tx, app, pipeline, portion, block.0, |slice, sent| {
            let sent = decode(sent)? & &left;
            for tally in tallies.iter_mut().filter(|tally| tally.looks_at(slice)) {
                tally.layers.add(sent.clone(), tally.enough);
            }
            Ok(())
        })?;
        for full in tallies.iter().filter_map(Tally::full) {
            left -= full;
        }
        if left.is_empty() {
            break;
        }
    }
    Ok(left)
}

/// Stores that channels are sent a message, for as long as the rates need it, and forgets older sends.
pub(super) fn note_sent(
    tx: &mut Tx<'_>,
    app: AppId,
    (pipeline, rates): (PipelineId, &[Rate]),
    channels: &RoaringBitmap,
    now: UtcMillis,
) -> Result<()> {
    let (is_ever, oldest) = (rates.iter().any(is_endless), oldest_slice(rates, now));
    for (block, channels) in blocks(channels) {
        let key = |slice| SentKey { pipeline, slice, layer: 0, block: block.0 };
        if is_ever {
            add(tx, app, key(EVER), channels.clone())?;
        }
        let Some(oldest) = oldest else { continue };
        // Nothing more gets old while a slice lasts.
        if add(tx, app, key(slice(now)), channels)? {
            pipeline_sent::forget_in_block(tx, app, pipeline, block.0, (0, oldest))?;
            put_together(tx, app, (pipeline, block.0), oldest, now)?;
        }
    }
    Ok(())
}

/// Adds channels to the first layer that does not have them. Returns whether they are the first of all.
fn add(tx: &mut Tx<'_>, app: AppId, mut key: SentKey, mut channels: RoaringBitmap) -> Result<bool> {
    let mut is_first = false;
    while !channels.is_empty() {
        let before = pipeline_sent::get(tx, app, &key)?;
        is_first |= key.layer == 0 && before.is_none();
        let before = before.as_deref().map(codec::decode).transpose().map_err(Error::internal)?.unwrap_or_default();
        if !channels.is_subset(&before) {
            pipeline_sent::put(tx, app, &key, codec::encode(&(&before | &channels)))?;
        }
        channels &= before;
        key.layer += 1;
    }
    Ok(is_first)
}

/// How often channels were sent to within a rate.
struct Tally {
    /// The first and the last slice that it looks at.
    slices: (i64, i64),
    enough: usize,
    layers: Layers,
}

impl Tally {
    fn new(rate: Rate, now: UtcMillis) -> Self {
        Self { slices: slices_within(rate.within, now), enough: rate.pushes as usize, layers: Layers::default() }
    }

    fn looks_at(&self, slice: i64) -> bool {
        let (first, last) = self.slices;
        (first..=last).contains(&slice)
    }

    /// The channels that were sent to often enough.
    fn full(&self) -> Option<&RoaringBitmap> {
        self.layers.at_least(self.enough)
    }
}

#[boxed]
impl Campaigns {
    /// Forgets what no rate looks back to.
    pub async fn forget_old_sends(&self, app: AppId) -> Result<()> {
        let longest = RateWindow::Days(u32::try_from(limits::PIPELINE_RATE_DAYS).unwrap_or(u32::MAX));
        let (first, _) = slices_within(longest, self.0.clock.now());
        let forget = move |tx: &mut Tx<'_>| pipeline_sent::forget_slices(tx, app, (0, first), FORGOTTEN_AT_ONCE);
        while self.0.store.write(app, forget).await? == u64::from(FORGOTTEN_AT_ONCE) {}
        Ok(())
    }
}
