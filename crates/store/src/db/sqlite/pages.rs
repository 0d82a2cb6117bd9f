//! Reads every page of a database file and says which are damaged. It reads table by table, each in a transaction of its own, so
//! that the write-ahead log can start over in between.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rusqlite::{ErrorCode, InterruptHandle, OpenFlags};

use super::{BUSY_TIMEOUT, failure, open_read_only};
use crate::error::Result;

/// More than a person would read.
const MOST_PROBLEMS: usize = 20;
/// With this name SQLite also looks at the list of free pages.
const SCHEMA: &str = "sqlite_schema";

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pages {
    Whole,
    /// In SQLite's own words.
    Damaged(Vec<String>),
    /// The check was stopped before its end.
    Unknown,
}

/// The checks of one database file, of which one runs at a time.
#[derive(Default)]
pub(crate) struct PageChecks {
    running: Mutex<()>,
    /// While a check reads, so that the writer does not wait for it.
    pub(crate) is_reading: Arc<AtomicBool>,
    stopping: Mutex<Stopping>,
}

#[derive(Default)]
struct Stopping {
    is_requested: bool,
    interrupt: Option<InterruptHandle>,
}

impl PageChecks {
    /// Checks a file that this process has open. Takes as long as reading it does.
    pub(crate) fn run(&self, database: &Path) -> Result<Pages> {
        let _one = self.running.lock();
        // Only by SQLite itself: to close a file that was opened in another way gives up the locks that the process has on it.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = rusqlite::Connection::open_with_flags(database, flags).map_err(failure::opening)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failure::opening)?;
        {
            let mut stopping = self.stopping.lock();
            if stopping.is_requested {
                return Ok(Pages::Unknown);
            }
            stopping.interrupt = Some(connection.get_interrupt_handle());
        }
        self.is_reading.store(true, Ordering::Relaxed);
        let found = self.read(&connection);
        self.is_reading.store(false, Ordering::Relaxed);
        self.stopping.lock().interrupt = None;
        found
    }

    /// Ends a check that is running, and lets no other begin.
    pub(crate) fn stop(&self) {
        let mut stopping = self.stopping.lock();
        stopping.is_requested = true;
        if let Some(interrupt) = &stopping.interrupt {
            interrupt.interrupt();
        }
    }

    fn read(&self, connection: &rusqlite::Connection) -> Result<Pages> {
        let mut problems = Vec::new();
        let mut tables = vec![SCHEMA.to_owned()];
        let list = "select name from sqlite_schema where type = 'table' order by name";
        match first_column(connection, list) {
            Ok(found) => tables.extend(found),
            Err(error) => match Failure::of(connection, error)? {
                Failure::Damage(problem) => return Ok(Pages::Damaged(vec![problem])),
                Failure::Stopped => return Ok(Pages::Unknown),
            },
        }
        for table in tables {
            if self.stopping.lock().is_requested {
                return Ok(Pages::Unknown);
            }
            match first_column(connection, &format!("pragma quick_check(\"{table}\")")) {
                Ok(found) => {
                    let found = found.into_iter().filter(|problem| problem != "ok");
                    problems.extend(found.map(|problem| format!("{table}: {}", problem.replace('\n', " "))));
                }
                Err(error) => match Failure::of(connection, error)? {
                    Failure::Damage(problem) => problems.push(format!("{table}: {problem}")),
                    Failure::Stopped => return Ok(Pages::Unknown),
                },
            }
        }
        problems.truncate(MOST_PROBLEMS);
        Ok(if problems.is_empty() { Pages::Whole } else { Pages::Damaged(problems) })
    }
}

/// Why a statement of a check has failed.
enum Failure {
    Damage(String),
    Stopped,
}

impl Failure {
    /// Fails for what tells nothing of the pages.
    fn of(connection: &rusqlite::Connection, error: rusqlite::Error) -> Result<Self> {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Ok(Failure::Stopped),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure) => {
                Ok(Failure::Damage(error.to_string()))
            }
            _ => Err(failure::classify(connection, error)),
        }
    }
}

/// Checks a file that another process may have open.
pub(crate) fn check_pages(database: &Path) -> Result<Pages> {
    PageChecks::default().read(&open_read_only(database)?.connection)
}

fn first_column(connection: &rusqlite::Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}
