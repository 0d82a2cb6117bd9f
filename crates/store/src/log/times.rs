//! When records were appended.

use model::ids::{AppId, Offset};
use model::time::UtcMillis;

use crate::{Result, Tx};

/// When the first record after an offset was appended, if there is one.
pub fn time_after(tx: &mut Tx<'_>, app: AppId, offset: Offset) -> Result<Option<UtcMillis>> {
    tx.write_pending_records()?;
    let sql = "select at from log where app = $1 and position > $2 order by position limit 1";
    tx.query_opt(sql, &[app.into(), offset.into()], |row| row.get(0))
}
