//! A hash for the maps of a batch, which are asked several times for every row. They live as long as a batch, and whose values end
//! up in the same place costs time and nothing else, so it need not withstand anybody who chooses them.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;
pub(super) type QuickSet<K> = HashSet<K, BuildHasherDefault<QuickHasher>>;

#[derive(Clone, Copy, Default)]
pub(super) struct QuickHasher(u64);

/// Odd, with its bits in no order.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl QuickHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The length tells a short rest from one that ends with zeros.
        self.add(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_i64(&mut self, word: i64) {
        self.add(word.cast_unsigned());
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        // The upper bits depend on all that was added, and maps look at the lower ones as well.
        self.0 ^ (self.0 >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    fn hash(value: impl Hash) -> u64 {
        let mut hasher = QuickHasher::default();
        value.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn neighbors_and_texts_with_zeros_are_told_apart() {
        let numbers: QuickSet<u64> = (0..10_000_i64).map(hash).collect();
        assert_eq!(numbers.len(), 10_000);
        let texts: QuickSet<u64> = (0..40).map(|n| hash("\0".repeat(n))).collect();
        assert_eq!(texts.len(), 40);
        assert_ne!(hash("channel-12345678"), hash("channel-12345679"));
    }
}
