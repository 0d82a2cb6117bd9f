//! Sets of channels that are kept as bitmaps instead of with each channel, such as the channels that got a
//! message on a day. A set is cut into parts, so that a change of a few channels rewrites little.

use model::ids::{AppId, TermId};

use crate::{Result, Tx};

/// A part of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Of 4,096 channels: 512 bytes at most, of which every device that is used rewrites one or two a day.
    Slice(u32),
}

impl Part {
    fn number(self) -> i64 {
        let Part::Slice(slice) = self;
        i64::from(slice)
    }
}

/// The parts of some slices, without those that are empty.
pub fn around(
    tx: &mut Tx<'_>,
    app: AppId,
    term: TermId,
    slices: impl IntoIterator<Item = u32>,
) -> Result<Vec<(Part, Vec<u8>)>> {
    let sql = "select slice, members from term_set where app = $1 and term = $2 and slice = $3";
    let rows = slices.into_iter().map(|slice| [app.into(), term.into(), slice.into()]);
    tx.query_many(sql, rows, |row| Ok((Part::Slice(row.next()?), row.next()?)))
}

pub fn put(tx: &mut Tx<'_>, app: AppId, term: TermId, parts: impl IntoIterator<Item = (Part, Vec<u8>)>) -> Result<()> {
    let sql = "insert into term_set (app, term, slice, members) values ($1, $2, $3, $4)
               on conflict (app, term, slice) do update set members = excluded.members";
    let rows = parts.into_iter().map(|(part, members)| [app.into(), term.into(), part.number().into(), members.into()]);
    tx.write_many(sql, rows)?;
    Ok(())
}

/// All parts of a set.
pub fn parts(tx: &mut Tx<'_>, app: AppId, term: TermId) -> Result<Vec<Vec<u8>>> {
    let sql = "select members from term_set where app = $1 and term = $2";
    tx.query(sql, &[app.into(), term.into()], |row| row.get(0))
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, term: TermId) -> Result<()> {
    tx.write("delete from term_set where app = $1 and term = $2", &[app.into(), term.into()])?;
    Ok(())
}

/// The terms of a group that are kept this way, with their names, oldest first.
pub fn terms_of(tx: &mut Tx<'_>, app: AppId, group: &str) -> Result<Vec<(TermId, String)>> {
    let sql = "select id, tag from term where app = $1 and grp = $2
         and exists (select 1 from term_set where term_set.app = term.app and term_set.term = term.id)";
    let mut terms: Vec<(TermId, String)> =
        tx.query(sql, &[app.into(), group.into()], |row| Ok((row.next()?, row.next()?)))?;
    // Not by the statement: SQLite would go through the terms of all groups for the order.
    terms.sort_unstable_by_key(|(id, _)| *id);
    Ok(terms)
}

/// The terms that are kept this way and have a name.
pub fn terms(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<TermId>> {
    let sql = "select id from term where app = $1
         and exists (select 1 from term_set where term_set.app = term.app and term_set.term = term.id) order by id";
    tx.query(sql, &[app.into()], |row| row.get(0))
}
