//! The audience of a push that was known before the push was accepted, as serialized bitmaps per block.

use model::ids::{AppId, PushId};

use crate::{Result, Tx};

pub fn insert(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u16, members: Vec<u8>) -> Result<()> {
    let sql = "insert into push_audience (app, push, block, members) values ($1, $2, $3, $4)";
    tx.write(sql, &[app.into(), push.into(), u32::from(block).into(), members.into()])?;
    Ok(())
}

/// All parts, in the order of their blocks.
pub fn parts(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Vec<Vec<u8>>> {
    let sql = "select members from push_audience where app = $1 and push = $2 order by block";
    tx.query(sql, &[app.into(), push.into()], |row| row.get(0))
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<()> {
    tx.write("delete from push_audience where app = $1 and push = $2", &[app.into(), push.into()])?;
    Ok(())
}
