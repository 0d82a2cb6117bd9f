//! Requests that devices have signed, so that none can be replayed at any node.

use model::ids::AppId;
use model::time::UtcMillis;

use crate::{Result, Tx, Value};

/// Rows lie together by when they were signed, so that old ones are found without an index.
const SLOT_MILLIS: i64 = 60_000;

/// Identifies a signed request: part of its signature, whose bits are as good as random.
pub type Mark = [u8; 16];

/// Remembers a request by its signing time, which the signature covers. Returns whether it is new.
pub fn remember(tx: &mut Tx<'_>, app: AppId, signed: UtcMillis, mark: &Mark) -> Result<bool> {
    let sql =
        "insert into signed_request (app, slot, mark) values ($1, $2, $3) on conflict (app, slot, mark) do nothing";
    Ok(tx.execute(sql, &[app.into(), slot(signed).into(), mark.to_vec().into()])? > 0)
}

/// Forgets up to `at_most` requests that were signed before an instant. Returns whether any may be left.
pub fn forget_before(tx: &mut Tx<'_>, app: AppId, instant: UtcMillis, at_most: u32) -> Result<bool> {
    let sql = "select slot, mark from signed_request where app = $1 and slot < $2 order by slot, mark limit $3";
    let old: Vec<[Value; 3]> = tx.query(sql, &[app.into(), slot(instant).into(), at_most.into()], |row| {
        Ok([app.into(), row.next::<i64>()?.into(), row.next::<Vec<u8>>()?.into()])
    })?;
    // One by one: SQLite compares every request of these slots with a list of pairs.
    let sql = "delete from signed_request where app = $1 and slot = $2 and mark = $3";
    Ok(tx.execute_many(sql, old)? == u64::from(at_most))
}

fn slot(at: UtcMillis) -> i64 {
    at.0.div_euclid(SLOT_MILLIS)
}
