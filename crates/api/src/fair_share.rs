//! Units that holders share fairly: permits of requests, memory of bodies, connections.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

/// A holder gets more as long as it then has no more than is left. So a holder that takes all it can get leaves half to the
/// others, the next one half of the rest, and a holder that has nothing yet almost always gets something.
pub(crate) struct FairShare<K: Eq + Hash + Copy>(Arc<Mutex<Taken<K>>>);

struct Taken<K> {
    n_free: usize,
    most_of_one: usize,
    by_holder: HashMap<K, usize>,
}

/// Units of one holder, until it is dropped.
pub(crate) struct Permit<K: Eq + Hash + Copy> {
    of: FairShare<K>,
    holder: K,
    n_units: usize,
}

impl<K: Eq + Hash + Copy> Clone for FairShare<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Eq + Hash + Copy> FairShare<K> {
    pub(crate) fn new(n_units: usize) -> Self {
        Self::capped(n_units, n_units)
    }

    /// No holder has more than `most_of_one` units, even if more than that are left.
    pub(crate) fn capped(n_units: usize, most_of_one: usize) -> Self {
        Self(Arc::new(Mutex::new(Taken { n_free: n_units, most_of_one, by_holder: HashMap::new() })))
    }

    /// One unit; `None` when the holder has its share.
    pub(crate) fn take(&self, holder: K) -> Option<Permit<K>> {
        let mut permit = self.none(holder);
        permit.grow(1).then_some(permit)
    }

    /// A permit that has no units yet.
    pub(crate) fn none(&self, holder: K) -> Permit<K> {
        Permit { of: self.clone(), holder, n_units: 0 }
    }

    #[cfg(test)]
    pub(crate) fn n_free(&self) -> usize {
        self.0.lock().n_free
    }
}

impl<K: Eq + Hash + Copy> Permit<K> {
    pub(crate) const fn n_units(&self) -> usize {
        self.n_units
    }

    /// Takes more units, all or none; false when that would be more than the holder's share.
    pub(crate) fn grow(&mut self, n_more: usize) -> bool {
        let mut taken = self.of.0.lock();
        let n_own = taken.by_holder.get(&self.holder).copied().unwrap_or(0);
        // Of one unit, the last one that is left goes to a holder that has none.
        let is_fair = n_own + 2 * n_more <= taken.n_free + 1;
        if !is_fair || n_own + n_more > taken.most_of_one {
            return false;
        }
        taken.n_free -= n_more;
        taken.by_holder.insert(self.holder, n_own + n_more);
        self.n_units += n_more;
        true
    }
}

impl<K: Eq + Hash + Copy> Drop for Permit<K> {
    fn drop(&mut self) {
        if self.n_units == 0 {
            return;
        }
        let mut taken = self.of.0.lock();
        taken.n_free += self.n_units;
        match taken.by_holder.get_mut(&self.holder) {
            Some(n_own) if *n_own > self.n_units => *n_own -= self.n_units,
            Some(_) | None => drop(taken.by_holder.remove(&self.holder)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_everything() {
        let share = FairShare::new(128);
        let all = |holder: i64| std::iter::from_fn(|| share.take(holder)).collect::<Vec<_>>();
        let held: Vec<Vec<_>> = (1..=5).map(all).collect();
        assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), [64, 32, 16, 8, 4]);
        assert_eq!(all(1).len(), 0);
        let mut held = held.into_iter();
        drop(held.next());
        assert_eq!(all(6).len(), 34, "what was given back");
        drop(held);
        assert_eq!(all(1).len(), 64);
        let taken = share.0.lock();
        assert!(taken.n_free == 128 && taken.by_holder.is_empty());
    }

    #[test]
    fn a_permit_grows_within_the_share() {
        let share = FairShare::new(64);
        assert!(!share.none("a").grow(40), "more than would be left");
        let mut first = share.none("a");
        assert!(first.grow(30) && first.grow(2) && !first.grow(1));
        assert_eq!((first.n_units(), share.n_free()), (32, 32));
        let mut second = share.none("b");
        assert!(!second.grow(33) && second.grow(16) && !second.grow(1));
        drop(first);
        assert!(second.grow(1));
        drop(second);
        assert_eq!(share.n_free(), 64);
    }

    #[test]
    fn a_cap_holds_for_each() {
        let share = FairShare::capped(100, 3);
        let held: Vec<_> = std::iter::from_fn(|| share.take(1)).collect();
        assert_eq!(held.len(), 3);
        assert!(share.take(2).is_some());
    }
}
