//! Sets of channels that are kept as one bitmap instead of with each channel: who was sent something on a day, and the like.

use model::ids::{AppId, TermId};

use crate::{Result, Tx};

pub fn get(tx: &mut Tx<'_>, app: AppId, term: TermId) -> Result<Option<Vec<u8>>> {
    let sql = "select members from term_set where app = $1 and term = $2";
    tx.query_opt(sql, &[app.into(), term.into()], |row| row.get(0))
}

pub fn put(tx: &mut Tx<'_>, app: AppId, term: TermId, members: Vec<u8>) -> Result<()> {
    tx.execute(
        "insert into term_set (app, term, members) values ($1, $2, $3)
         on conflict (app, term) do update set members = excluded.members",
        &[app.into(), term.into(), members.into()],
    )?;
    Ok(())
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, term: TermId) -> Result<()> {
    tx.execute("delete from term_set where app = $1 and term = $2", &[app.into(), term.into()])?;
    Ok(())
}

pub fn all(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<(TermId, Vec<u8>)>> {
    tx.query("select term, members from term_set where app = $1 order by term", &[app.into()], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}
