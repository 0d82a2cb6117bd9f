//! Finding the records about somebody, newest first: by the postings of full sections, and before those by reading what the newest
//! records are about. The work is bounded.

use std::collections::BTreeSet;

use base::Result;
use model::ids::{AppId, Offset};
use store::postings::{self, Section};
use store::{Tx, log};

use super::postings::{Postings, Subject, positions_in};

/// The sections that are read at first; every further step reads more.
const FIRST_SECTIONS: u32 = 4;
const MORE: u32 = 4;
const MOST_SECTIONS: u32 = 256;
/// The rows with postings that one walk reads, about: half a megabyte for each thousand.
const MOST_ROWS: u32 = 4_096;
/// The records without postings that a step reads, and the steps of a walk.
const OPEN_RECORDS: i64 = 16_384;
const OPEN_STEPS: u32 = 4;

pub(super) struct Walk<'p> {
    app: AppId,
    subjects: &'p BTreeSet<Subject>,
    buckets: BTreeSet<u32>,
    /// The first record that is kept, and the last whose section has postings.
    start: Offset,
    noted: Option<Offset>,
    /// The newest record that was not looked at.
    next: Offset,
    n_sections: u32,
    rows_left: u32,
    open_steps_left: u32,
    /// Records that cannot be read.
    n_unreadable: u64,
}

impl<'p> Walk<'p> {
    /// Begins with the record at an offset.
    pub(super) fn new(tx: &mut Tx<'_>, app: AppId, subjects: &'p BTreeSet<Subject>, newest: Offset) -> Result<Self> {
        Ok(Self {
            app,
            subjects,
            buckets: subjects.iter().map(|subject| subject.bucket()).collect(),
            start: log::start(tx, app)?,
            noted: postings::last(tx, app)?.map(Section::last),
            next: newest.min(log::head(tx, app)?),
            n_sections: FIRST_SECTIONS,
            rows_left: MOST_ROWS,
            open_steps_left: OPEN_STEPS,
            n_unreadable: 0,
        })
    }

    /// How many records the last steps could not read.
    pub(super) fn take_unreadable(&mut self) -> u64 {
        std::mem::take(&mut self.n_unreadable)
    }

    /// The newest record that was not looked at; `None` if there is none left.
    pub(super) fn next(&self) -> Option<Offset> {
        Some(self.next).filter(|next| *next >= self.start)
    }

    /// Looks at some more records. The offsets of those that are about the subjects, newest first; `None` if the walk has read as
    /// much as it may.
    pub(super) fn step(&mut self, tx: &mut Tx<'_>) -> Result<Option<Vec<Offset>>> {
        let is_noted = self.noted.is_some_and(|noted| self.next <= noted);
        let found = if is_noted { self.in_sections(tx)? } else { self.in_open_records(tx)? };
        Ok(found.map(|mut found| {
            found.sort_unstable_by(|one, other| other.cmp(one));
            found.dedup();
            found
        }))
    }

    fn in_open_records(&mut self, tx: &mut Tx<'_>) -> Result<Option<Vec<Offset>>> {
        let Some(left) = self.open_steps_left.checked_sub(1) else { return Ok(None) };
        self.open_steps_left = left;
        let first_open = self.noted.map_or(self.start, |noted| Offset(noted.0 + 1)).max(self.start);
        let first = first_open.max(Offset(self.next.0 - OPEN_RECORDS + 1));
        let (open, n_unreadable) = Postings::of_log(tx, self.app, (first, self.next))?;
        self.n_unreadable += n_unreadable;
        self.next = Offset(first.0 - 1);
        Ok(Some(open.positions_of(self.subjects).collect()))
    }

    fn in_sections(&mut self, tx: &mut Tx<'_>) -> Result<Option<Vec<Offset>>> {
        let last = Section::of(self.next);
        let first = last.first_of(self.n_sections).max(Section::of(self.start));
        let rows = self.n_sections * u32::try_from(self.buckets.len()).unwrap_or(u32::MAX);
        let Some(left) = self.rows_left.checked_sub(rows) else { return Ok(None) };
        (self.rows_left, self.n_sections) = (left, (self.n_sections * MORE).min(MOST_SECTIONS));
        let mut found = Vec::new();
        for bucket in postings::read(tx, self.app, (first, last), &self.buckets)? {
            found.extend(positions_in(&bucket, self.subjects)?);
        }
        found.retain(|position| (self.start..=self.next).contains(position));
        self.next = Offset(first.first().0 - 1);
        Ok(Some(found))
    }
}
