//! The holders of each term within a shard. A term that nobody holds is not there.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::ids::{Ordinal, TermId};
use roaring::RoaringBitmap;

use crate::bytes::{put_bitmap, put_count, put_number, take_bitmap, take_number};

/// As bytes, a term takes at least its number and the head of its bitmap.
const LEAST_BYTES_OF_A_TERM: usize = 8;

#[derive(Default)]
pub(super) struct Holders(HashMap<TermId, RoaringBitmap>);

impl Holders {
    pub(super) fn get(&self, term: TermId) -> Option<&RoaringBitmap> {
        self.0.get(&term)
    }

    pub(super) fn terms_of(&self, ordinal: Ordinal) -> usize {
        self.0.values().filter(|holders| holders.contains(ordinal.0)).count()
    }

    /// Whether the channel did not hold the term.
    pub(super) fn add(&mut self, term: TermId, ordinal: Ordinal) -> bool {
        self.0.entry(term).or_default().insert(ordinal.0)
    }

    /// Whether the channel held the term.
    pub(super) fn remove(&mut self, term: TermId, ordinal: Ordinal) -> bool {
        let Entry::Occupied(mut holders) = self.0.entry(term) else { return false };
        let removed = holders.get_mut().remove(ordinal.0);
        if holders.get().is_empty() {
            holders.remove();
        }
        removed
    }

    /// Gives the channels back that did not hold the term.
    pub(super) fn add_all(&mut self, term: TermId, mut channels: RoaringBitmap) -> RoaringBitmap {
        if !channels.is_empty() {
            let holders = self.0.entry(term).or_default();
            channels -= &*holders;
            *holders |= &channels;
        }
        channels
    }

    /// Gives those of the channels back that held the term.
    pub(super) fn remove_all(&mut self, term: TermId, channels: &RoaringBitmap) -> RoaringBitmap {
        let Entry::Occupied(mut holders) = self.0.entry(term) else { return RoaringBitmap::new() };
        let removed = holders.get() & channels;
        *holders.get_mut() -= &removed;
        if holders.get().is_empty() {
            holders.remove();
        }
        removed
    }

    /// Adds holders of a term, in ascending order and above all of its present ones.
    pub(super) fn append(&mut self, term: TermId, holders: impl Iterator<Item = u32>) {
        self.0.entry(term).or_default().append(holders).expect("the builder refuses ordinals that do not ascend");
    }

    /// Gives back the memory that growing has reserved.
    pub(super) fn tighten(&mut self) {
        for holders in self.0.values_mut() {
            // A copy is the only way to make a bitmap's containers exactly as large as their content.
            *holders = holders.clone();
        }
        self.0.shrink_to_fit();
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_count(out, self.0.len());
        for (term, holders) in &self.0 {
            put_number(out, term.0);
            put_bitmap(out, holders);
        }
    }

    pub(super) fn read(input: &mut &[u8]) -> Option<Self> {
        let count = take_number(input)? as usize;
        let mut terms = HashMap::with_capacity(count.min(input.len() / LEAST_BYTES_OF_A_TERM));
        for _ in 0..count {
            terms.insert(TermId(take_number(input)?), take_bitmap(input)?);
        }
        Some(Self(terms))
    }
}
