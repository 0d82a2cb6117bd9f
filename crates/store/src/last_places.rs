//! Where channels were last seen.

use model::ids::{AppId, Ordinal, TermId};
use model::time::UtcMillis;

use crate::{Result, Tx, terms};

/// The places a channel was last seen in, as terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastPlaces {
    pub seen: UtcMillis,
    /// Sorted.
    pub terms: Vec<TermId>,
}

pub fn get(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Option<LastPlaces>> {
    let sql = "select seen, terms from last_place where app = $1 and ordinal = $2";
    tx.query_opt(sql, &[app.into(), ordinal.into()], |row| {
        Ok(LastPlaces { seen: row.next()?, terms: terms::decode(row.next()?)? })
    })
}

pub fn put(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, last: &LastPlaces) -> Result<()> {
    tx.write(
        "insert into last_place (app, ordinal, seen, terms) values ($1, $2, $3, $4)
         on conflict (app, ordinal) do update set seen = excluded.seen, terms = excluded.terms",
        &[app.into(), ordinal.into(), last.seen.into(), terms::encode(&last.terms).into()],
    )?;
    Ok(())
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<()> {
    tx.write("delete from last_place where app = $1 and ordinal = $2", &[app.into(), ordinal.into()])?;
    Ok(())
}

/// Whether a channel of any app was seen anywhere.
pub fn are_there_any(tx: &mut Tx<'_>) -> Result<bool> {
    let found = tx.query_opt::<i64>("select ordinal from last_place limit 1", &[], |row| row.get(0))?;
    Ok(found.is_some())
}

/// Channels that were last seen before an instant, the longest past first.
pub fn before(tx: &mut Tx<'_>, app: AppId, instant: UtcMillis, at_most: u32) -> Result<Vec<Ordinal>> {
    let sql = "select ordinal from last_place where app = $1 and seen < $2 order by seen, ordinal limit $3";
    tx.query(sql, &[app.into(), instant.into(), at_most.into()], |row| row.get(0))
}
