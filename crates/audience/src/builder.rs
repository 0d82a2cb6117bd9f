//! Building an index from channels in ascending order, as a start without a current index does.

use model::ids::{Offset, Ordinal, TermId};
use roaring::RoaringBitmap;

use crate::block::{Block, blocks};
use crate::dictionary::Dictionary;
use crate::index::Index;
use crate::shard::Shard;

/// Collects the holders of each term block by block, so that every bitmap grows by whole runs at its end.
#[derive(Default)]
pub struct Builder {
    dictionary: Dictionary,
    shards: Vec<Shard>,
    /// The holders of each term within the current block. The numbers of terms are dense, so a plain array finds
    /// them faster than a map.
    holders: Vec<Vec<u32>>,
    /// The terms that have holders within the current block.
    terms: Vec<TermId>,
    last: Option<Ordinal>,
    sets: Vec<(TermId, RoaringBitmap)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("channel {} was read after channel {}, but channels are indexed in ascending order", .next.0, .last.0)]
pub struct OutOfOrder {
    pub last: Ordinal,
    pub next: Ordinal,
}

impl Builder {
    /// Gives a term its name, before any channel brings the term.
    pub fn set_name(&mut self, term: TermId, group: &str, tag: &str) {
        self.dictionary.set_name(term, group, tag);
    }

    /// Adds a channel whose ordinal is above all before it.
    pub fn push(&mut self, ordinal: Ordinal, terms: &[TermId]) -> Result<(), OutOfOrder> {
        if let Some(last) = self.last {
            if ordinal <= last {
                return Err(OutOfOrder { last, next: ordinal });
            }
            if Block::of(ordinal) != Block::of(last) {
                self.flush(last);
            }
        }
        self.last = Some(ordinal);
        let mut distinct = 0;
        for term in terms {
            distinct += usize::from(self.hold(*term, ordinal) && !self.dictionary.is_apart(*term));
        }
        shard(&mut self.shards, ordinal).append_channel(ordinal, distinct);
        Ok(())
    }

    /// Adds a term to many channels, and as in the log: unless it is kept apart, to those with a term of their own.
    pub fn push_set(&mut self, term: TermId, channels: RoaringBitmap) {
        self.sets.push((term, channels));
    }

    /// The index of the channels that were pushed, as of an offset of the log.
    pub fn finish(mut self, offset: Offset) -> Index {
        if let Some(last) = self.last {
            self.flush(last);
        }
        for (term, channels) in std::mem::take(&mut self.sets) {
            for (block, channels) in blocks(&channels) {
                shard(&mut self.shards, block.first()).add_all(term, channels, &self.dictionary);
            }
        }
        for shard in &mut self.shards {
            shard.tighten();
        }
        Index::from_parts(self.dictionary, self.shards, offset)
    }

    /// Whether the channel did not hold the term already.
    fn hold(&mut self, term: TermId, ordinal: Ordinal) -> bool {
        let index = term.0 as usize;
        if index >= self.holders.len() {
            self.holders.resize_with(index + 1, Vec::new);
        }
        let holders = &mut self.holders[index];
        match holders.last() {
            Some(last) if *last == ordinal.0 => return false,
            Some(_) => {}
            None => self.terms.push(term),
        }
        holders.push(ordinal.0);
        true
    }

    /// Moves the current block, which `last` is in, to its shard.
    fn flush(&mut self, last: Ordinal) {
        let shard = shard(&mut self.shards, last);
        for term in self.terms.drain(..) {
            shard.append(term, self.holders[term.0 as usize].drain(..), &self.dictionary);
        }
    }
}

fn shard(shards: &mut Vec<Shard>, ordinal: Ordinal) -> &mut Shard {
    let index = Shard::index_of(ordinal);
    if index >= shards.len() {
        shards.resize_with(index + 1, Shard::default);
    }
    &mut shards[index]
}
