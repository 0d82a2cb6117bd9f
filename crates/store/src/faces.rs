//! What channels looked like before they changed. Each is kept as long as the events that show it: those up to a position in the
//! log.

use std::collections::HashSet;

use model::ids::{AppId, NamedUserId, Offset, Ordinal};

use crate::{Result, Row, Tx, Value, app_numbers};

/// How many are read at once, apart from one for each event that is shown.
const FEW: usize = 256;

/// A channel as it was up to an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedFace {
    pub ordinal: Ordinal,
    pub until: Offset,
    /// As JSON of the caller's making.
    pub body: Vec<u8>,
}

/// A face that ends now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingFace {
    pub face: EndedFace,
    /// The named user whom the channel leaves by that.
    pub left_user: Option<NamedUserId>,
}

/// Keeps what channels looked like. They count with the size of the log, which is limited.
pub fn insert(tx: &mut Tx<'_>, app: AppId, faces: Vec<EndingFace>) -> Result<()> {
    let n_bytes: usize = faces.iter().map(|ending| ending.face.body.len()).sum();
    app_numbers::to_change(tx, app)?.log_bytes += i64::try_from(n_bytes).unwrap_or(i64::MAX);
    let rows = faces.into_iter().map(|EndingFace { face: EndedFace { ordinal, until, body }, left_user }| {
        let left_user = left_user.map(|user| user.as_str().to_owned());
        [app.into(), until.into(), ordinal.into(), body.into(), left_user.into()]
    });
    let sql = "insert into face (app, until, ordinal, body, named_user) values ($1, $2, $3, $4, $5)";
    tx.write_many(sql, rows)
}

/// Up to `at_most` changes of each channel before an offset, channel by channel, newest first.
pub fn before(
    tx: &mut Tx<'_>,
    app: AppId,
    channels: impl IntoIterator<Item = Ordinal>,
    end: Offset,
    at_most: u32,
) -> Result<Vec<EndedFace>> {
    let sql = "select ordinal, until, body from face
               where app = $1 and ordinal = $2 and until < $3 order by until desc limit $4";
    let params = channels.into_iter().map(|channel| [app.into(), channel.into(), end.into(), at_most.into()]);
    tx.query_many(sql, params, read)
}

/// Up to `at_most` channels that have left a named user, as far as events are kept that show it.
pub fn left_by(tx: &mut Tx<'_>, app: AppId, user: &NamedUserId, at_most: u32) -> Result<Vec<Ordinal>> {
    let sql = "select distinct ordinal from face where app = $1 and named_user = $2 order by ordinal limit $3";
    tx.query(sql, &[app.into(), user.as_str().into(), at_most.into()], |row| row.get(0))
}

/// What channels looked like at offsets, as far as they have changed since: sorted by channel and offset. There may be more than
/// was asked for.
pub fn at(tx: &mut Tx<'_>, app: AppId, shown: &[(Ordinal, Offset)]) -> Result<Vec<EndedFace>> {
    let Some(since) = shown.iter().map(|(_, offset)| *offset).min() else { return Ok(Vec::new()) };
    let at_most = u32::try_from(FEW + shown.len()).unwrap_or(u32::MAX);
    // Hardly any channel has changed since a recent event, so all that have are read at once.
    let sql = "select ordinal, until, body from face where app = $1 and until >= $2 order by until limit $3";
    let wanted: HashSet<Ordinal> = shown.iter().map(|(ordinal, _)| *ordinal).collect();
    let (mut found, mut n_read) = (Vec::new(), 0);
    tx.for_each(sql, &[app.into(), since.into(), at_most.into()], |row| {
        n_read += 1;
        if wanted.contains(&row.get(0)?) {
            found.push(read(row)?);
        }
        Ok(())
    })?;
    if n_read == at_most {
        found = one_by_one(tx, app, shown)?;
    }
    found.sort_unstable_by_key(|face| (face.ordinal, face.until));
    found.dedup_by_key(|face| (face.ordinal, face.until));
    Ok(found)
}

/// Looks each of them up: somebody reads old events, or many channels change.
fn one_by_one(tx: &mut Tx<'_>, app: AppId, shown: &[(Ordinal, Offset)]) -> Result<Vec<EndedFace>> {
    let sql = "select ordinal, until, body from face
               where app = $1 and ordinal = $2 and until >= $3 order by until limit 1";
    let params = shown.iter().map(|(ordinal, offset)| [app.into(), (*ordinal).into(), (*offset).into()]);
    tx.query_many(sql, params, read)
}

fn read(row: &Row<'_>) -> Result<EndedFace> {
    Ok(EndedFace { ordinal: row.next()?, until: row.next()?, body: row.next()? })
}

/// Deletes those that only events before an offset showed, which are deleted, too, and no event before `start`. Returns their
/// size.
pub(crate) fn delete_between(tx: &mut Tx<'_>, app: AppId, start: Offset, end: Offset) -> Result<i64> {
    // Bounded on both sides, as for the log.
    let old = [app.into(), Offset(start.0 - 1).into(), end.into()];
    let sql = "select coalesce(sum(length(body)), 0) from face where app = $1 and until >= $2 and until < $3";
    let n_bytes = tx.query_one(sql, &old, |row| row.get(0))?;
    tx.execute("delete from face where app = $1 and until >= $2 and until < $3", &old)?;
    Ok(n_bytes)
}

/// Deletes those of a channel, and returns how many there were.
pub(crate) fn forget(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<u64> {
    let key = [app.into(), ordinal.into()];
    let sql = "select coalesce(sum(length(body)), 0) from face where app = $1 and ordinal = $2";
    let n_bytes: i64 = tx.query_one(sql, &key, |row| row.get(0))?;
    let numbers = app_numbers::to_change(tx, app)?;
    numbers.log_bytes = (numbers.log_bytes - n_bytes).max(0);
    tx.execute("delete from face where app = $1 and ordinal = $2", &key)
}

/// Forgets that channels were a user's. Their faces stay.
pub(crate) fn forget_user(tx: &mut Tx<'_>, app: AppId, user: Value) -> Result<u64> {
    let sql = "update face set named_user = null where app = $1 and named_user = $2";
    tx.execute(sql, &[app.into(), user])
}

/// Up to `at_most` faces after one of them, in the order of the log, up to an offset.
pub fn page(
    tx: &mut Tx<'_>,
    app: AppId,
    (until, ordinal): (Offset, Ordinal),
    end: Offset,
    at_most: u32,
) -> Result<Vec<EndedFace>> {
    let sql = "select ordinal, until, body from face
               where app = $1 and until <= $4 and (until, ordinal) > ($2, $3) order by until, ordinal limit $5";
    tx.query(sql, &[app.into(), until.into(), ordinal.into(), end.into(), at_most.into()], read)
}

/// Where the face of a channel before one of its faces ended.
pub fn end_before(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, until: Offset) -> Result<Offset> {
    let sql = "select until from face where app = $1 and ordinal = $2 and until < $3 order by until desc limit 1";
    let found = tx.query_opt(sql, &[app.into(), ordinal.into(), until.into()], |row| row.get(0))?;
    Ok(found.unwrap_or(Offset(0)))
}
