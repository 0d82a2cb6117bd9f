//! Where in the log the records about a channel are. The log is cut into sections of consecutive positions, and when a section is
//! full, somebody notes once for all of its records which channels they are about. An index by channel would cost every record the
//! change of another page; this costs a few bytes, and nothing while the record is written.

use std::collections::BTreeSet;

use model::ids::{AppId, Offset};

use crate::{Result, Tx, log};

const POSITIONS_PER_SECTION: i64 = 8_192;
/// The buckets of channels and users. A row has a few hundred entries of a section, so that a reader skips the others.
pub const BUCKETS: u32 = 32;
/// The bucket that every section has.
pub const FIRST_BUCKET: u32 = 0;

/// 8,192 consecutive positions of the log, by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Section(i64);

impl Section {
    pub const fn of(position: Offset) -> Self {
        Self(position.0.div_euclid(POSITIONS_PER_SECTION))
    }

    pub const fn first(self) -> Offset {
        Offset(self.0 * POSITIONS_PER_SECTION)
    }

    pub const fn last(self) -> Offset {
        Offset(self.first().0 + POSITIONS_PER_SECTION - 1)
    }

    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The first of the sections of which this is the last.
    #[must_use]
    pub fn first_of(self, n_sections: u32) -> Self {
        Self(self.0 - i64::from(n_sections.max(1)) + 1)
    }
}

/// Some subjects of a section, with the positions of their records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub bucket: u32,
    pub section: Section,
    /// In a form of the caller's making.
    pub body: Vec<u8>,
}

/// Notes sections. Each has at least its first bucket. Postings go when the records of their section do, so those of a section that
/// is gone by now would stay, and are not noted.
pub fn insert(tx: &mut Tx<'_>, app: AppId, buckets: Vec<Bucket>) -> Result<()> {
    let start = log::start(tx, app)?;
    let rows = buckets
        .into_iter()
        .filter(|bucket| bucket.section.last() >= start)
        .map(|Bucket { bucket, section, body }| [app.into(), bucket.into(), section.0.into(), body.into()]);
    tx.write_many("insert into log_posting (app, bucket, section, body) values ($1, $2, $3, $4)", rows)
}

/// The last section that was noted.
pub fn last(tx: &mut Tx<'_>, app: AppId) -> Result<Option<Section>> {
    let sql = "select section from log_posting where app = $1 and bucket = $2 order by section desc limit 1";
    tx.query_opt(sql, &[app.into(), FIRST_BUCKET.into()], |row| row.get(0).map(Section))
}

/// Some buckets of consecutive sections, as far as there are any.
pub fn read(
    tx: &mut Tx<'_>,
    app: AppId,
    (first, last): (Section, Section),
    buckets: &BTreeSet<u32>,
) -> Result<Vec<Bucket>> {
    let sql = "select bucket, section, body from log_posting
               where app = $1 and bucket = $2 and section >= $3 and section <= $4";
    let params = buckets.iter().map(|bucket| [app.into(), (*bucket).into(), first.0.into(), last.0.into()]);
    tx.query_many(sql, params, |row| {
        Ok(Bucket { bucket: row.next()?, section: row.next().map(Section)?, body: row.next()? })
    })
}

/// Deletes the sections whose records all are before an offset and were deleted, of which none was before `start`.
pub(crate) fn delete_between(tx: &mut Tx<'_>, app: AppId, start: Offset, end: Offset) -> Result<()> {
    let (first, kept) = (Section::of(start), Section::of(end));
    if first == kept {
        return Ok(());
    }
    let sql = "delete from log_posting where app = $1 and bucket = $2 and section >= $3 and section < $4";
    let all = FIRST_BUCKET..=BUCKETS;
    tx.write_many(sql, all.map(|bucket| [app.into(), bucket.into(), first.0.into(), kept.0.into()]))
}
