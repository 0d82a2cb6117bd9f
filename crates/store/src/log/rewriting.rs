//! Records that are changed afterwards, which happens for one reason: a person is erased.

use model::event::RecordKind;
use model::ids::{AppId, Offset};

use crate::{Result, Tx, app_numbers};

/// A record with another body.
pub struct Rewritten {
    pub offset: Offset,
    /// The kind of a record that is about nothing and no channel any more. A record that keeps its kind has `None`.
    pub emptied: Option<RecordKind>,
    pub n_bytes_before: usize,
    pub body: Vec<u8>,
}

/// Gives records other bodies. Offsets stay, so that readers miss nothing else; all nodes read again what they have in memory of
/// the log.
pub fn rewrite(tx: &mut Tx<'_>, app: AppId, records: Vec<Rewritten>) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let size = |n_bytes: usize| i64::try_from(n_bytes).unwrap_or(i64::MAX);
    let growth: i64 = records.iter().map(|record| size(record.body.len()) - size(record.n_bytes_before)).sum();
    let (emptied, cleaned): (Vec<_>, Vec<_>) = records.into_iter().partition(|record| record.emptied.is_some());
    tx.execute_many(
        "update log set body = $3, kind = $4, ordinal = null where app = $1 and position = $2",
        emptied.into_iter().map(|Rewritten { offset, emptied, body, .. }| {
            [app.into(), offset.into(), body.into(), emptied.map(RecordKind::number).into()]
        }),
    )?;
    tx.execute_many(
        "update log set body = $3 where app = $1 and position = $2",
        cleaned.into_iter().map(|Rewritten { offset, body, .. }| [app.into(), offset.into(), body.into()]),
    )?;
    let numbers = app_numbers::to_change(tx, app)?;
    numbers.log_bytes = (numbers.log_bytes + growth).max(0);
    tx.execute("update app_numbers set log_rewrites = log_rewrites + 1 where app = $1", &[app.into()]).map(drop)
}

/// The channels that records are about, as far as there are such records.
pub(crate) fn ordinals_at(
    tx: &mut Tx<'_>,
    app: AppId,
    offsets: impl IntoIterator<Item = Offset>,
) -> Result<Vec<(Offset, Option<model::ids::Ordinal>)>> {
    let sql = "select position, ordinal from log where app = $1 and position = $2";
    tx.query_many(sql, offsets.into_iter().map(|offset| [app.into(), offset.into()]), |row| {
        Ok((row.next()?, row.next()?))
    })
}
