//! Deliveries by the block of their channels, oldest first.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use audience::block::{Block, blocks};
use model::event::SharedPush;
use model::ids::{Ordinal, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;

use super::INFLUENCE;

/// What is delivered within so long of each other by one push is told as delivered together, so that a large push takes a set per
/// block and minute instead of one per checkpoint.
const TOGETHER: Duration = Duration::from_secs(60);
/// How far the clocks of devices may be behind.
const TOLERANCE: Duration = Duration::from_secs(60);
/// Few pushes go to a block at the same time.
const LOOKED_BACK: usize = 8;

#[derive(Default)]
pub(crate) struct Known {
    blocks: HashMap<Block, VecDeque<Delivery>>,
    pushes: HashMap<PushId, Arc<RecentPush>>,
    forgotten: UtcMillis,
}

/// A push that was delivered to somebody.
pub(crate) struct RecentPush {
    pub(crate) told: SharedPush,
    /// When the first of those got it that are known of.
    pub(crate) sent: UtcMillis,
}

struct Delivery {
    push: Arc<RecentPush>,
    first: UtcMillis,
    last: UtcMillis,
    channels: RoaringBitmap,
}

impl Known {
    pub(super) fn add(&mut self, told: SharedPush, at: UtcMillis, channels: &RoaringBitmap) {
        let push = match self.pushes.get(&told.push_id).filter(|known| known.told == told) {
            Some(known) => known.clone(),
            None => {
                let push = Arc::new(RecentPush { told, sent: at });
                self.pushes.insert(push.told.push_id, push.clone());
                push
            }
        };
        for (block, channels) in blocks(channels) {
            let deliveries = self.blocks.entry(block).or_default();
            let mut newest = deliveries.iter_mut().rev().take(LOOKED_BACK);
            match newest.find(|known| known.push.told == push.told && at <= known.first.plus(TOGETHER)) {
                Some(known) => {
                    known.channels |= channels;
                    known.last = known.last.max(at);
                }
                None => deliveries.push_back(Delivery { push: push.clone(), first: at, last: at, channels }),
            }
        }
    }

    /// Forgets what was delivered before an instant. Looks at everything, so not more often than once a minute.
    pub(super) fn forget_before(&mut self, instant: UtcMillis) {
        if instant < self.forgotten.plus(TOGETHER) {
            return;
        }
        self.forgotten = instant;
        for deliveries in self.blocks.values_mut() {
            while deliveries.front().is_some_and(|oldest| oldest.last < instant) {
                deliveries.pop_front();
            }
        }
        self.blocks.retain(|_, deliveries| !deliveries.is_empty());
        self.pushes.retain(|_, push| Arc::strong_count(push) > 1);
    }

    /// The last push that was delivered to a channel and may have influenced it at a time.
    pub(crate) fn last_delivered(&self, ordinal: Ordinal, at: UtcMillis) -> Option<&RecentPush> {
        let (from, until) = (at.minus(INFLUENCE), at.plus(TOLERANCE));
        let in_time = |delivery: &&Delivery| delivery.first <= until && delivery.last >= from;
        self.of(ordinal).find(in_time).map(|delivery| &*delivery.push)
    }

    /// The pushes that were delivered to a channel, newest first.
    pub(crate) fn delivered_to(&self, ordinal: Ordinal) -> impl Iterator<Item = &RecentPush> {
        self.of(ordinal).map(|delivery| &*delivery.push)
    }

    /// A push that was delivered, to whomever.
    pub(crate) fn push(&self, push: PushId) -> Option<&RecentPush> {
        self.pushes.get(&push).map(|push| &**push)
    }

    fn of(&self, ordinal: Ordinal) -> impl Iterator<Item = &Delivery> {
        let deliveries = self.blocks.get(&Block::of(ordinal));
        let newest_first = deliveries.into_iter().flat_map(|deliveries| deliveries.iter().rev());
        newest_first.filter(move |delivery| delivery.channels.contains(ordinal.0))
    }
}

#[cfg(test)]
mod tests {
    use model::ids::Id;
    use uuid::Uuid;

    use super::*;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;

    fn push(n: u128) -> SharedPush {
        SharedPush::of(Id::from_uuid(Uuid::from_u128(n)))
    }

    fn last(known: &Known, ordinal: u32, at: i64) -> Option<u128> {
        known.last_delivered(Ordinal(ordinal), UtcMillis(at)).map(|push| push.told.push_id.uuid().as_u128())
    }

    #[test]
    fn the_newest_delivery_within_twelve_hours_counts() {
        let mut known = Known::default();
        known.add(push(1), UtcMillis(0), &RoaringBitmap::from([1, 2, 70_000]));
        known.add(push(2), UtcMillis(HOUR), &RoaringBitmap::from([2]));
        for (ordinal, at, wanted) in [
            (1, 5, Some(1)),
            (1, -MINUTE, Some(1)),
            (1, -MINUTE - 1, None),
            (1, 12 * HOUR, Some(1)),
            (1, 12 * HOUR + 1, None),
            (2, 30 * MINUTE, Some(1)),
            (2, 2 * HOUR, Some(2)),
            (2, 13 * HOUR, Some(2)),
            (3, 5, None),
            (70_000, 5, Some(1)),
        ] {
            assert_eq!(last(&known, ordinal, at), wanted, "{ordinal} at {at}");
        }
    }

    #[test]
    fn what_is_delivered_together_is_kept_together_until_it_is_forgotten() {
        let mut known = Known::default();
        for n in 0..100 {
            known.add(push(1), UtcMillis(i64::from(n) * 1000), &RoaringBitmap::from([n]));
            known.add(push(2), UtcMillis(i64::from(n) * 1000), &RoaringBitmap::from([n + 200]));
        }
        assert_eq!(known.blocks[&Block::of(Ordinal(0))].len(), 4);
        assert!((0..100).all(|n| last(&known, n, 100_000) == Some(1)));
        assert!((200..300).all(|n| last(&known, n, 100_000) == Some(2)));
        known.forget_before(UtcMillis(61_000));
        assert_eq!(known.blocks[&Block::of(Ordinal(0))].len(), 2);
        assert!(known.push(push(1).push_id).is_some());
        known.forget_before(UtcMillis(HOUR));
        assert!(known.blocks.is_empty() && known.pushes.is_empty());
    }
}
