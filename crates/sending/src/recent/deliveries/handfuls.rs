//! Deliveries to a few channels at a time, found by the channel.
//!
//! Automation and messages to single devices make very many of them. All are in one queue, oldest first. Each entry has the
//! distance back to the previous entry of the same channel, so that adding, forgetting and finding cost the same however many
//! there are.

use std::collections::{HashMap, VecDeque};
use std::iter::successors;
use std::num::NonZeroU32;
use std::sync::Arc;

use model::ids::Ordinal;
use model::time::UtcMillis;

use super::RecentPush;

/// With the pushes that only these channels got, some 120 megabytes for an app. When there are more the oldest are
/// forgotten early, and an opening is due to them only if the device says so.
const MOST: usize = 1 << 19;

#[derive(Default)]
pub(super) struct Handfuls {
    deliveries: VecDeque<Single>,
    /// Deliveries are numbered without gaps; this is the number of the first that is kept.
    first: u64,
    /// The number of the newest delivery to each channel.
    newest: HashMap<Ordinal, u64>,
}

/// A delivery to one channel.
pub(super) struct Single {
    pub(super) push: Arc<RecentPush>,
    pub(super) at: UtcMillis,
    ordinal: Ordinal,
    /// How many entries back the previous delivery to the same channel is.
    back: Option<NonZeroU32>,
}

impl Handfuls {
    pub(super) fn add(&mut self, push: Arc<RecentPush>, at: UtcMillis, ordinal: Ordinal) {
        let number = self.first + self.deliveries.len() as u64;
        let before = self.newest.insert(ordinal, number);
        // A delivery that is too far back for the distance was forgotten long ago.
        let back = before.and_then(|before| NonZeroU32::new(u32::try_from(number - before).ok()?));
        self.deliveries.push_back(Single { push, at, ordinal, back });
    }

    /// Removes the oldest delivery if there are too many, or if it was made before an instant.
    pub(super) fn take_oldest(&mut self, before: UtcMillis) -> Option<Arc<RecentPush>> {
        let is_full = self.deliveries.len() > MOST;
        let oldest = self.deliveries.pop_front_if(|oldest| is_full || oldest.at < before)?;
        if self.newest.get(&oldest.ordinal) == Some(&self.first) {
            self.newest.remove(&oldest.ordinal);
        }
        self.first += 1;
        Some(oldest.push)
    }

    /// Releases memory after many were removed.
    pub(super) fn shrink(&mut self) {
        if self.deliveries.len() < self.deliveries.capacity() / 4 {
            self.deliveries.shrink_to(self.deliveries.len() * 2);
            self.newest.shrink_to(self.newest.len() * 2);
        }
    }

    /// The deliveries to a channel, newest first.
    pub(super) fn to(&self, ordinal: Ordinal) -> impl Iterator<Item = &Single> {
        let newest = self.newest.get(&ordinal).and_then(|number| self.numbered(*number));
        let to_channel = successors(newest, |(number, delivery)| {
            self.numbered(number.checked_sub(u64::from(delivery.back?.get()))?)
        });
        to_channel.map(|(_, delivery)| delivery)
    }

    fn numbered(&self, number: u64) -> Option<(u64, &Single)> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.deliveries.get(index).map(|delivery| (number, delivery))
    }
}

#[cfg(test)]
mod tests {
    use model::event::SharedPush;
    use model::ids::Id;
    use uuid::Uuid;

    use super::*;

    fn push(n: usize) -> Arc<RecentPush> {
        let shared_push = SharedPush::of(Id::from_uuid(Uuid::from_u128(n as u128)));
        Arc::new(RecentPush { shared_push, sent: UtcMillis(0) })
    }

    #[test]
    fn a_channel_is_found_among_all_and_memory_is_bounded() {
        let (one, other) = (push(1), push(2));
        let mut handfuls = Handfuls::default();
        let ordinal = |n: usize| Ordinal(u32::try_from(n % 1000).unwrap());
        for n in 0..3 * MOST {
            handfuls.add(if n % 2000 < 1000 { one.clone() } else { other.clone() }, UtcMillis(n as i64), ordinal(n));
            while handfuls.take_oldest(UtcMillis(0)).is_some() {}
        }
        assert_eq!((handfuls.deliveries.len(), handfuls.newest.len()), (MOST, 1000));
        let times: Vec<i64> = handfuls.to(Ordinal(7)).map(|delivery| delivery.at.0).collect();
        assert!(times.len().abs_diff(MOST / 1000) <= 1, "{}", times.len());
        assert!(times.windows(2).all(|pair| pair[0] - pair[1] == 1000) && times.iter().all(|at| at % 1000 == 7));
        assert_eq!(handfuls.to(Ordinal(1001)).count(), 0);

        let last = 3 * MOST as i64;
        while handfuls.take_oldest(UtcMillis(last - 500)).is_some() {}
        assert_eq!((handfuls.deliveries.len(), handfuls.newest.len()), (500, 500));
        handfuls.shrink();
        assert!(handfuls.deliveries.capacity() < 2000);
        assert_eq!(handfuls.newest.keys().map(|ordinal| handfuls.to(*ordinal).count()).sum::<usize>(), 500);
    }
}
