//! When records were appended.

use model::ids::{AppId, Offset};
use model::time::UtcMillis;

use super::{head, start};
use crate::{Result, Tx};

/// When the first record after an offset was appended, if there is one.
pub fn time_after(tx: &mut Tx<'_>, app: AppId, offset: Offset) -> Result<Option<UtcMillis>> {
    let sql = "select at from log where app = $1 and position > $2 order by position limit 1";
    tx.query_opt(sql, &[app.into(), offset.into()], |row| row.get(0))
}

/// The last record that was appended before a time. Times grow with offsets, give or take the clocks of several nodes, so that a
/// few looks are enough and no index is needed.
pub fn last_before(tx: &mut Tx<'_>, app: AppId, time: UtcMillis) -> Result<Offset> {
    let (mut before, mut after) = (start(tx, app)?.0 - 1, head(tx, app)?.0 + 1);
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        match time_after(tx, app, Offset(middle - 1))? {
            Some(at) if at < time => before = middle,
            Some(_) | None => after = middle,
        }
    }
    Ok(Offset(before))
}
