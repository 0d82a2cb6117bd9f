//! What records are about, without most of their bodies, and records by their offsets.

use model::event::RecordKind;
use model::ids::{AppId, Offset, Ordinal};

use super::Record;
use crate::privacy::rows_within;
use crate::{Result, Row, Tx};

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention<'r> {
    pub offset: Offset,
    pub kind: RecordKind,
    pub ordinal: Option<Ordinal>,
    /// Only of a record that is about no single channel and says in its body what it is about: one about many channels, or a
    /// custom event.
    pub body: Option<&'r [u8]>,
}

/// Visits the records from an offset up to another, oldest first. Returns how many were left out because this version does not know
/// their kind.
pub fn visit_mentions(
    tx: &mut Tx<'_>,
    app: AppId,
    (first, last): (Offset, Offset),
    mut visit: impl FnMut(Mention<'_>) -> Result<()>,
) -> Result<u64> {
    tx.write_pending_records()?;
    let says_in_body = |kind: &RecordKind| kind.is_of_many() || *kind == RecordKind::Custom;
    let kinds = RecordKind::NUMBERED.into_iter().filter(|(_, kind)| says_in_body(kind));
    let kinds: Vec<String> = kinds.map(|(number, _)| number.to_string()).collect();
    let sql = format!(
        "select position, kind, ordinal, case when ordinal is null and kind in ({}) then body end from log
         where app = $1 and position >= $2 and position <= $3 order by position",
        kinds.join(", ")
    );
    let mut n_unknown = 0;
    tx.for_each(&sql, &[app.into(), first.into(), last.into()], |row| {
        let (offset, kind) = (row.next()?, RecordKind::from_number(row.next()?));
        match kind {
            Some(kind) => visit(Mention { offset, kind, ordinal: row.next()?, body: row.next()? })?,
            None => n_unknown += 1,
        }
        Ok(())
    })?;
    Ok(n_unknown)
}

/// The records at some offsets, as far as they are kept and of a kind that this version knows, in the order of the offsets.
pub fn at_offsets(tx: &mut Tx<'_>, app: AppId, offsets: &[Offset]) -> Result<Vec<Record>> {
    let found = read_at(tx, app, offsets)?.into_iter();
    Ok(found.filter(|(_, is_known)| *is_known).map(|(record, _)| record).collect())
}

/// As [`at_offsets`], and records of kinds that this version does not know count as [`RecordKind::Unrecognized`].
pub fn all_at_offsets(tx: &mut Tx<'_>, app: AppId, offsets: &[Offset]) -> Result<Vec<Record>> {
    Ok(read_at(tx, app, offsets)?.into_iter().map(|(record, _)| record).collect())
}

fn read_at(tx: &mut Tx<'_>, app: AppId, offsets: &[Offset]) -> Result<Vec<(Record, bool)>> {
    tx.write_pending_records()?;
    let sql = "select position, at, kind, ordinal, body from log where app = $1 and position = $2";
    tx.query_many(sql, offsets.iter().map(|offset| [app.into(), (*offset).into()]), read_any)
}

/// A record, and whether its kind is known.
fn read_any(row: &Row<'_>) -> Result<(Record, bool)> {
    let (offset, at, kind) = (row.next()?, row.next()?, RecordKind::from_number(row.next()?));
    let (is_known, kind) = (kind.is_some(), kind.unwrap_or(RecordKind::Unrecognized));
    Ok((Record { offset, at, kind, ordinal: row.next()?, body: row.next()? }, is_known))
}

/// Up to `at_most` records after an offset and up to another, oldest first. Together they have `most_bytes` unless a single one has
/// more. Records of kinds that this version does not know count as [`RecordKind::Unrecognized`].
pub fn portion(
    tx: &mut Tx<'_>,
    app: AppId,
    (after, until): (Offset, Offset),
    (at_most, most_bytes): (usize, i64),
) -> Result<LogPortion> {
    tx.write_pending_records()?;
    let sql = "select position, cast(octet_length(body) as bigint) from log
               where app = $1 and position > $2 and position <= $3 order by position limit $4";
    let limit = i64::try_from(at_most).unwrap_or(i64::MAX);
    let params = [app.into(), after.into(), until.into(), limit.into()];
    let sizes: Vec<(Offset, i64)> = tx.query(sql, &params, |row| Ok((row.next()?, row.next()?)))?;
    let bytes: Vec<i64> = sizes.iter().map(|(_, size)| *size).collect();
    let n_records = rows_within(&bytes, most_bytes);
    let Some((last, _)) = sizes.get(n_records - 1).copied() else { return Ok(LogPortion::default()) };
    let sql = "select position, at, kind, ordinal, body from log
               where app = $1 and position > $2 and position <= $3 order by position";
    let mut portion = LogPortion::default();
    tx.for_each(sql, &[app.into(), after.into(), last.into()], |row| {
        let (record, is_known) = read_any(row)?;
        portion.n_unknown += u64::from(!is_known);
        portion.records.push(record);
        Ok(())
    })?;
    portion.next = (sizes.len() == at_most || n_records < sizes.len()).then_some(last);
    Ok(portion)
}

/// Some records.
#[derive(Debug, Default)]
pub struct LogPortion {
    pub records: Vec<Record>,
    /// Records of kinds that this version does not know.
    pub n_unknown: u64,
    /// The offset to go on after; `None` at the end.
    pub next: Option<Offset>,
}
