//! Sets of channels that are kept as bitmaps instead of with each channel, such as the channels that got a message on a day. A
//! set is cut into the blocks of its ordinals, so that a change of a few channels rewrites little.

use model::ids::{AppId, TermId};
use model::term::FORMER_PLACE_GROUP;

use crate::{Result, Tx};

/// The part of a set that is within a block.
pub fn get(tx: &mut Tx<'_>, app: AppId, term: TermId, block: u16) -> Result<Option<Vec<u8>>> {
    let sql = "select members from term_set where app = $1 and term = $2 and block = $3";
    tx.query_opt(sql, &[app.into(), term.into(), u32::from(block).into()], |row| row.get(0))
}

pub fn put(tx: &mut Tx<'_>, app: AppId, term: TermId, block: u16, members: Vec<u8>) -> Result<()> {
    tx.execute(
        "insert into term_set (app, term, block, members) values ($1, $2, $3, $4)
         on conflict (app, term, block) do update set members = excluded.members",
        &[app.into(), term.into(), u32::from(block).into(), members.into()],
    )?;
    Ok(())
}

/// All parts of a set, in the order of their blocks.
pub fn parts(tx: &mut Tx<'_>, app: AppId, term: TermId) -> Result<Vec<Vec<u8>>> {
    let sql = "select members from term_set where app = $1 and term = $2 order by block";
    tx.query(sql, &[app.into(), term.into()], |row| row.get(0))
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, term: TermId) -> Result<()> {
    tx.execute("delete from term_set where app = $1 and term = $2", &[app.into(), term.into()])?;
    Ok(())
}

/// The terms of a group that are kept this way, with their names, oldest first.
pub fn terms_of(tx: &mut Tx<'_>, app: AppId, group: &str) -> Result<Vec<(TermId, String)>> {
    let sql = "select id, tag from term where app = $1 and grp = $2
         and exists (select 1 from term_set where term_set.app = term.app and term_set.term = term.id)";
    let mut terms: Vec<(TermId, String)> =
        tx.query(sql, &[app.into(), group.into()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    // Not by the statement: SQLite would go through the terms of all groups for the order.
    terms.sort_unstable_by_key(|(id, _)| *id);
    Ok(terms)
}

/// The terms that are kept this way and have a name.
pub fn terms(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<TermId>> {
    let sql = "select id from term where app = $1 and grp <> $2
         and exists (select 1 from term_set where term_set.app = term.app and term_set.term = term.id) order by id";
    tx.query(sql, &[app.into(), FORMER_PLACE_GROUP.into()], |row| row.get(0))
}
