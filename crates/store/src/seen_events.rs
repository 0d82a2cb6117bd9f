//! Events that are remembered one by one, by the hour they happened in, so that a repeat is recognized: those of servers that came
//! with an id of their own. Those of devices are in [`crate::seen_uploads`], but for those of an hour in which a channel has sent
//! hundreds, and for those that were kept before there was that table.

use std::collections::HashSet;

use model::ids::{AppId, EventId};

use crate::{Result, Tx, Value};

/// Longer than a day and an hour, so that those around any time are in two spans at most.
const SPAN_HOURS: i64 = 48;

const KNOWN: &str = "select hour, id from seen_event where app = $1 and hour = $2 and id = $3";

/// Announces a call of [`known`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, events: impl IntoIterator<Item = (i64, EventId)>) {
    tx.foresee(KNOWN, events.into_iter().map(|event| key(app, event)));
}

/// The events that are known, out of those given. Each is identified by its hour and its id.
pub fn known(tx: &mut Tx<'_>, app: AppId, events: &[(i64, EventId)]) -> Result<HashSet<(i64, EventId)>> {
    let found =
        tx.query_many(KNOWN, events.iter().map(|event| key(app, *event)), |row| Ok((row.next()?, row.next()?)))?;
    Ok(found.into_iter().collect())
}

/// The hour under which events of devices are remembered that have no time of their own, and are to be found again by a time that
/// differs by hours: the last of a span of hours, so that they are not forgotten too early.
pub const fn span(hour: i64) -> i64 {
    hour.div_euclid(SPAN_HOURS) * SPAN_HOURS + SPAN_HOURS - 1
}

/// The last hour that has any.
pub fn last_hour(tx: &mut Tx<'_>, app: AppId) -> Result<Option<i64>> {
    let last = tx.query_opt("select max(hour) from seen_event where app = $1", &[app.into()], |row| row.get(0))?;
    Ok(last.flatten())
}

/// Remembers events that are not known.
pub fn add(tx: &mut Tx<'_>, app: AppId, events: &[(i64, EventId)]) -> Result<()> {
    let sql = "insert into seen_event (app, hour, id) values ($1, $2, $3)";
    tx.write_many(sql, events.iter().map(|event| key(app, *event)))?;
    Ok(())
}

/// Forgets events of a person who is erased.
pub fn forget(tx: &mut Tx<'_>, app: AppId, events: &[(i64, EventId)]) -> Result<()> {
    let sql = "delete from seen_event where app = $1 and hour = $2 and id = $3";
    tx.execute_many(sql, events.iter().map(|event| key(app, *event))).map(drop)
}

/// Forgets up to `at_most` events that happened before an hour. Returns whether any may be left.
pub fn forget_before(tx: &mut Tx<'_>, app: AppId, hour: i64, at_most: u32) -> Result<bool> {
    let sql = "select hour, id from seen_event where app = $1 and hour < $2 order by hour, id limit $3";
    let old: Vec<(i64, EventId)> =
        tx.query(sql, &[app.into(), hour.into(), at_most.into()], |row| Ok((row.next()?, row.next()?)))?;
    // One by one: SQLite compares every event of these hours with a list of pairs.
    let sql = "delete from seen_event where app = $1 and hour = $2 and id = $3";
    Ok(tx.execute_many(sql, old.iter().map(|event| key(app, *event)))? == u64::from(at_most))
}

fn key(app: AppId, (hour, id): (i64, EventId)) -> [Value; 3] {
    [app.into(), hour.into(), id.into()]
}
