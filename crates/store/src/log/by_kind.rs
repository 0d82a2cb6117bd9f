//! The records of the kinds that have an index of their own: deliveries, and messages for live connections. They are few among
//! millions of others, and are asked for over many hours: by a process that starts, and by a device that comes back.

use std::collections::BTreeSet;

use model::event::RecordKind;
use model::ids::{AppId, Offset};

use super::recent;
use super::windows::Wanted;
use crate::{Result, Tx};

// The kinds have to be written out: an index is of the records with one number, and a parameter could be any.
const SENDS: &str = "select position, body from log
                     where app = $1 and position > $2 and position <= $3 and kind = 2 order by position limit $4";
const LIVES: &str = "select position, body from log
                     where app = $1 and position > $2 and position <= $3 and kind = 22 order by position limit $4";

/// Visits up to `at_most` records of deliveries after an offset and up to another, oldest first: their offsets and bodies.
pub fn visit_sends(
    tx: &mut Tx<'_>,
    app: AppId,
    after: Offset,
    until: Offset,
    at_most: u32,
    visit: impl FnMut(Offset, &[u8]) -> Result<()>,
) -> Result<()> {
    let kinds = BTreeSet::from([RecordKind::Send]);
    visit_kind(tx, app, Wanted { after, until, kinds: &kinds, at_most }, SENDS, visit)
}

/// Visits up to `at_most` records of live messages after an offset and up to another, oldest first: their offsets and bodies.
pub fn visit_lives(
    tx: &mut Tx<'_>,
    app: AppId,
    after: Offset,
    until: Offset,
    at_most: u32,
    visit: impl FnMut(Offset, &[u8]) -> Result<()>,
) -> Result<()> {
    let kinds = BTreeSet::from([RecordKind::Live]);
    visit_kind(tx, app, Wanted { after, until, kinds: &kinds, at_most }, LIVES, visit)
}

fn visit_kind(
    tx: &mut Tx<'_>,
    app: AppId,
    wanted: Wanted<'_>,
    sql: &str,
    mut visit: impl FnMut(Offset, &[u8]) -> Result<()>,
) -> Result<()> {
    let Wanted { after, until, at_most, .. } = wanted;
    if let Some(records) = recent(tx, app, wanted)? {
        return records.iter().try_for_each(|record| visit(record.offset, &record.body));
    }
    tx.write_pending_records()?;
    tx.for_each(sql, &[app.into(), after.into(), until.into(), at_most.into()], |row| visit(row.next()?, row.next()?))
}

#[cfg(test)]
mod tests {
    use model::event::RecordKind;

    use super::{LIVES, SENDS};

    #[test]
    fn the_numbers_of_their_kinds_are_those_of_the_statements_and_the_indexes() {
        for (kind, number, sql) in [(RecordKind::Send, 2, SENDS), (RecordKind::Live, 22, LIVES)] {
            assert_eq!(kind.number(), number, "the index has the number that it was made with");
            assert!(sql.contains(&format!("kind = {number} ")), "{sql}");
        }
    }
}
