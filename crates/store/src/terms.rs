//! The numbers of terms. A term gets its number when it is first needed and keeps it forever, so numbers may
//! be cached. Only a deleted tag loses its number, which caches learn from [`retired_at`].

use model::ids::{AppId, Offset, TermId};
use model::term::Term;

use crate::{Error, Result, Row, Tx, Value, app_numbers, apps};

/// The number of a term, if it has one.
pub fn find(tx: &mut Tx<'_>, app: AppId, term: &Term) -> Result<Option<TermId>> {
    let (group, tag) = term.key();
    tx.query_opt(
        "select id from term where app = $1 and grp = $2 and tag = $3",
        &[app.into(), group.into(), tag.as_ref().into()],
        |row| row.get(0),
    )
}

/// The terms that have numbers, out of those given.
pub fn among<'t>(
    tx: &mut Tx<'_>,
    app: AppId,
    terms: impl IntoIterator<Item = &'t Term>,
) -> Result<Vec<(Term, TermId)>> {
    let rows = terms.into_iter().map(|term| {
        let (group, tag) = term.key();
        [app.into(), group.into(), Value::from(tag.as_ref())]
    });
    let sql = "select id, grp, tag from term where app = $1 and grp = $2 and tag = $3";
    let found = tx.query_many(sql, rows, |row| {
        let (id, group, tag): (_, String, String) = (row.next()?, row.next()?, row.next()?);
        Ok(Term::from_key(&group, &tag).map(|term| (term, id)))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// Whether any term of a group has a number.
pub fn has_group(tx: &mut Tx<'_>, app: AppId, group: &str) -> Result<bool> {
    let sql = "select id from term where app = $1 and grp = $2 limit 1";
    Ok(tx.query_opt(sql, &[app.into(), group.into()], |_| Ok(()))?.is_some())
}

/// Numbers a term that has none.
pub fn insert(tx: &mut Tx<'_>, app: AppId, term: &Term) -> Result<TermId> {
    let id = apps::take_term(tx, app)?;
    let (group, tag) = term.key();
    tx.write(
        "insert into term (app, id, grp, tag) values ($1, $2, $3, $4)",
        &[app.into(), id.into(), group.into(), tag.as_ref().into()],
    )?;
    Ok(id)
}

/// The term behind a number.
pub fn name(tx: &mut Tx<'_>, app: AppId, id: TermId) -> Result<Term> {
    find_name(tx, app, id)?.ok_or_else(|| Error::corrupt(format!("term {} has no name", id.0)))
}

/// The term behind a number, if the number was given out.
pub fn find_name(tx: &mut Tx<'_>, app: AppId, id: TermId) -> Result<Option<Term>> {
    let sql = "select grp, tag from term where app = $1 and id = $2";
    let read = |row: &Row<'_>| Ok((row.next::<String>()?, row.next::<String>()?));
    let found = tx.query_opt(sql, &[app.into(), id.into()], read)?;
    Ok(found.and_then(|(group, tag)| Term::from_key(&group, &tag)))
}

/// Gives a number a name that is never looked up. The term that had the number has none any more.
pub fn retire(tx: &mut Tx<'_>, app: AppId, id: TermId, name: &Term) -> Result<()> {
    let (group, tag) = name.key();
    tx.write(
        "update term set grp = $3, tag = $4 where app = $1 and id = $2",
        &[app.into(), id.into(), group.into(), tag.as_ref().into()],
    )?;
    Ok(())
}

/// Stores the offset of the last retirement in the log.
pub fn set_retired_at(tx: &mut Tx<'_>, app: AppId, offset: Offset) -> Result<()> {
    app_numbers::to_change(tx, app)?.terms_retired = offset.0;
    Ok(())
}

/// The offset of the last retirement in the log: numbers cached before it may have lost their names.
pub fn retired_at(tx: &mut Tx<'_>, app: AppId) -> Result<Offset> {
    Ok(Offset(app_numbers::current(tx, app)?.map_or(0, |numbers| numbers.terms_retired)))
}

/// Every term of an app with its stored name, for loading an index.
pub fn all(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<(TermId, String, String)>> {
    let sql = "select id, grp, tag from term where app = $1 order by id";
    tx.query(sql, &[app.into()], |row| Ok((row.next()?, row.next()?, row.next()?)))
}

/// Sorted term numbers as stored with a channel: the differences between neighbors, seven bits a byte.
pub fn encode(sorted: &[TermId]) -> Vec<u8> {
    debug_assert!(sorted.is_sorted(), "{sorted:?}");
    let mut bytes = Vec::with_capacity(sorted.len() * 2);
    let mut previous = 0;
    for id in sorted {
        let mut rest = id.0 - previous;
        previous = id.0;
        while rest >= 0x80 {
            bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push((rest & 0x7f) as u8);
    }
    bytes
}

/// The reverse of [`encode`].
pub fn decode(bytes: &[u8]) -> Result<Vec<TermId>> {
    let too_large = || Error::corrupt("a channel's terms hold a number that is too large");
    let mut ids = Vec::with_capacity(bytes.len());
    let (mut previous, mut value, mut shift) = (0_u32, 0_u64, 0);
    for byte in bytes {
        if shift > 28 {
            return Err(too_large());
        }
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            let step = u32::try_from(value).map_err(|_| too_large())?;
            previous = previous.checked_add(step).ok_or_else(too_large)?;
            ids.push(TermId(previous));
            (value, shift) = (0, 0);
        }
    }
    if shift != 0 {
        return Err(Error::corrupt("a channel's terms end in the middle of a number"));
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_survive_encoding() {
        for numbers in [vec![], vec![0], vec![5, 6, 7], vec![0, 127, 128, 16_383, 16_384, u32::MAX]] {
            let ids: Vec<_> = numbers.into_iter().map(TermId).collect();
            assert_eq!(decode(&encode(&ids)).unwrap(), ids);
        }
        for damaged in [&[0x80][..], &[0xff; 9], &[0xff, 0xff, 0xff, 0xff, 0x10], &[0xff, 0xff, 0xff, 0xff, 0x0f, 1]] {
            assert!(decode(damaged).is_err(), "{damaged:?}");
        }
    }
}
