//! How often channels have been sent to, as far as a pipeline has a limit. Time is cut into slices of ten minutes, and a message
//! sent in a slice counts as sent at its beginning.

use audience::block::blocks;
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

/// Stands for all pipelines of an app together.
pub(super) const ALL_PIPELINES: PipelineId = Id::from_uuid(Uuid::nil());

const SLICE_MILLIS: i64 = 10 * 60 * 1000;
/// Parts of sets that one transaction forgets, during which nothing else of the app is written.
const FORGOTTEN_AT_ONCE: u32 = 1_000;
/// All of time.
const EVER: i64 = -1;

/// The channels that can be sent to without exceeding any of the rates.
pub(super) fn with_room(
    tx: &mut Tx<'_>,
    app: AppId,
    (pipeline, rates): (PipelineId, &[Rate]),
    channels: RoaringBitmap,
    now: UtcMillis,
) -> Result<RoaringBitmap> {
    let mut left = channels;
    for rate in rates {
        let mut full = RoaringBitmap::new();
        for (block, channels) in blocks(&left) {
            let mut tally = Tally::new(rate.pushes, &channels);
            pipeline_sent::visit(tx, app, pipeline, slices(rate.within, now), block.0, |sent| tally.add(sent))?;
            full |= tally.full();
        }
        left -= full;
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
    let is_endless = |rate: &Rate| rate.within.duration().is_none();
    let endless = rates.iter().any(is_endless).then_some(EVER);
    let passing = rates.iter().filter(|rate| !is_endless(rate)).map(|rate| slices(rate.within, now));
    let oldest = passing.map(|(oldest, _)| oldest).min();
    for (block, channels) in blocks(channels) {
        if let Some(oldest) = oldest {
            pipeline_sent::forget_in_block(tx, app, pipeline, block.0, (0, oldest))?;
        }
        for slice in endless.into_iter().chain(oldest.map(|_| slice(now))) {
            add(tx, app, SentKey { pipeline, slice, layer: 0, block: block.0 }, channels.clone())?;
        }
    }
    Ok(())
}

/// Adds channels to the first layer that does not have them.
fn add(tx: &mut Tx<'_>, app: AppId, mut key: SentKey, mut channels: RoaringBitmap) -> Result<()> {
    while !channels.is_empty() {
        let before = pipeline_sent::get(tx, app, &key)?;
        let before = before.as_deref().map(codec::decode).transpose().map_err(Error::internal)?.unwrap_or_default();
        if !channels.is_subset(&before) {
            pipeline_sent::put(tx, app, &key, codec::encode(&(&before | &channels)))?;
        }
        channels &= before;
        key.layer += 1;
    }
    Ok(())
}

/// Counts how often channels were sent to, up to a sufficient number.
struct Tally<'c> {
    channels: &'c RoaringBitmap,
    /// The channels that were sent to at least once, at least twice, and so on.
    counted: Vec<RoaringBitmap>,
}

impl<'c> Tally<'c> {
    fn new(enough: u32, channels: &'c RoaringBitmap) -> Self {
        Self { channels, counted: vec![RoaringBitmap::new(); enough as usize] }
    }

    fn add(&mut self, set: &[u8]) -> store::Result<()> {
        let set = codec::decode(set).map_err(|error| store::Error::corrupt(error.to_string()))?;
        let mut more = set & self.channels;
        // A channel that is in a layer already is added to the next layer.
        for layer in &mut self.counted {
            let moved = &*layer & &more;
            *layer |= &more;
            more = moved;
            if more.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn full(mut self) -> RoaringBitmap {
        self.counted.pop().unwrap_or_default()
    }
}

fn slice(now: UtcMillis) -> i64 {
    now.0.div_euclid(SLICE_MILLIS)
}

/// The slices that a rate looks back to, the first and the last.
fn slices(within: RateWindow, now: UtcMillis) -> (i64, i64) {
    match within.duration() {
        // Strictly within: a message sent exactly so long ago does not count.
        Some(duration) => (slice(now.minus(duration)) + 1, slice(now)),
        None => (EVER, EVER),
    }
}

#[boxed]
impl Campaigns {
    /// Forgets what no rate looks back to.
    pub async fn forget_old_sends(&self, app: AppId) -> Result<()> {
        let longest = RateWindow::Days(u32::try_from(limits::PIPELINE_RATE_DAYS).unwrap_or(u32::MAX));
        let (first, _) = slices(longest, self.0.clock.now());
        let forget = move |tx: &mut Tx<'_>| pipeline_sent::forget_slices(tx, app, (0, first), FORGOTTEN_AT_ONCE);
        while self.0.store.write(app, forget).await? == u64::from(FORGOTTEN_AT_ONCE) {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_in_enough_sets_is_found() {
        let set = |members: &[u32]| codec::encode(&members.iter().copied().collect());
        let sets = [set(&[1, 2, 3]), set(&[2, 3]), set(&[3, 9]), set(&[2, 3])];
        let channels: RoaringBitmap = [1, 2, 3, 4].into_iter().collect();
        let found = |n| {
            let mut tally = Tally::new(n, &channels);
            sets.iter().for_each(|set| tally.add(set).unwrap());
            tally.full().iter().collect::<Vec<_>>()
        };
        assert_eq!(found(1), [1, 2, 3]);
        assert_eq!(found(2), [2, 3]);
        assert_eq!(found(3), [2, 3]);
        assert_eq!(found(4), [3]);
        assert_eq!(found(5), [0; 0]);
    }

    #[test]
    fn a_day_later_is_not_within_a_day() {
        let noon = UtcMillis(1_714_564_800_000);
        let within = |later: i64| {
            let (first, last) = slices(RateWindow::Days(1), UtcMillis(noon.0 + later));
            (first..=last).contains(&slice(noon))
        };
        let day = 24 * 60 * 60 * 1000;
        assert!(within(0) && within(day - 1));
        assert!(!within(day));
    }
}
