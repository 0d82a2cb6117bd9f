//! The records of messages for live connections, which have an index of their own: they are few among millions of others, and a
//! device that comes back asks for those of many hours.

use std::collections::BTreeSet;

use model::event::RecordKind;
use model::ids::{AppId, Offset};

use super::recent;
use super::windows::Wanted;
use crate::{Result, Tx};

/// Visits up to `at_most` records of live messages after an offset and up to another, oldest first: their offsets and bodies.
pub fn visit_lives(
    tx: &mut Tx<'_>,
    app: AppId,
    after: Offset,
    until: Offset,
    at_most: u32,
    mut visit: impl FnMut(Offset, &[u8]) -> Result<()>,
) -> Result<()> {
    let kinds = BTreeSet::from([RecordKind::Live]);
    if let Some(records) = recent(tx, app, Wanted { after, until, kinds: &kinds, at_most })? {
        return records.iter().try_for_each(|record| visit(record.offset, &record.body));
    }
    tx.write_pending_records()?;
    // The kind has to be written out: the index is of the records with this number, and a parameter could be any.
    let sql = "select position, body from log
               where app = $1 and position > $2 and position <= $3 and kind = 22 order by position limit $4";
    tx.for_each(sql, &[app.into(), after.into(), until.into(), at_most.into()], |row| visit(row.next()?, row.next()?))
}

#[cfg(test)]
mod tests {
    use model::event::RecordKind;

    #[test]
    fn the_number_of_their_kind_is_that_of_the_statement_and_the_index() {
        assert_eq!(RecordKind::Live.number(), 22);
    }
}
