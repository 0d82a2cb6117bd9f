//! Rows of the audit log that have served their time.

use model::ids::AppId;
use model::time::UtcMillis;

use crate::{Result, Tx, Value};

/// Deletes up to `at_most` of the oldest rows of an app before an instant, and says how many those were.
pub fn delete_before(tx: &mut Tx<'_>, app: AppId, instant: UtcMillis, at_most: u32) -> Result<u64> {
    let sql = "select at, id from audit where app = $1 and at < $2 order by at, id limit $3";
    let old: Vec<[Value; 3]> = tx.query(sql, &[app.into(), instant.into(), at_most.into()], |row| {
        Ok([app.into(), row.next::<i64>()?.into(), row.next::<i64>()?.into()])
    })?;
    // One by one: SQLite compares every row of the app with a list of pairs.
    tx.execute_many("delete from audit where app = $1 and at = $2 and id = $3", old)
}
