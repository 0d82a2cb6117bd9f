//! The log read backwards.

use std::collections::BTreeSet;

use model::event::RecordKind;
use model::ids::{AppId, Offset};

use super::{Record, read};
use crate::{Result, Tx};

/// Up to `at_most` records of some kinds from an offset up to another, newest first.
pub fn newest_of_kinds(
    tx: &mut Tx<'_>,
    app: AppId,
    (first, last): (Offset, Offset),
    kinds: &BTreeSet<RecordKind>,
    at_most: u32,
) -> Result<Vec<Record>> {
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    tx.write_pending_records()?;
    let numbers: Vec<String> = kinds.iter().map(|kind| kind.number().to_string()).collect();
    let sql = format!(
        "select position, at, kind, ordinal, body from log
         where app = $1 and position >= $2 and position <= $3 and kind in ({}) order by position desc limit $4",
        numbers.join(", ")
    );
    let mut records = Vec::new();
    tx.for_each(&sql, &[app.into(), first.into(), last.into(), at_most.into()], |row| {
        records.push(read(row)?.into());
        Ok(())
    })?;
    Ok(records)
}
