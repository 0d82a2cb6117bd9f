//! Old records: where they end, and deleting them.

use model::event::{EventOffset, RecordKind};
use model::ids::{AppId, Offset};
use model::time::UtcMillis;

use super::{bounds, head, start, time_after};
use crate::{Result, Tx, Value, app_numbers, faces, postings};

/// The offset of the first record of an instant or later; after a log without one, that of the next record.
/// Records are in the order of their times, but for the moments by which the clocks of nodes differ, so it is
/// found by halving.
pub fn first_since(tx: &mut Tx<'_>, app: AppId, instant: UtcMillis) -> Result<Offset> {
    let (mut least, mut most) = (start(tx, app)?.0, head(tx, app)?.0 + 1);
    while least < most {
        let middle = least + (most - least) / 2;
        // The time of a later record if another transaction has deleted this one meanwhile.
        match time_after(tx, app, Offset(middle - 1))? {
            Some(at) if at < instant => least = middle + 1,
            Some(_) | None => most = middle,
        }
    }
    Ok(Offset(least))
}

/// The last deleted event, or the one after which nothing was deleted: a reader that has seen it has missed
/// nothing.
pub fn last_deleted(tx: &mut Tx<'_>, app: AppId) -> Result<EventOffset> {
    if !tx.may_write() {
        return Ok(bounds::in_snapshot(tx, app)?.map_or(EventOffset::START, |bounds| bounds.lost));
    }
    let lost = tx.query_opt("select log_lost from app_numbers where app = $1", &[app.into()], |row| row.get(0))?;
    Ok(lost.map_or(EventOffset::START, EventOffset::from_number))
}

/// The last event of some records. For a record about many channels, the number of its events is not looked
/// up.
fn last_event(tx: &mut Tx<'_>, records: &[Value; 3]) -> Result<Option<EventOffset>> {
    let hidden = RecordKind::NUMBERED.into_iter().filter(|(_, kind)| kind.public_name().is_none());
    let hidden: Vec<String> = hidden.map(|(number, _)| number.to_string()).collect();
    let sql = format!(
        "select position, kind from log where app = $1 and position >= $2 and position < $3 and kind not in ({})
         order by position desc limit 1",
        hidden.join(", ")
    );
    tx.query_opt(&sql, records, |row| {
        let (record, kind) = (row.next()?, RecordKind::from_number(row.next()?));
        let is_of_one = kind.is_some_and(|kind| !kind.is_of_many());
        Ok(if is_of_one { EventOffset::new(record, 0) } else { EventOffset::end_of(record) })
    })
}

/// The size of the bodies of the records.
pub fn n_bytes(tx: &mut Tx<'_>, app: AppId) -> Result<u64> {
    let n_bytes = app_numbers::current(tx, app)?.map_or(0, |numbers| numbers.log_bytes);
    Ok(u64::try_from(n_bytes).unwrap_or(0))
}

/// Deletes up to `at_most` of the oldest records before an offset, and returns how many. The last record of
/// the log always stays: an audience index that has read up to it, such as that of an idle app, can still be
/// recognized as one of this log.
pub fn delete_before(tx: &mut Tx<'_>, app: AppId, first_kept: Offset, at_most: u32) -> Result<u64> {
    let start = start(tx, app)?;
    let end = first_kept.0.min(head(tx, app)?.0).min(start.0 + i64::from(at_most));
    if end <= start.0 {
        return Ok(0);
    }
    // Bounded on both sides: PostgreSQL still counts on most of the records that were deleted since it last
    // took statistics, and would read the whole table rather than so many.
    let old = [app.into(), start.into(), end.into()];
    let sql = "select coalesce(sum(length(body)), 0) from log where app = $1 and position >= $2 and position < $3";
    let n_bytes: i64 = tx.query_one(sql, &old, |row| row.get(0))?;
    if let Some(lost) = last_event(tx, &old)? {
        tx.write("update app_numbers set log_lost = $2 where app = $1", &[app.into(), lost.number().into()])?;
    }
    let n_deleted = tx.execute("delete from log where app = $1 and position >= $2 and position < $3", &old)?;
    let n_bytes = n_bytes + faces::delete_between(tx, app, start, Offset(end))?;
    postings::delete_between(tx, app, start, Offset(end))?;
    tx.write("update app_numbers set log_start = $2 where app = $1", &[app.into(), end.into()])?;
    if n_bytes > 0 {
        let numbers = app_numbers::to_change(tx, app)?;
        numbers.log_bytes = (numbers.log_bytes - n_bytes).max(0);
    }
    Ok(n_deleted)
}
