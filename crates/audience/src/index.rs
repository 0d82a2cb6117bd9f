//! The index of one app: term → set of ordinals, kept current by the records of the app's log.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use model::ids::{Offset, Ordinal, TermId};
use model::term::TermsRecord;
use roaring::RoaringBitmap;

use crate::block::blocks;
use crate::builder::Builder;
use crate::codec::{self, CorruptBitmap};
use crate::dictionary::Dictionary;
use crate::shard::Shard;

/// The locks of an index are those of `std`, which are poisoned by a panic, on purpose: a change that was
/// made by half would choose the wrong recipients without anybody noticing. The rule of the workspace is
/// `parking_lot`.
pub(crate) const UNPOISONED: &str = "no thread panics while it holds a lock of the index";

/// Which channels hold which terms.
///
/// Updates happen in place, under the lock of a shard of 2^20 ordinals. An audience looks at one channel at a
/// time, so that evaluating it shard by shard is exact for each channel: no answer ever shows half of a
/// change.
#[derive(Default)]
pub struct Index {
    pub(crate) dictionary: RwLock<Dictionary>,
    pub(crate) shards: RwLock<Vec<Arc<RwLock<Shard>>>>,
    /// Held while a record is applied, so that records are applied one after the other.
    turn: Mutex<()>,
    /// Written by the holder of `turn`. Apart from it, because asking for the offset must not wait for a
    /// record.
    offset: AtomicI64,
}

impl Index {
    /// An index of nobody, before the first record.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fast way to an index of channels that exist already.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn from_parts(dictionary: Dictionary, shards: Vec<Shard>, offset: Offset) -> Self {
        Self {
            dictionary: RwLock::new(dictionary),
            shards: RwLock::new(shards.into_iter().map(|shard| Arc::new(RwLock::new(shard))).collect()),
            turn: Mutex::default(),
            offset: AtomicI64::new(offset.0),
        }
    }

    /// Applies the record at an offset of the log. A record at or before [`Index::offset`] has been applied
    /// already and changes nothing; neither does one with a bitmap that cannot be read.
    pub fn apply(&self, offset: Offset, record: &TermsRecord) -> Result<(), CorruptBitmap> {
        let _turn = self.turn();
        if offset <= self.offset() {
            return Ok(());
        }
        let sets = record.sets.iter().map(|set| Ok((set.term, decode(&set.removed)?, decode(&set.added)?)));
        let sets = sets.collect::<Result<Vec<_>, _>>()?;

        if !record.new_terms.is_empty() {
            let mut dictionary = self.dictionary.write().expect(UNPOISONED);
            for (term, group, tag) in &record.new_terms {
                dictionary.set_name(*term, group, tag);
            }
        }
        let dictionary = self.dictionary.read().expect(UNPOISONED);
        // Locked for one channel or one block at a time, so that a large record lets evaluations through.
        for change in &record.changes {
            self.update(offset, change.ordinal, |shard| shard.change(change, &dictionary));
        }
        for (term, removed, added) in sets {
            for (block, channels) in blocks(&(removed - &added)) {
                self.update(offset, block.first(), |shard| shard.remove_all(term, &channels, &dictionary));
            }
            for (block, channels) in blocks(&added) {
                self.update(offset, block.first(), |shard| shard.add_all(term, channels, &dictionary));
            }
        }
        self.offset.store(offset.0, Ordering::Release);
        Ok(())
    }

    /// Notes that the log has nothing more for the index up to an offset.
    pub fn advance(&self, offset: Offset) {
        let _turn = self.turn();
        self.offset.fetch_max(offset.0, Ordering::Release);
    }

    /// The last offset of the log that the answers of the index include.
    pub fn offset(&self) -> Offset {
        Offset(self.offset.load(Ordering::Acquire))
    }

    /// The number of a term; `None` when no channel has ever held it.
    pub fn number_of(&self, group: &str, tag: &str) -> Option<TermId> {
        self.dictionary.read().expect(UNPOISONED).number_of(group, tag)
    }

    /// The group and tag of a numbered term.
    pub fn name_of(&self, term: TermId) -> Option<(String, String)> {
        let dictionary = self.dictionary.read().expect(UNPOISONED);
        let (group, tag) = dictionary.name_of(term)?;
        Some((group.to_owned(), tag.to_owned()))
    }

    pub fn is_named(&self, term: TermId) -> bool {
        self.dictionary.read().expect(UNPOISONED).name_of(term).is_some()
    }

    /// Visits numbered terms with their groups and tags; `None` for those that are new to the index.
    pub fn visit_names(&self, terms: &[TermId], mut visit: impl FnMut(TermId, Option<(&str, &str)>)) {
        let dictionary = self.dictionary.read().expect(UNPOISONED);
        terms.iter().for_each(|term| visit(*term, dictionary.name_of(*term)));
    }

    /// The tags of a group, in no order.
    pub fn tags(&self, group: &str) -> Vec<String> {
        self.dictionary.read().expect(UNPOISONED).tags(group).map(str::to_owned).collect()
    }

    /// Whether any term of a group is known.
    pub fn has_group(&self, group: &str) -> bool {
        self.dictionary.read().expect(UNPOISONED).tags(group).next().is_some()
    }

    /// The groups of all terms, in no order.
    pub fn groups(&self) -> Vec<String> {
        self.dictionary.read().expect(UNPOISONED).groups().map(str::to_owned).collect()
    }

    pub(crate) fn shards(&self) -> Vec<Arc<RwLock<Shard>>> {
        self.shards.read().expect(UNPOISONED).clone()
    }

    fn shard(&self, ordinal: Ordinal) -> Arc<RwLock<Shard>> {
        let index = Shard::index_of(ordinal);
        if let Some(shard) = self.shards.read().expect(UNPOISONED).get(index) {
            return Arc::clone(shard);
        }
        let mut shards = self.shards.write().expect(UNPOISONED);
        if index >= shards.len() {
            shards.resize_with(index + 1, Arc::default);
        }
        Arc::clone(&shards[index])
    }

    /// Waits until no record is being applied, and keeps others from beginning.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().expect(UNPOISONED)
    }

    /// Changes the shard of an ordinal, unless it was loaded with the record at `offset`.
    fn update(&self, offset: Offset, ordinal: Ordinal, change: impl FnOnce(&mut Shard)) {
        let shard = self.shard(ordinal);
        let mut shard = shard.write().expect(UNPOISONED);
        if offset > shard.since {
            change(&mut shard);
        }
    }
}

fn decode(channels: &[u8]) -> Result<RoaringBitmap, CorruptBitmap> {
    if channels.is_empty() { Ok(RoaringBitmap::new()) } else { codec::decode(channels) }
}
