//! Connections in the order of their channels, in which they are also written to: the next is found beside the last.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeInclusive};

/// Those that are passed over one by one; it is quicker to look the next one up than to pass over more.
const MOST_PASSED: usize = 8;

/// Where a connection is: the ordinal of its channel, and a number that is higher than that of older ones.
pub(crate) type Place = (u32, u32);

pub(crate) struct Places<T> {
    by_place: BTreeMap<Place, T>,
    n_added: u32,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self { by_place: BTreeMap::new(), n_added: 0 }
    }
}

impl<T: Clone> Places<T> {
    pub(crate) fn add(&mut self, ordinal: u32, one: T) {
        self.by_place.insert((ordinal, self.n_added), one);
        self.n_added = self.n_added.wrapping_add(1);
    }

    /// Removes one of a channel. Returns whether it was there.
    pub(crate) fn remove(&mut self, ordinal: u32, is_it: impl Fn(&T) -> bool) -> bool {
        let mut of_channel = self.by_place.range(between(ordinal, ordinal));
        let place = of_channel.find(|(_, one)| is_it(one)).map(|(place, _)| *place);
        place.is_some_and(|place| self.by_place.remove(&place).is_some())
    }

    /// Those of a channel, the oldest first.
    pub(crate) fn of(&self, ordinal: u32) -> impl Iterator<Item = &T> {
        self.by_place.range(between(ordinal, ordinal)).map(|(_, one)| one)
    }

    /// Those of channels, which are in ascending order.
    pub(crate) fn of_each(&self, ordinals: &[u32]) -> Vec<T> {
        let (Some(first), Some(last)) = (ordinals.first(), ordinals.last()) else { return Vec::new() };
        let mut found = Vec::with_capacity(ordinals.len());
        let mut rest = self.by_place.range(between(*first, *last)).peekable();
        for ordinal in ordinals {
            let mut n_passed = 0;
            while rest.next_if(|((other, _), _)| other < ordinal).is_some() {
                n_passed += 1;
                if n_passed == MOST_PASSED {
                    rest = self.by_place.range(between(*ordinal, *last)).peekable();
                }
            }
            while let Some((_, one)) = rest.next_if(|((other, _), _)| other == ordinal) {
                found.push(one.clone());
            }
        }
        found
    }

    /// The next after a place, or the first.
    pub(crate) fn after(&self, place: Option<Place>, n_most: usize) -> Vec<(Place, T)> {
        let from = place.map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.by_place.range((from, Bound::Unbounded)).take(n_most);
        next.map(|(place, one)| (*place, one.clone())).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_place.len()
    }
}

const fn between(first: u32, last: u32) -> RangeInclusive<Place> {
    (first, 0)..=(last, u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_are_found_and_none_twice(
            added in prop::collection::vec(0_u32..300, 0..120),
            removed in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
            wanted in prop::collection::btree_set(0_u32..300, 0..80), portion in 1_usize..50,
        ) {
            let mut places = Places::default();
            let mut oracle: Vec<(u32, usize)> = Vec::new();
            for (n, ordinal) in added.iter().enumerate() {
                places.add(*ordinal, n);
                oracle.push((*ordinal, n));
            }
            for index in removed.iter().filter(|_| !added.is_empty()) {
                let n = index.index(added.len());
                let place = oracle.iter().position(|(_, other)| *other == n);
                prop_assert_eq!(places.remove(added[n], |other| *other == n), place.is_some());
                place.map(|place| oracle.remove(place));
            }
            oracle.sort_unstable();
            prop_assert_eq!(places.len(), oracle.len());
            let among = |ordinals: &BTreeSet<u32>| -> Vec<usize> {
                oracle.iter().filter(|(ordinal, _)| ordinals.contains(ordinal)).map(|(_, n)| *n).collect()
            };
            let ordinals: Vec<u32> = wanted.iter().copied().collect();
            prop_assert_eq!(places.of_each(&ordinals), among(&wanted));
            for ordinal in &wanted {
                prop_assert_eq!(places.of(*ordinal).copied().collect::<Vec<_>>(), among(&BTreeSet::from([*ordinal])));
            }
            let (mut all, mut last) = (Vec::new(), None);
            loop {
                let some = places.after(last, portion);
                all.extend(some.iter().map(|(_, n)| *n));
                match some.last() {
                    Some((place, _)) => last = Some(*place),
                    None => break,
                }
            }
            prop_assert_eq!(all, oracle.iter().map(|(_, n)| *n).collect::<Vec<_>>());
        }
    }
}
