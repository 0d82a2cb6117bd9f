//! Where a log begins and ends.

use model::event::EventOffset;
use model::ids::{AppId, Offset};

use crate::{Result, Tx};

/// The bounds of an app's log in one state of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogBounds {
    /// The offset of the oldest record that is kept, or of the next one to be written if none is kept.
    pub(crate) start: Offset,
    /// The offset of the last record.
    pub(crate) head: Offset,
    /// The last event that was deleted.
    pub(crate) lost: EventOffset,
    /// Which run of a database server this is from. After a failover another server has the data, perhaps without its last commits.
    pub(crate) server: i64,
    /// How often records were changed: see [`super::rewrite`].
    pub(crate) rewrites: i64,
}

/// The bounds for a transaction that only reads, which sees one state and so asks once for each app. `None` for an app that does
/// not exist.
pub(crate) fn in_snapshot(tx: &mut Tx<'_>, app: AppId) -> Result<Option<LogBounds>> {
    if let Some((_, bounds)) = tx.log_bounds().iter().find(|(of, _)| *of == app) {
        return Ok(*bounds);
    }
    // The start is not looked for in the log, because PostgreSQL walks the remains of deleted records that it has not cleaned up
    // yet.
    let sql = format!(
        "select log_start, log_head, log_lost, {}, log_rewrites from app_numbers where app = $1",
        tx.server_run()
    );
    let bounds = tx.query_opt(&sql, &[app.into()], |row| {
        let (start, head, lost) = (row.next()?, row.next()?, EventOffset::from_number(row.next()?));
        Ok(LogBounds { start, head, lost, server: row.next()?, rewrites: row.next()? })
    })?;
    tx.log_bounds().push((app, bounds));
    Ok(bounds)
}
