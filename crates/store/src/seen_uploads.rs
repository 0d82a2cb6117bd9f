//! The events of uploads of devices, by the hour they happened in and the channel, so that a repeat is recognized: a row for the
//! ids of one upload in one hour, or of several uploads whose rows were merged.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{AppId, EventId, Id, Ordinal};
use uuid::Uuid;

use crate::{Error, Result, Tx, Value};

const KNOWN: &str = "select hour, ids from seen_upload where app = $1 and hour = $2 and ordinal = $3";
const ID_BYTES: usize = size_of::<uuid::Bytes>();

/// Announces a call of [`visit_known`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, hours: impl IntoIterator<Item = i64>) {
    tx.foresee(KNOWN, hours.into_iter().map(|hour| key(app, hour, ordinal)));
}

/// Visits the events of a channel that are known, by some hours: those of one row together.
pub fn visit_known(
    tx: &mut Tx<'_>,
    app: AppId,
    ordinal: Ordinal,
    hours: impl IntoIterator<Item = i64>,
    mut visit: impl FnMut(i64, &mut dyn ExactSizeIterator<Item = EventId>),
) -> Result<()> {
    let hours = hours.into_iter().map(|hour| key(app, hour, ordinal));
    tx.query_many(KNOWN, hours, |row| {
        let (hour, ids) = (row.next()?, row.next::<&[u8]>()?);
        visit(hour, &mut ids_of(ids)?);
        Ok(())
    })
    .map(drop)
}

fn ids_of(ids: &[u8]) -> Result<impl ExactSizeIterator<Item = EventId>> {
    let (ids, rest) = ids.as_chunks::<ID_BYTES>();
    if !rest.is_empty() {
        return Err(Error::corrupt("ids of events that are cut off"));
    }
    Ok(ids.iter().map(|id| Id::from_uuid(Uuid::from_bytes(*id))))
}

/// Remembers events of one upload that are not known. Where it adds to a `crowded` hour, one of many rows, a single row is left of
/// that hour.
pub fn add(
    tx: &mut Tx<'_>,
    app: AppId,
    ordinal: Ordinal,
    events: &[(i64, EventId)],
    crowded: &BTreeSet<i64>,
) -> Result<()> {
    let mut by_hour: BTreeMap<i64, (EventId, Vec<u8>)> = BTreeMap::new();
    for (hour, id) in events {
        let (_, ids) = by_hour.entry(*hour).or_insert_with(|| (*id, Vec::with_capacity(events.len() * ID_BYTES)));
        ids.extend(id.uuid().as_bytes());
    }
    let merged: Vec<_> =
        by_hour.keys().filter(|hour| crowded.contains(hour)).map(|hour| key(app, *hour, ordinal)).collect();
    if !merged.is_empty() {
        // Before anything is written, so that a batch has the rows from when they were visited.
        tx.query_many(KNOWN, &merged, |row| {
            let (hour, ids) = (row.next::<i64>()?, row.next::<&[u8]>()?);
            by_hour.entry(hour).and_modify(|(_, merged)| merged.extend_from_slice(ids));
            Ok(())
        })?;
        tx.write_many("delete from seen_upload where app = $1 and hour = $2 and ordinal = $3", &merged)?;
    }
    let sql = "insert into seen_upload (app, hour, ordinal, first, ids) values ($1, $2, $3, $4, $5)";
    let rows = by_hour
        .into_iter()
        .map(|(hour, (first, ids))| [app.into(), hour.into(), ordinal.into(), first.into(), ids.into()]);
    tx.write_many(sql, rows)
}

/// Forgets events of a person who is erased. What else a channel has sent in these hours may be somebody else's, and stays known.
pub fn forget(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, events: &BTreeSet<(i64, EventId)>) -> Result<()> {
    let hours: BTreeSet<i64> = events.iter().map(|(hour, _)| *hour).collect();
    let sql = "select hour, first, ids from seen_upload where app = $1 and hour = $2 and ordinal = $3";
    let rows = tx.query_many(sql, hours.into_iter().map(|hour| key(app, hour, ordinal)), |row| {
        Ok((row.next::<i64>()?, row.next::<EventId>()?, row.next::<Vec<u8>>()?))
    })?;
    for (hour, first, ids) in rows {
        let before: Vec<EventId> = ids_of(&ids)?.collect();
        let left: Vec<(i64, EventId)> =
            before.iter().map(|id| (hour, *id)).filter(|event| !events.contains(event)).collect();
        if left.len() < before.len() {
            let sql = "delete from seen_upload where app = $1 and hour = $2 and ordinal = $3 and first = $4";
            tx.execute(sql, &[app.into(), hour.into(), ordinal.into(), first.into()])?;
            add(tx, app, ordinal, &left, &BTreeSet::new())?;
        }
    }
    Ok(())
}

/// Forgets up to `at_most` rows of events that happened before an hour. Returns whether any may be left.
pub fn forget_before(tx: &mut Tx<'_>, app: AppId, hour: i64, at_most: u32) -> Result<bool> {
    let sql = "select hour, ordinal, first from seen_upload where app = $1 and hour < $2 order by hour, ordinal, first limit $3";
    let old: Vec<(i64, Ordinal, EventId)> =
        tx.query(sql, &[app.into(), hour.into(), at_most.into()], |row| Ok((row.next()?, row.next()?, row.next()?)))?;
    // One by one, as in `seen_events`.
    let sql = "delete from seen_upload where app = $1 and hour = $2 and ordinal = $3 and first = $4";
    let rows =
        old.iter().map(|(hour, ordinal, first)| [app.into(), (*hour).into(), (*ordinal).into(), (*first).into()]);
    Ok(tx.execute_many(sql, rows)? == u64::from(at_most))
}

fn key(app: AppId, hour: i64, ordinal: Ordinal) -> [Value; 3] {
    [app.into(), hour.into(), ordinal.into()]
}
