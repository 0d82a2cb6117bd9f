//! Getting rid of deleted data in the file: SQLite leaves what was deleted in its pages and in its write-ahead log until it needs
//! the room.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use super::{BUSY_TIMEOUT, failure};
use crate::error::Result;

const MIB: i64 = 1024 * 1024;
/// Writing the whole file anew keeps writers waiting for about a second per 100 MiB, and takes as much memory. Larger files are
/// left to the operator.
const LARGEST_REWRITTEN: i64 = 256 * MIB;
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// How a clean-up went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanUp {
    /// Nothing that was deleted is left in the file.
    Complete,
    /// What was deleted with overwriting is gone. The file is too large to be rewritten beside its use, so that traces of earlier
    /// changes may be left in it.
    WithoutVacuum,
    /// A reader holds on to the write-ahead log, or it failed.
    Blocked,
}

/// How much of a clean-up is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    All,
    /// The file was written anew before, and only its log is left. Doing the former again would make the log longer each time.
    Log,
}

#[derive(Default)]
pub(super) struct Cleaning {
    /// Set before the file is written anew, after which it may be shorter: whoever looks after the file has to know.
    is_vacuumed: Arc<AtomicBool>,
    is_overwriting: bool,
    requested: Option<Extent>,
    last: Option<CleanUp>,
}

impl Cleaning {
    pub(super) fn new(is_vacuumed: Arc<AtomicBool>) -> Self {
        Self { is_vacuumed, ..Self::default() }
    }

    pub(super) fn overwrite_deleted(&mut self, connection: &Connection) -> Result<()> {
        self.is_overwriting = true;
        set_overwriting(connection, true)
    }

    /// Other transactions need not pay for it.
    pub(super) fn end_overwriting(&mut self, connection: &Connection) -> Result<()> {
        if !std::mem::take(&mut self.is_overwriting) {
            return Ok(());
        }
        set_overwriting(connection, false)
    }

    pub(super) const fn request(&mut self, extent: Extent) {
        self.requested = Some(extent);
        self.last = None;
    }

    pub(super) const fn last(&self) -> Option<CleanUp> {
        self.last
    }

    pub(super) fn after_commit(&mut self, connection: &Connection) {
        if let Some(extent) = self.requested.take() {
            self.last = Some(clean(connection, extent, &self.is_vacuumed).unwrap_or_else(|error| {
                tracing::warn!(%error, "the database file could not be cleaned of deleted data");
                CleanUp::Blocked
            }));
        }
    }
}

fn set_overwriting(connection: &Connection, is_on: bool) -> Result<()> {
    connection.pragma_update_and_check(None, "secure_delete", is_on, |_| Ok(())).map_err(failure::opening)
}

fn clean(connection: &Connection, extent: Extent, is_vacuumed: &AtomicBool) -> rusqlite::Result<CleanUp> {
    let size = "select page_count * page_size from pragma_page_count, pragma_page_size";
    let n_bytes: i64 = connection.query_row(size, [], |row| row.get(0))?;
    let is_small = n_bytes <= LARGEST_REWRITTEN;
    if is_small && extent == Extent::All {
        is_vacuumed.store(true, Ordering::SeqCst);
        connection.execute_batch("vacuum")?;
    }
    // The log holds the pages as they were.
    // Writers wait meanwhile, and a reader may take long: it is tried again later.
    connection.busy_timeout(LONGEST_WAIT)?;
    let is_blocked = connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let is_blocked: bool = is_blocked?;
    Ok(match (is_blocked, is_small) {
        (true, _) => CleanUp::Blocked,
        (false, true) => CleanUp::Complete,
        (false, false) => CleanUp::WithoutVacuum,
    })
}
