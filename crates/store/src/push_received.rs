//! Devices that have told that they received a push. Acknowledgements over live connections come many at once, and are sets by
//! block. The receipts of browsers come one by one: a row each, so that in a batch none waits for another, and in the sets
//! afterwards (`push_marks`). A device is in one of both.

use model::ids::{AppId, Ordinal, PushId};

use crate::{Result, Tx};

const ROW: &str = "select ordinal from push_receipt where app = $1 and push = $2 and ordinal = $3";
const SET: &str = "select members from push_mark where app = $1 and push = $2 and kind = 'received' and block = $3";

/// Announces a call of [`has_row`] and one of [`set`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u32, channel: Ordinal) {
    tx.foresee(ROW, [[app.into(), push.into(), channel.into()]]);
    tx.foresee(SET, [[app.into(), push.into(), block.into()]]);
}

pub fn has_row(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) -> Result<bool> {
    let found: Option<Ordinal> = tx.query_opt(ROW, &[app.into(), push.into(), channel.into()], |row| row.get(0))?;
    Ok(found.is_some())
}

/// Notes a receipt that is not known yet.
pub fn add_row(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) -> Result<()> {
    let sql = "insert into push_receipt (app, push, ordinal) values ($1, $2, $3)";
    tx.write(sql, &[app.into(), push.into(), channel.into()])
}

pub fn n_rows(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<u64> {
    let sql = "select count(*) from push_receipt where app = $1 and push = $2";
    tx.query_one(sql, &[app.into(), push.into()], |row| row.get(0))
}

/// The sets of a push.
pub fn sets(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Vec<Vec<u8>>> {
    let sql = "select members from push_mark where app = $1 and push = $2 and kind = 'received' order by block";
    tx.query(sql, &[app.into(), push.into()], |row| row.get(0))
}

/// The set of one block of a push, if there is one.
pub fn set(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u32) -> Result<Option<Vec<u8>>> {
    tx.query_opt(SET, &[app.into(), push.into(), block.into()], |row| row.get(0))
}

/// Writes a set, or a larger one over it.
pub fn put(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u32, members: Vec<u8>) -> Result<()> {
    let sql = "insert into push_mark (app, push, kind, block, members) values ($1, $2, 'received', $3, $4)
               on conflict (app, push, kind, block) do update set members = excluded.members";
    tx.write(sql, &[app.into(), push.into(), block.into(), members.into()])
}
