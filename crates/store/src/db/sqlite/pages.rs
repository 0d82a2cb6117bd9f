//! Reads every page of a database file and says which are damaged. It reads table by table, each in a transaction of its own, so
//! that the write-ahead log can start over in between, and ends early when the log gets long during one of them.

mod stopped;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rusqlite::{ErrorCode, ffi};

use super::read_only::{self, Usage};
use super::{failure, path_with};
use crate::error::Result;

pub(crate) use stopped::check_pages;

/// More than a person would read.
const MOST_PROBLEMS: usize = 20;
/// With this name SQLite also looks at the list of free pages.
const SCHEMA: &str = "sqlite_schema";
/// A check is given up when the write-ahead log is longer than this: it cannot start over while a table is read. Less than the
/// length at which the writer waits for readers.
pub(super) const MOST_LOG: u64 = 128 * 1024 * 1024;
/// After so many pages or steps of a statement it is looked whether to go on: a few thousandths of a second.
const STEPS: i32 = 1000;
/// Failures of reading that a disk or a file system has when something is lost. Others tell nothing of the pages.
const UNREADABLE: [i32; 3] = [ffi::SQLITE_IOERR_READ, ffi::SQLITE_IOERR_SHORT_READ, ffi::SQLITE_IOERR_CORRUPTFS];

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pages {
    Whole,
    /// In SQLite's own words.
    Damaged(Vec<String>),
    /// The check ended early and has found nothing until then.
    Unknown,
}

/// The checks of one database file, of which one runs at a time.
#[derive(Default)]
pub(crate) struct PageChecks {
    running: Mutex<()>,
    /// While a check reads, so that the writer does not wait for it.
    pub(crate) is_reading: Arc<AtomicBool>,
    is_stopping: Arc<AtomicBool>,
}

impl PageChecks {
    /// Checks a file that this process has open. Takes as long as reading it does.
    pub(crate) fn run(&self, database: &Path) -> Result<Pages> {
        let _one = self.running.lock();
        // Only by SQLite itself: to close a file that was opened in another way gives up the locks that the process has on it.
        let connection = read_only::connect(database, &Usage::Possible)?;
        let end = End { is_stopping: Arc::clone(&self.is_stopping), ..End::at_a_long_log(database) };
        self.is_reading.store(true, Ordering::Relaxed);
        let found = check(connection, &end);
        self.is_reading.store(false, Ordering::Relaxed);
        found
    }

    /// Ends a check that is running, and lets no other begin.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }
}

/// When a check ends early.
#[derive(Clone)]
struct End {
    is_stopping: Arc<AtomicBool>,
    log: PathBuf,
    /// The longest that the log may be, or `None` if there must be no log.
    most_log: Option<u64>,
}

impl End {
    fn at_a_long_log(database: &Path) -> Self {
        Self { is_stopping: Arc::default(), log: path_with(database, "-wal"), most_log: Some(MOST_LOG) }
    }

    fn is_reached(&self) -> bool {
        let is_too_long = |length: u64| self.most_log.is_none_or(|most| length > most);
        self.is_stopping.load(Ordering::Relaxed) || fs::metadata(&self.log).is_ok_and(|log| is_too_long(log.len()))
    }
}

/// What a statement of a check has found.
enum Found {
    Texts(Vec<String>),
    Damage(String),
    EndedEarly,
}

fn check(mut connection: rusqlite::Connection, end: &End) -> Result<Pages> {
    let watched = end.clone();
    connection.progress_handler(STEPS, Some(move || watched.is_reached())).map_err(failure::opening)?;
    let mut tables = vec![SCHEMA.to_owned()];
    let list = "select name from sqlite_schema where type = 'table' order by name";
    let found = match ask(&connection, list)? {
        Found::Damage(_) => {
            read_anew(&connection)?;
            ask(&connection, list)?
        }
        found @ (Found::Texts(_) | Found::EndedEarly) => found,
    };
    match found {
        Found::Texts(names) => tables.extend(names),
        Found::Damage(problem) => return Ok(Pages::Damaged(vec![problem])),
        Found::EndedEarly => return Ok(Pages::Unknown),
    }
    let mut problems = Vec::new();
    for table in tables {
        // What passes is no damage: a table is damaged if it is so twice in a row.
        let mut of_table = None;
        for _ in 0..2 {
            of_table = if end.is_reached() { None } else { problems_of(&connection, &table)? };
            if of_table.as_ref().is_none_or(Vec::is_empty) {
                break;
            }
            read_anew(&connection)?;
        }
        match of_table {
            Some(found) => problems.extend(found),
            None if problems.is_empty() => return Ok(Pages::Unknown),
            None => break,
        }
    }
    problems.truncate(MOST_PROBLEMS);
    Ok(if problems.is_empty() { Pages::Whole } else { Pages::Damaged(problems) })
}

/// Lets pages be read from the file again, not from memory.
fn read_anew(connection: &rusqlite::Connection) -> Result<()> {
    connection.execute_batch("pragma shrink_memory").map_err(failure::opening)
}

/// `None` if it ended early.
fn problems_of(connection: &rusqlite::Connection, table: &str) -> Result<Option<Vec<String>>> {
    let found = match ask(connection, &format!("pragma quick_check(\"{table}\")"))? {
        Found::Texts(found) => found.into_iter().filter(|problem| problem != "ok").collect(),
        Found::Damage(problem) => vec![problem],
        Found::EndedEarly => return Ok(None),
    };
    Ok(Some(found.into_iter().map(|problem| format!("{table}: {}", problem.replace('\n', " "))).collect()))
}

/// Fails for what tells nothing of the pages.
fn ask(connection: &rusqlite::Connection, sql: &str) -> Result<Found> {
    let texts: rusqlite::Result<Vec<String>> = connection.prepare(sql).and_then(|mut statement| {
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect()
    });
    texts.map(Found::Texts).or_else(|error| judge(error).map_err(|error| failure::classify(connection, error)))
}

fn judge(error: rusqlite::Error) -> rusqlite::Result<Found> {
    let Some(failure) = error.sqlite_error() else { return Err(error) };
    match failure.code {
        ErrorCode::OperationInterrupted => Ok(Found::EndedEarly),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Ok(Found::Damage(error.to_string())),
        ErrorCode::SystemIoFailure if UNREADABLE.contains(&failure.extended_code) => {
            Ok(Found::Damage(error.to_string()))
        }
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connect(path: &Path) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
        connection
    }

    #[test]
    fn only_lost_pages_are_damage() {
        let judged = |code| judge(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, UNREADABLE[0], UNREADABLE[1], UNREADABLE[2]] {
            assert!(matches!(judged(code), Ok(Found::Damage(_))), "{code}");
        }
        for code in [ffi::SQLITE_IOERR_LOCK, ffi::SQLITE_IOERR_SHMMAP, ffi::SQLITE_IOERR_NOMEM, ffi::SQLITE_BUSY] {
            assert!(judged(code).is_err(), "{code}");
        }
        assert!(matches!(judged(ffi::SQLITE_INTERRUPT), Ok(Found::EndedEarly)));
    }

    #[test]
    fn a_check_ends_when_the_log_is_long_or_it_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let writer = connect(&path);
        writer.execute_batch("create table item (note blob); insert into item values (zeroblob(4096))").unwrap();
        let found = |end: End| check(connect(&path), &end).unwrap();
        let end = End::at_a_long_log(&path);
        assert_eq!(found(end.clone()), Pages::Whole);
        assert_eq!(found(End { most_log: Some(1024), ..end.clone() }), Pages::Unknown);
        assert_eq!(found(End { most_log: None, ..end.clone() }), Pages::Unknown);
        assert_eq!(found(End { is_stopping: Arc::new(AtomicBool::new(true)), ..end }), Pages::Unknown);
    }

    /// Within one statement, however long it is.
    #[test]
    fn a_statement_of_a_check_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let writer = connect(&path);
        let rows = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000) \
                    insert into item select zeroblob(1000) from n";
        writer.execute_batch(&format!("create table item (note blob not null); {rows}")).unwrap();
        let mut connection = connect(&path);
        connection.progress_handler(STEPS, Some(|| true)).unwrap();
        assert_eq!(problems_of(&connection, "item").unwrap(), None);
        connection.progress_handler(STEPS, Some(|| false)).unwrap();
        assert_eq!(problems_of(&connection, "item").unwrap(), Some(Vec::new()));
    }
}
