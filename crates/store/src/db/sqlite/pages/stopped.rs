//! Checks the file of a service that may be stopped, for `aerogram doctor`. The service can be started meanwhile: its lock is not
//! held, and the check begins anew beside it.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::Connection;

use super::{End, Pages, check};
use crate::db::sqlite::read_only::{Usage, connect};
use crate::error::{Cause, Error, Result};

/// A file that changes each time is one of a service that is started again and again.
const TRIES: u32 = 3;

/// Checks a file that another process may have open.
pub(crate) fn check_pages(database: &Path) -> Result<Pages> {
    check_with(database, check)
}

fn check_with(database: &Path, check: impl Fn(Connection, &End) -> Result<Pages>) -> Result<Pages> {
    for _ in 0..TRIES {
        let end = End::at_a_long_log(database);
        let usage = Usage::of(database);
        let connection = connect(database, &usage)?;
        let Usage::Excluded { lock } = usage else { return check(connection, &end) };
        // Nobody uses the file. It is not locked, so that a service can start, and what was read of it then counts for nothing.
        let before = State::of(database)?;
        drop(lock);
        let found = check(connection, &End { most_log: None, ..end.clone() });
        if State::of(database)? == before && !end.log.exists() {
            return found;
        }
    }
    Ok(Pages::Unknown)
}

/// By which a file is seen to be unchanged.
#[derive(PartialEq, Eq)]
struct State {
    length: u64,
    modified: (i64, i64),
}

impl State {
    fn of(database: &Path) -> Result<Self> {
        let looked = fs::metadata(database)
            .map(|found: Metadata| Self { length: found.len(), modified: (found.mtime(), found.mtime_nsec()) });
        looked.map_err(|error| {
            Error::Unavailable(Cause::new(format!("{} cannot be looked at", database.display()), error))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs::File;

    use super::*;
    use crate::db::sqlite::{Database, path_with};

    /// The file of a service that was stopped.
    fn stopped(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("test.db");
        let writer = Database::open(&path).unwrap().writer().unwrap();
        writer.connection.execute_batch("create table item (note text)").unwrap();
        writer.close();
        assert!(!path_with(&path, "-wal").exists());
        path
    }

    #[test]
    fn the_lock_of_the_service_is_free_while_its_file_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = stopped(folder.path());
        let looked = |connection: Connection, end: &End| {
            File::open(path_with(&path, ".lock")).unwrap().try_lock().unwrap();
            check(connection, end)
        };
        assert_eq!(check_with(&path, looked).unwrap(), Pages::Whole);
        assert!(!path_with(&path, "-wal").exists(), "nothing is made beside the file");
    }

    #[test]
    fn a_service_that_starts_meanwhile_is_checked_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = stopped(folder.path());
        let service = RefCell::new(None);
        let n_checks = RefCell::new(0);
        let starting = |connection: Connection, end: &End| {
            *n_checks.borrow_mut() += 1;
            service.borrow_mut().get_or_insert_with(|| {
                let writer = Database::open(&path).unwrap().writer().unwrap();
                writer.connection.execute_batch("insert into item (note) values ('new')").unwrap();
                writer
            });
            check(connection, end)
        };
        assert_eq!(check_with(&path, starting).unwrap(), Pages::Whole);
        assert_eq!(*n_checks.borrow(), 2, "what was read without the service counts for nothing");
        if let Some(service) = service.take() {
            service.close();
        }
    }
}
