//! What is kept in memory until there is too much of it. The bytes of all of it are counted as they change, so that looking whether
//! there is too much does not walk through everything.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;

/// Values by their keys, each with its bytes and the number of the use at which it was used last.
pub(crate) struct Kept<K, V> {
    n_uses: u64,
    /// Of all values together.
    n_bytes: usize,
    by_key: HashMap<K, Held<V>>,
}

struct Held<V> {
    used: u64,
    n_bytes: usize,
    value: V,
}

// A derived one would ask that there are default keys and values.
impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self { n_uses: 0, n_bytes: 0, by_key: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash, V> Kept<K, V> {
    pub(crate) const fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.by_key.keys()
    }

    /// The value of a key, which is used by this.
    pub(crate) fn get(&mut self, key: &K) -> Option<&V> {
        self.n_uses += 1;
        let held = self.by_key.get_mut(key)?;
        held.used = self.n_uses;
        Some(&held.value)
    }

    pub(crate) fn insert(&mut self, key: K, value: V, n_bytes: usize) {
        self.remove(&key);
        self.n_uses += 1;
        self.n_bytes += n_bytes;
        self.by_key.insert(key, Held { used: self.n_uses, n_bytes, value });
    }

    pub(crate) fn remove(&mut self, key: &K) {
        if let Some(held) = self.by_key.remove(key) {
            self.n_bytes -= held.n_bytes;
        }
    }

    /// Counts the bytes of a value anew, which may have grown.
    pub(crate) fn measure(&mut self, key: &K, n_bytes: impl FnOnce(&V) -> usize) {
        if let Some(held) = self.by_key.get_mut(key) {
            let now = n_bytes(&held.value);
            self.n_bytes -= mem::replace(&mut held.n_bytes, now);
            self.n_bytes += now;
        }
    }

    /// Removes the values that were used longest ago, until the rest is not too much. One stays however large it is, and so do
    /// those without any bytes, which are still being made.
    pub(crate) fn make_room(&mut self, most_bytes: usize, stays: &K) {
        while self.n_bytes > most_bytes {
            let others = self.by_key.iter().filter(|(key, held)| *key != stays && held.n_bytes > 0);
            let Some(oldest) = others.min_by_key(|(_, held)| held.used).map(|(key, _)| key.clone()) else { return };
            self.remove(&oldest);
        }
    }
}

impl<K: Clone + Eq + Hash, V: Clone + Default> Kept<K, V> {
    /// The value of a key, which is used by this. A new one has no bytes until it is measured.
    pub(crate) fn get_or_default(&mut self, key: &K) -> V {
        if let Some(value) = self.get(key) {
            return value.clone();
        }
        let value = V::default();
        self.insert(key.clone(), value.clone(), 0);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(kept: &Kept<u32, usize>) -> Vec<u32> {
        let mut keys: Vec<u32> = kept.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn bytes_are_those_of_what_is_there() {
        let mut kept: Kept<u32, usize> = Kept::default();
        for key in 0..4 {
            kept.insert(key, 10, 10);
        }
        kept.insert(0, 30, 30);
        kept.measure(&1, |value| value + 2);
        kept.measure(&9, |_| panic!("there is no such value"));
        assert_eq!(kept.n_bytes(), 30 + 12 + 10 + 10);
        kept.measure(&1, |_| 1);
        kept.remove(&2);
        kept.remove(&2);
        assert_eq!((kept.n_bytes(), keys(&kept)), (30 + 1 + 10, vec![0, 1, 3]));
        kept.make_room(0, &3);
        assert_eq!((kept.n_bytes(), keys(&kept)), (10, vec![3]));
    }

    #[test]
    fn the_value_that_was_used_longest_ago_goes_first() {
        let mut kept: Kept<u32, usize> = Kept::default();
        for key in 0..4 {
            kept.insert(key, 10, 10);
        }
        kept.insert(4, 0, 0);
        assert_eq!(kept.get(&0), Some(&10));
        kept.make_room(25, &1);
        assert_eq!(keys(&kept), [0, 1, 4]);
        kept.make_room(0, &1);
        assert_eq!(keys(&kept), [1, 4], "what is being made has no bytes yet");
    }

    #[test]
    fn only_a_value_that_has_changed_is_measured() {
        let mut kept: Kept<u32, usize> = Kept::default();
        for key in 0..1_000 {
            kept.insert(key, 1, 1);
        }
        let mut n_measured = 0;
        kept.measure(&7, |_| {
            n_measured += 1;
            2
        });
        kept.make_room(2_000, &7);
        assert_eq!((n_measured, kept.n_bytes()), (1, 1_001));
    }
}
