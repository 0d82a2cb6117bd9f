//! Named users by the ids under which devices know them, which differ from device to device.

use model::ids::{AppId, ContactId, NamedUserId};

use crate::{Result, Tx, named_users};

pub fn named_user(tx: &mut Tx<'_>, app: AppId, id: ContactId) -> Result<Option<NamedUserId>> {
    let sql = "select named_user from contact where app = $1 and id = $2";
    tx.query_opt(sql, &[app.into(), id.into()], |row| named_users::read_id(row.get(0)?))
}

/// The ids that devices know, out of those given.
pub fn among(tx: &mut Tx<'_>, app: AppId, ids: &[ContactId]) -> Result<Vec<ContactId>> {
    let sql = "select id from contact where app = $1 and id = $2";
    tx.query_many(sql, ids.iter().map(|id| [app.into(), (*id).into()]), |row| row.get(0))
}

/// An id belongs to one user for as long as it is kept, so that one that is there is the same already.
pub fn keep(tx: &mut Tx<'_>, app: AppId, id: ContactId, user: &NamedUserId) -> Result<()> {
    let sql = "insert into contact (app, id, named_user) values ($1, $2, $3) on conflict (app, id) do nothing";
    tx.write(sql, &[app.into(), id.into(), user.into()])?;
    Ok(())
}

/// Ends all ids of a user.
pub fn forget_user(tx: &mut Tx<'_>, app: AppId, user: &NamedUserId) -> Result<()> {
    tx.write("delete from contact where app = $1 and named_user = $2", &[app.into(), user.into()])?;
    Ok(())
}

pub fn forget(tx: &mut Tx<'_>, app: AppId, id: ContactId) -> Result<()> {
    tx.write("delete from contact where app = $1 and id = $2", &[app.into(), id.into()])?;
    Ok(())
}
