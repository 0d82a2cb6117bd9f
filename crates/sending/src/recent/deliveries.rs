//! Deliveries to many channels as sets, by the block of the channels, and deliveries to a few by the channel.

mod handfuls;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use audience::block::{Block, blocks};
use model::event::SharedPush;
use model::ids::{Ordinal, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;

use self::handfuls::{Handfuls, Single};
use super::INFLUENCE;

/// Deliveries of one push within this time count as delivered together, so that a large push takes a set per block and minute
/// instead of one per checkpoint.
const TOGETHER: Duration = Duration::from_secs(60);
/// How far the clocks of devices may be behind.
const TOLERANCE: Duration = Duration::from_secs(60);
/// Few pushes go to a block at the same time.
const LOOKED_BACK: usize = 8;
/// This many channels of a block are worth a set.
const MANY: u64 = 64;
/// And this many when the block has a lot of sets: all of them are searched when a channel opens the app.
const VERY_MANY: u64 = 4096;
const MANY_SETS: usize = 128;
/// The oldest are forgotten when there are more.
const MOST_SETS: usize = 256;
/// Older messages to the same channel hardly influence it.
const MOST_TO_ONE: usize = 64;

#[derive(Default)]
pub struct Deliveries {
    blocks: HashMap<Block, VecDeque<Delivery>>,
    handfuls: Handfuls,
    pushes: HashMap<PushId, Arc<RecentPush>>,
    forgotten: UtcMillis,
}

/// A push that was delivered to some channel.
pub struct RecentPush {
    pub shared_push: SharedPush,
    /// The first known delivery.
    pub sent: UtcMillis,
}

/// To many channels of a block.
struct Delivery {
    push: Arc<RecentPush>,
    first: UtcMillis,
    last: UtcMillis,
    channels: RoaringBitmap,
}

impl Deliveries {
    pub(super) fn add(&mut self, shared_push: SharedPush, at: UtcMillis, channels: &RoaringBitmap) {
        if channels.is_empty() {
            return;
        }
        let push = match self.pushes.get(&shared_push.push_id).filter(|known| known.shared_push == shared_push) {
            Some(known) => known.clone(),
            None => {
                let push = Arc::new(RecentPush { shared_push, sent: at });
                self.pushes.insert(push.shared_push.push_id, push.clone());
                push
            }
        };
        for (block, channels) in blocks(channels) {
            self.add_to_block(&push, at, block, channels);
        }
        while let Some(push) = self.handfuls.take_oldest(self.forgotten) {
            let_go(&mut self.pushes, &push);
        }
    }

    fn add_to_block(&mut self, push: &Arc<RecentPush>, at: UtcMillis, block: Block, channels: RoaringBitmap) {
        let sets = self.blocks.get_mut(&block);
        let newest = sets.into_iter().flat_map(|sets| sets.iter_mut().rev().take(LOOKED_BACK));
        let mut together =
            newest.filter(|set| set.push.shared_push == push.shared_push && at <= set.first.plus(TOGETHER));
        if let Some(set) = together.next() {
            set.channels |= channels;
            set.last = set.last.max(at);
            return;
        }
        let n_sets = self.blocks.get(&block).map_or(0, VecDeque::len);
        let enough = if n_sets < MANY_SETS { MANY } else { VERY_MANY };
        if channels.len() < enough {
            channels.iter().for_each(|ordinal| self.handfuls.add(push.clone(), at, Ordinal(ordinal)));
            return;
        }
        let sets = self.blocks.entry(block).or_default();
        sets.push_back(Delivery { push: push.clone(), first: at, last: at, channels });
        if sets.len() > MOST_SETS
            && let Some(oldest) = sets.pop_front()
        {
            let_go(&mut self.pushes, &oldest.push);
        }
    }

    /// Forgets deliveries before an instant. Looks at every block, so not more often than once a minute.
    pub(super) fn forget_before(&mut self, instant: UtcMillis) {
        if instant < self.forgotten.plus(TOGETHER) {
            return;
        }
        self.forgotten = instant;
        for sets in self.blocks.values_mut() {
            while let Some(oldest) = sets.pop_front_if(|oldest| oldest.last < instant) {
                let_go(&mut self.pushes, &oldest.push);
            }
        }
        self.blocks.retain(|_, sets| !sets.is_empty());
        while let Some(push) = self.handfuls.take_oldest(instant) {
            let_go(&mut self.pushes, &push);
        }
        self.handfuls.shrink();
    }

    /// The last push that was delivered to a channel and may have influenced it at a time.
    pub fn last_delivered(&self, ordinal: Ordinal, at: UtcMillis) -> Option<&RecentPush> {
        let (from, until) = (at.minus(INFLUENCE), at.plus(TOLERANCE));
        let in_time = |first: UtcMillis, last: UtcMillis| first <= until && last >= from;
        let with_others = self.sets_with(ordinal).find(|set| in_time(set.first, set.last));
        let with_few = self.singles_to(ordinal).find(|single| in_time(single.at, single.at));
        let found = match (with_others, with_few) {
            (Some(set), Some(single)) if single.at >= set.first => &single.push,
            (Some(set), _) => &set.push,
            (None, Some(single)) => &single.push,
            (None, None) => return None,
        };
        Some(found)
    }

    /// The pushes that were delivered to a channel.
    pub fn delivered_to(&self, ordinal: Ordinal) -> impl Iterator<Item = &RecentPush> {
        let with_few = self.singles_to(ordinal).map(|single| &*single.push);
        with_few.chain(self.sets_with(ordinal).map(|set| &*set.push))
    }

    /// A recently delivered push, to any channel.
    pub fn push(&self, push: PushId) -> Option<&RecentPush> {
        self.pushes.get(&push).map(|push| &**push)
    }

    fn sets_with(&self, ordinal: Ordinal) -> impl Iterator<Item = &Delivery> {
        let sets = self.blocks.get(&Block::of(ordinal));
        let newest_first = sets.into_iter().flat_map(|sets| sets.iter().rev());
        newest_first.filter(move |set| set.channels.contains(ordinal.0))
    }

    fn singles_to(&self, ordinal: Ordinal) -> impl Iterator<Item = &Single> {
        self.handfuls.to(ordinal).take(MOST_TO_ONE)
    }
}

/// Forgets a push together with its last delivery, for which this is called before `push` is dropped. Every delivery has a
/// reference to its push; with two references left, one is this delivery's and the other is that of the map itself.
fn let_go(pushes: &mut HashMap<PushId, Arc<RecentPush>>, push: &Arc<RecentPush>) {
    let id = push.shared_push.push_id;
    if Arc::strong_count(push) == 2 && pushes.get(&id).is_some_and(|known| Arc::ptr_eq(known, push)) {
        pushes.remove(&id);
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

    /// Enough channels to be kept as a set.
    fn crowd(first: u32) -> RoaringBitmap {
        (first..first + 100).collect()
    }

    fn last(deliveries: &Deliveries, ordinal: u32, at: i64) -> Option<u128> {
        deliveries.last_delivered(Ordinal(ordinal), UtcMillis(at)).map(|push| push.shared_push.push_id.uuid().as_u128())
    }

    #[test]
    fn the_newest_delivery_within_twelve_hours_counts() {
        let mut deliveries = Deliveries::default();
        deliveries.add(push(1), UtcMillis(0), &(&crowd(1000) | &RoaringBitmap::from([1, 2, 70_000])));
        deliveries.add(push(2), UtcMillis(HOUR), &RoaringBitmap::from([2]));
        deliveries.add(push(3), UtcMillis(HOUR), &RoaringBitmap::from([4]));
        deliveries.add(push(4), UtcMillis(2 * HOUR), &(&crowd(1000) | &RoaringBitmap::from([4])));
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
            (4, HOUR, Some(3)),
            (4, 2 * HOUR - 2 * MINUTE, Some(3)),
            (4, 2 * HOUR, Some(4)),
            (4, 14 * HOUR, Some(4)),
        ] {
            assert_eq!(last(&deliveries, ordinal, at), wanted, "{ordinal} at {at}");
        }
    }

    #[test]
    fn what_is_delivered_together_is_kept_together_until_it_is_forgotten() {
        let mut deliveries = Deliveries::default();
        for n in 0..100 {
            deliveries.add(push(1), UtcMillis(i64::from(n) * 1000), &(&crowd(1000) | &RoaringBitmap::from([n])));
            deliveries.add(push(2), UtcMillis(i64::from(n) * 1000), &(&crowd(2000) | &RoaringBitmap::from([n + 200])));
        }
        assert_eq!(deliveries.blocks[&Block::of(Ordinal(0))].len(), 4);
        assert!((0..100).all(|n| last(&deliveries, n, 100_000) == Some(1)));
        assert!((200..300).all(|n| last(&deliveries, n, 100_000) == Some(2)));
        deliveries.forget_before(UtcMillis(61_000));
        assert_eq!(deliveries.blocks[&Block::of(Ordinal(0))].len(), 2);
        assert!(deliveries.push(push(1).push_id).is_some());
        deliveries.forget_before(UtcMillis(HOUR));
        assert!(deliveries.blocks.is_empty() && deliveries.pushes.is_empty());
    }

    #[test]
    fn what_went_to_single_channels_is_found_without_a_look_at_the_rest() {
        let mut deliveries = Deliveries::default();
        for n in 0..100_000_u32 {
            deliveries.add(push(n.into()), UtcMillis(i64::from(n) * 10), &RoaringBitmap::from([n % 50_000]));
        }
        assert!(deliveries.blocks.is_empty());
        assert_eq!(deliveries.handfuls.to(Ordinal(17)).count(), 2);
        assert_eq!(last(&deliveries, 17, HOUR), Some(50_017));
        assert_eq!(deliveries.delivered_to(Ordinal(17)).count(), 2);
        deliveries.forget_before(UtcMillis(500_170));
        assert_eq!(
            (last(&deliveries, 16, HOUR), last(&deliveries, 17, HOUR), deliveries.pushes.len()),
            (None, Some(50_017), 49_983)
        );
        deliveries.forget_before(UtcMillis(HOUR));
        assert!(deliveries.pushes.is_empty());
    }

    #[test]
    fn sets_of_a_block_do_not_become_too_many_to_look_through() {
        let mut deliveries = Deliveries::default();
        for n in 0..1000_u32 {
            deliveries.add(push(n.into()), UtcMillis(i64::from(n)), &(n..n + 100).collect());
        }
        assert_eq!(deliveries.blocks[&Block::of(Ordinal(0))].len(), MANY_SETS);
        assert_eq!((last(&deliveries, 99, HOUR), last(&deliveries, 500, HOUR)), (Some(99), Some(500)));
        assert_eq!(deliveries.delivered_to(Ordinal(500)).count(), MOST_TO_ONE);
        for n in 1000..2000_u32 {
            deliveries.add(push(n.into()), UtcMillis(i64::from(n)), &(0..5000).collect());
        }
        assert_eq!(deliveries.blocks[&Block::of(Ordinal(0))].len(), MOST_SETS);
        assert_eq!(last(&deliveries, 99, HOUR), Some(1999));
        assert!(deliveries.push(push(0).push_id).is_none() && deliveries.push(push(1000).push_id).is_none());
    }
}
