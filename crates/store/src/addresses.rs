//! What providers said about the present addresses of channels: which of them took a message, and which are
//! refused, how often.

use model::ids::{AppId, Ordinal};
use model::time::UtcMillis;

use crate::{Result, Tx};

/// How often the address of a channel was refused in a row, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedAddress {
    pub ordinal: Ordinal,
    pub n: u32,
    pub since: UtcMillis,
}

/// The channels of some slices whose address has taken a message, without empty slices.
pub fn served(tx: &mut Tx<'_>, app: AppId, slices: impl IntoIterator<Item = u32>) -> Result<Vec<(u32, Vec<u8>)>> {
    let sql = "select slice, members from served_address where app = $1 and slice = $2";
    let rows = slices.into_iter().map(|slice| [app.into(), slice.into()]);
    tx.query_many(sql, rows, |row| Ok((row.next()?, row.next()?)))
}

pub fn put_served(tx: &mut Tx<'_>, app: AppId, slices: impl IntoIterator<Item = (u32, Vec<u8>)>) -> Result<()> {
    let sql = "insert into served_address (app, slice, members) values ($1, $2, $3)
               on conflict (app, slice) do update set members = excluded.members";
    tx.write_many(sql, slices.into_iter().map(|(slice, members)| [app.into(), slice.into(), members.into()]))?;
    Ok(())
}

/// The refused addresses among some channels.
pub fn refused(
    tx: &mut Tx<'_>,
    app: AppId,
    ordinals: impl IntoIterator<Item = Ordinal>,
) -> Result<Vec<RefusedAddress>> {
    let sql = "select ordinal, n, since from refused_address where app = $1 and ordinal = $2";
    let rows = ordinals.into_iter().map(|ordinal| [app.into(), ordinal.into()]);
    tx.query_many(sql, rows, |row| Ok(RefusedAddress { ordinal: row.next()?, n: row.next()?, since: row.next()? }))
}

/// The channels of a range of ordinals whose address is refused.
pub fn refused_between(tx: &mut Tx<'_>, app: AppId, first: Ordinal, last: Ordinal) -> Result<Vec<Ordinal>> {
    let sql = "select ordinal from refused_address where app = $1 and ordinal >= $2 and ordinal <= $3";
    tx.query(sql, &[app.into(), first.into(), last.into()], |row| row.get(0))
}

pub fn put_refused(tx: &mut Tx<'_>, app: AppId, refused: impl IntoIterator<Item = RefusedAddress>) -> Result<()> {
    let sql = "insert into refused_address (app, ordinal, n, since) values ($1, $2, $3, $4)
               on conflict (app, ordinal) do update set n = excluded.n, since = excluded.since";
    let row = |one: RefusedAddress| [app.into(), one.ordinal.into(), one.n.into(), one.since.into()];
    tx.write_many(sql, refused.into_iter().map(row))?;
    Ok(())
}

pub fn forget_refused(tx: &mut Tx<'_>, app: AppId, ordinals: impl IntoIterator<Item = Ordinal>) -> Result<()> {
    let sql = "delete from refused_address where app = $1 and ordinal = $2";
    tx.write_many(sql, ordinals.into_iter().map(|ordinal| [app.into(), ordinal.into()]))?;
    Ok(())
}
