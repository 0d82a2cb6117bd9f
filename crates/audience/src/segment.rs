//! One segment of the index: which of 2^20 consecutive ordinals hold which terms.

mod stored;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::ids::{Offset, Ordinal, TermId};
use model::term::TermChange;
use roaring::RoaringBitmap;

const SEGMENT_BITS: u32 = 20;

/// The universe is kept up to date rather than computed: a count of terms per ordinal says in constant time whether
/// a removed term was the last one. That costs two bytes per channel; a union of the device types would cost each
/// evaluation a pass over all channels, and a search through all terms each removal.
#[derive(Default)]
pub(crate) struct Segment {
    /// Only terms that somebody holds.
    pub(crate) terms: HashMap<TermId, RoaringBitmap>,
    /// The ordinals that hold at least one term.
    pub(crate) everyone: RoaringBitmap,
    /// How many terms each ordinal holds. `u16::MAX` stands for that many or more.
    held: Vec<u16>,
    /// The segment was loaded with everything up to here, while the index as a whole may begin earlier.
    pub(crate) since: Offset,
}

impl Segment {
    /// The position of an ordinal's segment in the index.
    pub(crate) fn position(ordinal: Ordinal) -> usize {
        (ordinal.0 >> SEGMENT_BITS) as usize
    }

    /// Sets and clears the bits of one channel. A term both removed and added is held afterwards.
    pub(crate) fn change(&mut self, change: &TermChange) {
        for term in &change.removed {
            self.remove(*term, change.ordinal);
        }
        for term in &change.added {
            self.add(*term, change.ordinal);
        }
    }

    /// Adds a term to those of the channels that are part of everyone.
    pub(crate) fn add_all(&mut self, term: TermId, channels: &RoaringBitmap) {
        let mut gaining = channels & &self.everyone;
        if gaining.is_empty() {
            return;
        }
        let holders = self.terms.entry(term).or_default();
        gaining -= &*holders;
        *holders |= &gaining;
        for ordinal in gaining {
            self.gained(Ordinal(ordinal));
        }
    }

    /// Takes a term from those of the channels that hold it.
    pub(crate) fn remove_all(&mut self, term: TermId, channels: &RoaringBitmap) {
        let Entry::Occupied(mut holders) = self.terms.entry(term) else { return };
        let losing = holders.get() & channels;
        *holders.get_mut() -= &losing;
        if holders.get().is_empty() {
            holders.remove();
        }
        for ordinal in losing {
            self.lost(Ordinal(ordinal));
        }
    }

    fn add(&mut self, term: TermId, ordinal: Ordinal) {
        if self.terms.entry(term).or_default().insert(ordinal.0) {
            self.gained(ordinal);
            self.everyone.insert(ordinal.0);
        }
    }

    fn remove(&mut self, term: TermId, ordinal: Ordinal) {
        let Entry::Occupied(mut holders) = self.terms.entry(term) else { return };
        if !holders.get_mut().remove(ordinal.0) {
            return;
        }
        if holders.get().is_empty() {
            holders.remove();
        }
        self.lost(ordinal);
    }

    /// Counts a term that has been added to a channel.
    fn gained(&mut self, ordinal: Ordinal) {
        let held = self.held(ordinal);
        *held = held.saturating_add(1);
    }

    /// Counts a term that has been taken from a channel.
    fn lost(&mut self, ordinal: Ordinal) {
        let left = match *self.held(ordinal) {
            u16::MAX => self.recount(ordinal),
            held => held - 1,
        };
        *self.held(ordinal) = left;
        if left == 0 {
            self.everyone.remove(ordinal.0);
        }
    }

    fn held(&mut self, ordinal: Ordinal) -> &mut u16 {
        let slot = (ordinal.0 % (1 << SEGMENT_BITS)) as usize;
        if slot >= self.held.len() {
            self.held.resize(slot + 1, 0);
        }
        &mut self.held[slot]
    }

    fn recount(&self, ordinal: Ordinal) -> u16 {
        let held = self.terms.values().filter(|holders| holders.contains(ordinal.0)).count();
        u16::try_from(held).unwrap_or(u16::MAX)
    }

    /// Adds a channel above all others with the number of its terms, which [`Segment::append`] brings.
    pub(crate) fn append_channel(&mut self, ordinal: Ordinal, terms: usize) {
        if terms > 0 {
            *self.held(ordinal) = u16::try_from(terms).unwrap_or(u16::MAX);
            self.everyone.insert(ordinal.0);
        }
    }

    /// Adds holders of a term, in ascending order and above all of its present ones.
    pub(crate) fn append(&mut self, term: TermId, holders: impl Iterator<Item = u32>) {
        self.terms.entry(term).or_default().append(holders).expect("the builder refuses ordinals that do not ascend");
    }

    /// Gives back the memory that growing has reserved.
    pub(crate) fn tighten(&mut self) {
        for holders in self.terms.values_mut() {
            // A copy is the only way to make a bitmap's containers exactly as large as their content.
            *holders = holders.clone();
        }
        self.terms.shrink_to_fit();
        self.held.shrink_to_fit();
    }
}
