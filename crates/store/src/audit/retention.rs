//! Rows of the audit log that have served their time.

use model::ids::AppId;
use model::time::UtcMillis;

use crate::{Part, Result, Tx, Value};

/// Deletes up to `at_most` of the oldest rows before an instant, and says how many those were.
pub fn delete_before(tx: &mut Tx<'_>, part: &Part, instant: UtcMillis, at_most: u32) -> Result<u64> {
    let mut params = vec![instant.into(), at_most.into()];
    let sql = "select app, at, id from audit where at < $1 order by at, app, id limit $2";
    let sql = part.narrow(sql, &mut params);
    let old: Vec<[Value; 3]> = tx.query(&sql, &params, |row| {
        Ok([row.next::<AppId>()?.into(), row.next::<i64>()?.into(), row.next::<i64>()?.into()])
    })?;
    // One by one: SQLite compares every row of these apps with a list of triples.
    tx.execute_many("delete from audit where app = $1 and at = $2 and id = $3", old)
}
