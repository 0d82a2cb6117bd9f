//! Who has acknowledged a push over a live connection: sets by block, beside those of the responses to it.

use model::ids::{AppId, PushId};

use crate::{Result, Tx};

/// The sets of a push.
pub fn sets(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Vec<Vec<u8>>> {
    let sql = "select members from push_mark where app = $1 and push = $2 and kind = 'received' order by block";
    tx.query(sql, &[app.into(), push.into()], |row| row.get(0))
}

/// The set of one block of a push, if there is one.
pub fn set(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u32) -> Result<Option<Vec<u8>>> {
    let sql = "select members from push_mark where app = $1 and push = $2 and kind = 'received' and block = $3";
    tx.query_opt(sql, &[app.into(), push.into(), block.into()], |row| row.get(0))
}

/// Writes a set, or a larger one over it. A push that is not kept any more gets none.
pub fn put(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u32, members: Vec<u8>) -> Result<()> {
    let sql = "insert into push_mark (app, push, kind, block, members) values ($1, $2, 'received', $3, $4)
               on conflict (app, push, kind, block) do update set members = excluded.members";
    tx.write(sql, &[app.into(), push.into(), block.into(), members.into()])
}
