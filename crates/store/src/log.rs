//! The log of each app: everything that happened, in one order, without gaps.
//!
//! The app's row holds the last position given out. A transaction that appends has that row to itself
//! ([`crate::app_numbers`]), so two of one app are serialized and become visible in order: a reader that has
//! seen position N has seen all up to N.
//!
//! Records are inserted at the end of their transaction, or when it reads the log itself.

mod bounds;
mod by_kind;
mod newest;
mod pending;
mod retention;
mod rewriting;
mod subjects;
mod times;
mod windows;

use std::collections::BTreeSet;
use std::sync::Arc;

use model::event::RecordKind;
use model::ids::{AppId, Offset, Ordinal};
use model::time::UtcMillis;

use crate::{Error, Part, Result, Row, Signal, Tx, app_numbers};

pub(crate) use bounds::LogBounds;
pub use by_kind::{visit_lives, visit_sends};
pub use newest::newest_of_kinds;
pub(crate) use pending::PendingRecords;
pub use retention::{delete_before, first_since, last_deleted, n_bytes};
pub(crate) use rewriting::ordinals_at;
pub use rewriting::{Rewritten, rewrite};
pub use subjects::{LogPortion, Mention, all_at_offsets, at_offsets, portion, visit_mentions};
pub use times::time_after;
pub use windows::LogReads;
pub(crate) use windows::LogWindows;

use windows::Wanted;

/// The offset of the first record of an app.
const FIRST: Offset = Offset(1);

/// One record to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    pub kind: RecordKind,
    /// The channel the record is about, if it is about one.
    pub ordinal: Option<Ordinal>,
    pub body: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub offset: Offset,
    pub at: UtcMillis,
    pub kind: RecordKind,
    pub ordinal: Option<Ordinal>,
    pub body: Vec<u8>,
}

/// Appends records, at the end of the transaction, and returns the offset of the last one. Nothing to append
/// leaves the log as it is.
pub fn append(tx: &mut Tx<'_>, app: AppId, at: UtcMillis, records: Vec<NewRecord>) -> Result<Offset> {
    if records.is_empty() {
        return head(tx, app);
    }
    let n_records = i64::try_from(records.len()).unwrap_or(i64::MAX);
    let n_bytes = records.iter().map(|record| record.body.len()).sum::<usize>();
    let numbers = app_numbers::to_change(tx, app)?;
    let first = Offset(numbers.log_head + 1);
    numbers.log_head += n_records;
    numbers.log_bytes += i64::try_from(n_bytes).unwrap_or(i64::MAX);
    let last = Offset(numbers.log_head);
    let has_deliveries = records.iter().any(|record| record.kind == RecordKind::Send);
    tx.pending_records()?.push(app, first, at, records);
    if has_deliveries {
        tx.note_deliveries();
    }
    tx.signal(Signal::Log(app));
    Ok(last)
}

/// The offset of the last record; 0 for an app without records and for one that does not exist.
pub fn head(tx: &mut Tx<'_>, app: AppId) -> Result<Offset> {
    if !tx.may_write() {
        return Ok(bounds::in_snapshot(tx, app)?.map_or(Offset(0), |bounds| bounds.head));
    }
    Ok(Offset(app_numbers::current(tx, app)?.map_or(0, |numbers| numbers.log_head)))
}

/// The offset of the last record of every app that has records.
pub fn heads(tx: &mut Tx<'_>, part: &Part) -> Result<Vec<(AppId, Offset)>> {
    let mut params = Vec::new();
    let sql = part.narrow("select app, log_head from app_numbers where log_head > 0", &mut params);
    tx.query(&sql, &params, |row| Ok((row.next()?, row.next()?)))
}

/// Up to `at_most` records after an offset, oldest first.
pub fn after(tx: &mut Tx<'_>, app: AppId, offset: Offset, at_most: u32) -> Result<Vec<Record>> {
    tx.write_pending_records()?;
    tx.query(
        "select position, at, kind, ordinal, body from log
         where app = $1 and position > $2 order by position limit $3",
        &[app.into(), offset.into(), at_most.into()],
        |row| Ok(read(row)?.into()),
    )
}

/// The offset of the oldest record that is kept, or of the next one to be written if none is kept.
pub fn start(tx: &mut Tx<'_>, app: AppId) -> Result<Offset> {
    if !tx.may_write() {
        return Ok(bounds::in_snapshot(tx, app)?.map_or(FIRST, |bounds| bounds.start));
    }
    // Not looked for in the log, because PostgreSQL walks the remains of deleted records that it has not
    // cleaned up yet.
    let start = tx.query_opt("select log_start from app_numbers where app = $1", &[app.into()], |row| row.get(0))?;
    Ok(start.unwrap_or(FIRST))
}

/// How often records of an app were changed in place, as seen by a transaction that only reads.
pub fn n_rewrites(tx: &mut Tx<'_>, app: AppId) -> Result<i64> {
    Ok(bounds::in_snapshot(tx, app)?.map_or(0, |bounds| bounds.rewrites))
}

/// A record as it lies in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordRow<'r> {
    pub offset: Offset,
    pub at: UtcMillis,
    pub kind: RecordKind,
    pub ordinal: Option<Ordinal>,
    pub body: &'r [u8],
}

/// Visits up to `at_most` records of some kinds after an offset and up to another, oldest first.
pub fn visit_kinds(
    tx: &mut Tx<'_>,
    app: AppId,
    after: Offset,
    until: Offset,
    kinds: &BTreeSet<RecordKind>,
    at_most: u32,
    mut visit: impl FnMut(RecordRow<'_>) -> Result<()>,
) -> Result<()> {
    let wanted = Wanted { after, until, kinds, at_most };
    match recent(tx, app, wanted)? {
        Some(records) => records.iter().try_for_each(|record| visit(record.row())),
        None => visit_stored(tx, app, wanted, &mut visit),
    }
}

/// Records from the memory of this node; `None` if they have to be read from the database.
fn recent(tx: &mut Tx<'_>, app: AppId, wanted: Wanted<'_>) -> Result<Option<Vec<Arc<Record>>>> {
    // A transaction that writes has the newest records to itself until it is committed.
    let Some(windows) = tx.log_windows() else { return Ok(None) };
    let records = windows.records(tx, app, wanted)?;
    if records.is_none() {
        windows.count_stored();
    }
    Ok(records)
}

/// Reads records from the database.
fn visit_stored(
    tx: &mut Tx<'_>,
    app: AppId,
    Wanted { after, until, kinds, at_most }: Wanted<'_>,
    visit: &mut dyn FnMut(RecordRow<'_>) -> Result<()>,
) -> Result<()> {
    tx.write_pending_records()?;
    let numbers: Vec<String> = kinds.iter().map(|kind| kind.number().to_string()).collect();
    let sql = format!(
        "select position, at, kind, ordinal, body from log
         where app = $1 and position > $2 and position <= $3 and kind in ({}) order by position limit $4",
        numbers.join(", ")
    );
    tx.for_each(&sql, &[app.into(), after.into(), until.into(), at_most.into()], |row| visit(read(row)?))
}

fn read<'r>(row: &Row<'r>) -> Result<RecordRow<'r>> {
    Ok(RecordRow {
        offset: row.next()?,
        at: row.next()?,
        kind: read_kind(row.next()?)?,
        ordinal: row.next()?,
        body: row.next()?,
    })
}

pub(crate) fn read_kind(number: i64) -> Result<RecordKind> {
    RecordKind::from_number(number).ok_or_else(|| Error::corrupt(format!("log record kind {number}")))
}

impl Record {
    fn row(&self) -> RecordRow<'_> {
        let Self { offset, at, kind, ordinal, body } = self;
        RecordRow { offset: *offset, at: *at, kind: *kind, ordinal: *ordinal, body }
    }
}

impl From<RecordRow<'_>> for Record {
    fn from(RecordRow { offset, at, kind, ordinal, body }: RecordRow<'_>) -> Self {
        Self { offset, at, kind, ordinal, body: body.to_vec() }
    }
}

/// Records that change terms, and how far the log was read for them.
pub struct TermsRecords {
    /// Whether records right after the offset have already been deleted.
    pub is_gap: bool,
    /// Offsets and bodies, oldest first.
    pub found: Vec<(Offset, Vec<u8>)>,
    pub looked: Offset,
}

/// Up to `at_most` records that change terms after an offset. Followers of an index read nothing else, and
/// some other records are large.
pub fn terms_after(tx: &mut Tx<'_>, app: AppId, offset: Offset, at_most: u32) -> Result<TermsRecords> {
    let (head, start) = (head(tx, app)?, start(tx, app)?);
    let mut found = Vec::new();
    visit_kinds(tx, app, offset, head, &BTreeSet::from([RecordKind::Terms]), at_most, |record| {
        found.push((record.offset, record.body.to_vec()));
        Ok(())
    })?;
    let is_full = found.len() >= at_most as usize;
    let looked = found.last().filter(|_| is_full).map_or(head, |(last, _)| *last);
    Ok(TermsRecords { is_gap: start.0 > offset.0 + 1, found, looked })
}
