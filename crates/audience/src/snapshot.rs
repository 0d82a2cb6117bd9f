//! Snapshots: an index as bytes, from which a start continues instead of reading every channel.
//!
//! A snapshot is taken while records are applied. First come the names of the terms, then the shards one after the
//! other, each as of some offset of the log. A loaded index stands at the smallest of them. Replaying the log from
//! there brings the later names again, and a shard skips the records that it includes already.

mod section;

use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::RwLock;

use model::ids::{Offset, TermId};

use crate::bytes::{put_number, put_text, take_number, take_text};
use crate::dictionary::Dictionary;
use crate::index::{Index, UNPOISONED};
use crate::shard::Shard;
use section::{Kind, SectionReader, SectionWriter};

/// The number of terms named in one section, so that the dictionary is neither locked for long nor copied as a whole.
const NAMES_PER_SECTION: u32 = 1 << 14;

/// Why a snapshot is refused. The index has to be built anew.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("the snapshot of the index cannot be read")]
    Read(#[source] io::Error),
    #[error("this is not a snapshot of an index")]
    Foreign,
    #[error("the snapshot of the index has version {0}, but only version {version} can be read", version = section::VERSION)]
    Version(u8),
    #[error("the snapshot of the index ends too early")]
    Truncated,
    #[error("the snapshot of the index is damaged: {0}")]
    Damaged(&'static str),
}

/// Between which offsets of the log the parts of an index stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub oldest: Offset,
    pub newest: Offset,
}

impl Index {
    /// Writes the index and returns the offsets at which the written parts stand: an index that is read from the snapshot has to
    /// continue from the oldest. Records can be applied meanwhile: each waits at most for one shard to be copied, and for nothing
    /// that `out` does.
    pub fn write_snapshot(&self, out: &mut impl Write) -> io::Result<Span> {
        let mut sections = SectionWriter::begin(out)?;
        let mut body = Vec::new();
        let (offset, shards, terms) = {
            let _turn = self.turn();
            (self.offset(), self.shards(), self.dictionary.read().expect(UNPOISONED).numbers())
        };
        for first in terms.clone().step_by(NAMES_PER_SECTION as usize) {
            body.clear();
            let some = first..terms.end.min(first.saturating_add(NAMES_PER_SECTION));
            put_names(&mut body, &self.dictionary.read().expect(UNPOISONED), some);
            sections.section(Kind::Names, offset, &body)?;
        }
        let mut newest = offset;
        for shard in shards {
            body.clear();
            let offset = self.copy_shard(&shard, &mut body);
            newest = newest.max(offset);
            sections.section(Kind::Shard, offset, &body)?;
        }
        sections.section(Kind::End, offset, &[])?;
        Ok(Span { oldest: offset, newest })
    }

    /// The offsets at which the parts of an index stand that was just read from a snapshot.
    pub fn span(&self) -> Span {
        let oldest = self.offset();
        let since = self.shards().into_iter().map(|shard| shard.read().expect(UNPOISONED).since);
        Span { oldest, newest: since.fold(oldest, Offset::max) }
    }

    /// Reads an index that [`Index::write_snapshot`] has written. Its answers are right once the records after
    /// [`Index::offset`] have been applied to it.
    pub fn read_snapshot(input: &mut impl Read) -> Result<Self, SnapshotError> {
        let mut sections = SectionReader::begin(input)?;
        let mut body = Vec::new();
        let mut dictionary = Dictionary::default();
        let mut shards = Vec::new();
        loop {
            let (kind, offset) = sections.section(&mut body)?;
            match kind {
                Kind::Names => take_names(&mut dictionary, &body)
                    .ok_or(SnapshotError::Damaged("the names of the terms cannot be read"))?,
                Kind::Shard => {
                    shards.push(Shard::read(&body, offset).ok_or(SnapshotError::Damaged("a shard cannot be read"))?)
                }
                // No shard was copied before the names, so that theirs is the smallest offset.
                Kind::End => return Ok(Self::from_parts(dictionary, shards, offset)),
            }
        }
    }

    /// Copies a shard between two records, and gives the offset at which it stands.
    fn copy_shard(&self, shard: &RwLock<Shard>, copy: &mut Vec<u8>) -> Offset {
        let turn = self.turn();
        let shard = shard.read().expect(UNPOISONED);
        let offset = self.offset().max(shard.since);
        // The next record may begin, and waits only when it concerns this shard.
        drop(turn);
        shard.write(copy);
        offset
    }
}

fn put_names(out: &mut Vec<u8>, dictionary: &Dictionary, terms: Range<u32>) {
    for term in terms {
        if let Some((group, tag)) = dictionary.name_of(TermId(term)) {
            put_number(out, term);
            put_text(out, group);
            put_text(out, tag);
        }
    }
}

fn take_names(dictionary: &mut Dictionary, mut input: &[u8]) -> Option<()> {
    while !input.is_empty() {
        let term = TermId(take_number(&mut input)?);
        dictionary.set_name(term, take_text(&mut input)?, take_text(&mut input)?);
    }
    Some(())
}
