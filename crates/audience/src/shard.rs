//! One shard of the index: which of 2^20 consecutive ordinals hold which terms.

mod holders;

use model::ids::{Offset, Ordinal, TermId};
use model::term::TermChange;
use roaring::RoaringBitmap;

use crate::bytes::{put_bitmap, take_bitmap};
use crate::dictionary::Dictionary;
use holders::Holders;

const SHARD_BITS: u32 = 20;

/// The universe is kept up to date rather than computed: a count of terms per ordinal says in constant time whether
/// a removed term was the last one. That costs two bytes per channel; a union of the device types would cost each
/// evaluation a pass over all channels, and a search through all terms each removal.
#[derive(Default)]
pub(crate) struct Shard {
    /// The terms whose holders are part of everyone.
    present: Holders,
    /// The terms that are kept apart: they may also be held by channels that are not part of everyone.
    apart: Holders,
    /// The ordinals that hold at least one term that is not kept apart.
    pub(crate) everyone: RoaringBitmap,
    /// How many such terms each ordinal holds. `u16::MAX` stands for that many or more.
    held: Vec<u16>,
    /// The shard was loaded with everything up to here, while the index as a whole may begin earlier.
    pub(crate) since: Offset,
}

impl Shard {
    /// Which shard of the index an ordinal belongs to.
    pub(crate) fn index_of(ordinal: Ordinal) -> usize {
        (ordinal.0 >> SHARD_BITS) as usize
    }

    /// The holders of a term, all of them part of everyone.
    pub(crate) fn present(&self, term: TermId) -> Option<&RoaringBitmap> {
        self.present.get(term)
    }

    /// The holders of a term that is kept apart.
    pub(crate) fn apart(&self, term: TermId) -> Option<&RoaringBitmap> {
        self.apart.get(term)
    }

    /// Sets and clears the bits of one channel. A term both removed and added is held afterwards.
    pub(crate) fn change(&mut self, change: &TermChange, dictionary: &Dictionary) {
        for term in &change.removed {
            if dictionary.is_apart(*term) {
                self.apart.remove(*term, change.ordinal);
            } else if self.present.remove(*term, change.ordinal) {
                self.lost(change.ordinal);
            }
        }
        for term in &change.added {
            if dictionary.is_apart(*term) {
                self.apart.add(*term, change.ordinal);
            } else if self.present.add(*term, change.ordinal) {
                self.gained(change.ordinal);
                self.everyone.insert(change.ordinal.0);
            }
        }
    }

    /// Adds a term to many channels; unless it is kept apart, only to those that are part of everyone.
    pub(crate) fn add_all(&mut self, term: TermId, channels: RoaringBitmap, dictionary: &Dictionary) {
        if dictionary.is_apart(term) {
            self.apart.add_all(term, channels);
            return;
        }
        for ordinal in self.present.add_all(term, channels & &self.everyone) {
            self.gained(Ordinal(ordinal));
        }
    }

    /// Takes a term from many channels.
    pub(crate) fn remove_all(&mut self, term: TermId, channels: &RoaringBitmap, dictionary: &Dictionary) {
        if dictionary.is_apart(term) {
            self.apart.remove_all(term, channels);
            return;
        }
        for ordinal in self.present.remove_all(term, channels) {
            self.lost(Ordinal(ordinal));
        }
    }

    /// Counts a term that has been added to a channel.
    fn gained(&mut self, ordinal: Ordinal) {
        let held = self.held(ordinal);
        *held = held.saturating_add(1);
    }

    /// Counts a term that has been taken from a channel.
    fn lost(&mut self, ordinal: Ordinal) {
        let left = match *self.held(ordinal) {
            u16::MAX => u16::try_from(self.present.terms_of(ordinal)).unwrap_or(u16::MAX),
            held => held - 1,
        };
        *self.held(ordinal) = left;
        if left == 0 {
            self.everyone.remove(ordinal.0);
        }
    }

    fn held(&mut self, ordinal: Ordinal) -> &mut u16 {
        let index = index_in_shard(ordinal);
        if index >= self.held.len() {
            self.held.resize(index + 1, 0);
        }
        &mut self.held[index]
    }

    /// Adds a channel above all others with the number of its terms that are not kept apart. [`Shard::append`] brings
    /// the terms.
    pub(crate) fn append_channel(&mut self, ordinal: Ordinal, terms: usize) {
        if terms > 0 {
            *self.held(ordinal) = u16::try_from(terms).unwrap_or(u16::MAX);
            self.everyone.insert(ordinal.0);
        }
    }

    /// Adds holders of a term, in ascending order and above all of its present ones.
    pub(crate) fn append(&mut self, term: TermId, holders: impl Iterator<Item = u32>, dictionary: &Dictionary) {
        let terms = if dictionary.is_apart(term) { &mut self.apart } else { &mut self.present };
        terms.append(term, holders);
    }

    /// Gives back the memory that growing has reserved.
    pub(crate) fn tighten(&mut self) {
        self.present.tighten();
        self.apart.tighten();
        self.held.shrink_to_fit();
    }

    /// Writes the shard as bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_bitmap(out, &self.everyone);
        out.extend(self.everyone.iter().flat_map(|ordinal| self.held[index_in_shard(Ordinal(ordinal))].to_le_bytes()));
        self.present.write(out);
        self.apart.write(out);
    }

    /// The reverse of [`Shard::write`]; `None` for bytes that it never writes.
    pub(crate) fn read(mut bytes: &[u8], since: Offset) -> Option<Self> {
        let input = &mut bytes;
        let everyone = take_bitmap(input)?;
        let counts = input.split_off(..usize::try_from(everyone.len()).ok()? * size_of::<u16>())?;
        let mut held = vec![0; everyone.max().map_or(0, |last| index_in_shard(Ordinal(last)) + 1)];
        for (ordinal, count) in everyone.iter().zip(counts.as_chunks().0) {
            *held.get_mut(index_in_shard(Ordinal(ordinal)))? = u16::from_le_bytes(*count);
        }
        let (present, apart) = (Holders::read(input)?, Holders::read(input)?);
        input.is_empty().then_some(Self { present, apart, everyone, held, since })
    }
}

fn index_in_shard(ordinal: Ordinal) -> usize {
    (ordinal.0 % (1 << SHARD_BITS)) as usize
}
