//! Opening a database file for a look that leaves it as it is, whether another process uses it or not.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rusqlite::OpenFlags;

use super::{BUSY_TIMEOUT, SqliteConnection, failure, path_with};
use crate::error::{Cause, Error, Result};

/// Opens a file that may be in use by another process, or be no database at all. No file is made or changed.
pub(crate) fn open_read_only(path: &Path) -> Result<SqliteConnection> {
    let usage = Usage::of(path);
    let (open_file, connection) = (open_file(path)?, connect(path, &usage)?);
    let held = match usage {
        Usage::Excluded { lock: Some(lock) } => lock,
        Usage::Excluded { lock: None } | Usage::Possible => open_file,
    };
    SqliteConnection::new(connection, None, &Arc::new(held))
}

/// A connection that reads. Of a file that nobody else can use, it holds for as long as that is so.
pub(super) fn connect(path: &Path, usage: &Usage) -> Result<rusqlite::Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match usage {
        Usage::Possible => rusqlite::Connection::open_with_flags(path, flags),
        Usage::Excluded { .. } => {
            rusqlite::Connection::open_with_flags(immutable_url(path), flags | OpenFlags::SQLITE_OPEN_URI)
        }
    };
    let connection = connection.map_err(failure::opening)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failure::opening)?;
    Ok(connection)
}

/// Fails with a sentence for a file that is missing or must not be read.
fn open_file(path: &Path) -> Result<File> {
    File::open(path)
        .map_err(|error| Error::Unavailable(Cause::new(format!("{} cannot be opened", path.display()), error)))
}

/// Whether another process can have a database file open.
pub(super) enum Usage {
    Possible,
    /// It is complete in its one file, and no node starts on it while the lock is held. Where there is none,
    /// no node ever did.
    Excluded {
        lock: Option<File>,
    },
}

impl Usage {
    pub(super) fn of(path: &Path) -> Self {
        let lock = match File::open(path_with(path, ".lock")) {
            Ok(lock) if lock.try_lock_shared().is_ok() => Some(lock),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Ok(_) | Err(_) => return Usage::Possible,
        };
        if path_with(path, "-wal").exists() { Usage::Possible } else { Usage::Excluded { lock } }
    }
}

/// The URL by which SQLite opens a file that does not change while it is read. Otherwise SQLite makes files
/// beside it and leaves them there.
fn immutable_url(path: &Path) -> OsString {
    let mut address = OsString::from(if path.is_absolute() { "file://" } else { "file:" });
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'?' | b'#' | b'%' => address.push(format!("%{byte:02x}")),
            _ => address.push(OsStr::from_bytes(&[*byte])),
        }
    }
    address.push("?immutable=1");
    address
}
