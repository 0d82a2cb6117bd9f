//! The causes of an automated message, where events show them: per block, in a form that is opaque to the
//! store.

use model::ids::{AppId, PushId};

use crate::{Result, Tx};

pub fn insert(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u16, causes: Vec<u8>) -> Result<()> {
    let sql = "insert into push_cause (app, push, block, causes) values ($1, $2, $3, $4)";
    tx.write(sql, &[app.into(), push.into(), u32::from(block).into(), causes.into()])?;
    Ok(())
}

/// Of a push, within a block.
pub fn of(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u16) -> Result<Option<Vec<u8>>> {
    let sql = "select causes from push_cause where app = $1 and push = $2 and block = $3";
    tx.query_opt(sql, &[app.into(), push.into(), u32::from(block).into()], |row| row.get(0))
}

/// Of several pushes and blocks, without those that have none.
pub fn of_all(
    tx: &mut Tx<'_>,
    app: AppId,
    wanted: impl IntoIterator<Item = (PushId, u16)>,
) -> Result<Vec<(PushId, Vec<u8>)>> {
    let sql = "select push, causes from push_cause where app = $1 and push = $2 and block = $3";
    let rows = wanted.into_iter().map(|(push, block)| [app.into(), push.into(), u32::from(block).into()]);
    tx.query_many(sql, rows, |row| Ok((row.next()?, row.next()?)))
}

/// Deletes those of up to `at_most` blocks of pushes whose ids come before one, and returns how many.
pub fn delete_before(tx: &mut Tx<'_>, app: AppId, first_kept: PushId, at_most: u32) -> Result<u64> {
    tx.execute(
        "delete from push_cause where app = $1 and (push, block) in
         (select push, block from push_cause where app = $1 and push < $2 order by push, block limit $3)",
        &[app.into(), first_kept.into(), at_most.into()],
    )
}
