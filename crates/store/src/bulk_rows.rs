//! The recipients in files for bulk sending, each with values for the texts of a push.

use model::ids::{AppId, BulkId, Ordinal};

use crate::{Result, Tx};

/// A recipient, and the values as a JSON object of texts.
pub type BulkValues = (Ordinal, String);

/// Adds rows. Of two about the same channel the last one counts.
pub fn put(tx: &mut Tx<'_>, app: AppId, upload: BulkId, rows: &[BulkValues]) -> Result<()> {
    tx.write_many(
        "insert into bulk_row (app, upload, ordinal, merge_values) values ($1, $2, $3, $4)
         on conflict (app, upload, ordinal) do update set merge_values = excluded.merge_values",
        rows.iter().map(|(ordinal, values)| [app.into(), upload.into(), (*ordinal).into(), values.as_str().into()]),
    )?;
    Ok(())
}

/// All recipients, in order.
pub fn ordinals(tx: &mut Tx<'_>, app: AppId, upload: BulkId) -> Result<Vec<Ordinal>> {
    let sql = "select ordinal from bulk_row where app = $1 and upload = $2 order by ordinal";
    tx.query(sql, &[app.into(), upload.into()], |row| row.get(0))
}

/// The values of some recipients.
pub fn among(
    tx: &mut Tx<'_>,
    app: AppId,
    upload: BulkId,
    wanted: impl IntoIterator<Item = Ordinal>,
) -> Result<Vec<BulkValues>> {
    let sql = "select ordinal, merge_values from bulk_row where app = $1 and upload = $2 and ordinal = $3";
    let keys = wanted.into_iter().map(|ordinal| [app.into(), upload.into(), ordinal.into()]);
    tx.query_many(sql, keys, |row| Ok((row.next()?, row.next()?)))
}

/// Deletes up to `at_most` rows, and returns how many.
pub fn delete_some(tx: &mut Tx<'_>, app: AppId, upload: BulkId, at_most: u32) -> Result<u64> {
    tx.execute(
        "delete from bulk_row where app = $1 and upload = $2 and ordinal in
         (select ordinal from bulk_row where app = $1 and upload = $2 order by ordinal limit $3)",
        &[app.into(), upload.into(), at_most.into()],
    )
}
