//! Copying a database file that another process may be writing.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{BUSY_TIMEOUT, failure};
use crate::error::{Error, Result};

/// Indexes are rebuilt in the copy; with a smaller cache every page would go to and from the disk.
const CACHE_KIB: u32 = 65_536;

/// Writes one state of the database into an empty file. It reads in a single transaction, which neither waits
/// for the writer nor blocks it; but the write-ahead log cannot start over until that has ended.
pub(crate) fn write_copy(database: &Path, copy: &Path) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags).map_err(failure::opening)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failure::opening)?;
    connection.pragma_update(None, "cache_size", -i64::from(CACHE_KIB)).map_err(failure::opening)?;
    let Some(copy) = copy.to_str() else {
        return Err(Error::unavailable(format!("{} is not a name in UTF-8, which SQLite needs", copy.display())));
    };
    let copied = connection.execute("vacuum into ?1", [copy]);
    copied.map_err(|error| failure::classify(&connection, error))?;
    Ok(())
}
