//! SQLite: one file in write-ahead mode, written by one connection and read by several.

mod backup;
mod checkpoint;
mod cleaning;
mod failure;
mod in_place;
mod pages;
mod read_only;

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio::runtime::Runtime;

use model::ids::AppId;

use super::{Access, LockedApps, Row, Rows, Value, Visit};
use crate::app_numbers::AppNumbers;
use crate::error::{Cause, Error, Result};
use checkpoint::Checkpoints;
use cleaning::Cleaning;

pub(crate) use backup::write_copy;
pub use cleaning::{CleanUp, Extent};
pub(super) use failure::is_damage;
pub(crate) use in_place::OpenFiles;
pub use pages::Pages;
pub(crate) use pages::{PageChecks, check_pages};
pub(crate) use read_only::open_read_only;

/// How long a statement waits for a lock of another program that has the file open. Our own connections never
/// block each other for this long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const CACHED_STATEMENTS: usize = 256;
/// Page caches, in KiB, at most: a database that is smaller or not in use takes less. The operating system's
/// cache does most of the work; the writer's is for the inner pages of the indexes of channels, which every
/// change of a channel goes through, and which are some 20 MB for ten million by the sizes of their keys. The
/// allocator rounds pages up, and takes a sixth more for them.
const WRITER_CACHE: u32 = 32 * 1024;
const READER_CACHE: u32 = 2048;

/// A database file that this process has to itself.
pub(crate) struct Database {
    path: PathBuf,
    lock: Arc<File>,
    page_checks: Arc<PageChecks>,
    is_vacuumed: Arc<AtomicBool>,
}

impl Database {
    /// Makes the file and its folder, for the owner only, if they do not exist.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let unusable = |error| Error::Unavailable(Cause::new(format!("{} cannot be opened", path.display()), error));
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unusable)?;
        }
        let lock = Arc::new(private_file(&path_with(path, ".lock")).map_err(unusable)?);
        if !wait_for_lock(&lock).map_err(unusable)? {
            return Err(Error::unavailable(format!(
                "{} is in use by another aerogram process; stop it first, or use PostgreSQL to run several",
                path.display()
            )));
        }
        private_file(path).map_err(unusable)?;
        Ok(Self { path: path.to_owned(), lock, page_checks: Arc::default(), is_vacuumed: Arc::default() })
    }

    pub(crate) fn page_checks(&self) -> Arc<PageChecks> {
        Arc::clone(&self.page_checks)
    }

    /// Set before the file is written anew.
    pub(crate) const fn is_vacuumed(&self) -> &Arc<AtomicBool> {
        &self.is_vacuumed
    }

    pub(crate) fn writer(&self) -> Result<SqliteConnection> {
        let mut connection = self.connect(WRITER_CACHE)?;
        let is_checked = Arc::clone(&self.page_checks.is_reading);
        let checkpoints = Checkpoints::start(&mut connection, self.connect(READER_CACHE)?, is_checked)?;
        let connection = SqliteConnection::new(connection, Some(checkpoints), &self.lock)?;
        Ok(SqliteConnection { cleaning: Cleaning::new(Arc::clone(&self.is_vacuumed)), ..connection })
    }

    pub(crate) fn reader(&self) -> Result<SqliteConnection> {
        let connection = self.connect(READER_CACHE)?;
        connection.pragma_update(None, "query_only", true).map_err(failure::opening)?;
        SqliteConnection::new(connection, None, &self.lock)
    }

    fn connect(&self, cache_kib: u32) -> Result<rusqlite::Connection> {
        let connection = rusqlite::Connection::open(&self.path).map_err(failure::opening)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failure::opening)?;
        let mode: String = connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
            .map_err(failure::opening)?;
        if mode != "wal" {
            return Err(Error::unavailable(format!(
                "{} is on a file system that cannot share memory between connections; use a local disk",
                self.path.display()
            )));
        }
        // Setting `wal_autocheckpoint` later would take away the hook by which the size of the log is known.
        connection
            .execute_batch(&format!(
                "pragma synchronous = full; pragma foreign_keys = on; \
                 pragma wal_autocheckpoint = 0; pragma journal_size_limit = {}; pragma cache_size = -{cache_kib}; \
                 pragma temp_store = memory;",
                checkpoint::LONGEST_FILE
            ))
            .map_err(failure::opening)?;
        Ok(connection)
    }
}

pub(crate) struct SqliteConnection {
    connection: rusqlite::Connection,
    runtime: Runtime,
    checkpoints: Option<Checkpoints>,
    locked: LockedApps,
    cleaning: Cleaning,
    _lock: Arc<File>,
}

impl SqliteConnection {
    fn new(connection: rusqlite::Connection, checkpoints: Option<Checkpoints>, lock: &Arc<File>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| Error::Unavailable(Cause::new("no event loop", error)))?;
        let (locked, cleaning) = (LockedApps::default(), Cleaning::default());
        Ok(Self { connection, runtime, checkpoints, locked, cleaning, _lock: Arc::clone(lock) })
    }

    pub(super) fn for_each(&mut self, sql: &str, params: &[Value], visit: &mut Visit<'_>) -> Result<()> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| self.failed(error))?;
        bind(&mut statement, params)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| self.failed(error))? {
            visit(&Row::sqlite(row))?;
        }
        Ok(())
    }

    pub(super) fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| self.failed(error))?;
        bind(&mut statement, params)?;
        Ok(statement.raw_execute().map_err(|error| self.failed(error))? as u64)
    }

    pub(super) fn execute_many(&mut self, sql: &str, rows: &mut Rows<'_>) -> Result<u64> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| self.failed(error))?;
        let (places, mut changed) = (places(&statement)?, 0);
        for row in rows {
            bind_in(&mut statement, &places, (*row).as_ref())?;
            changed += statement.raw_execute().map_err(|error| self.failed(error))? as u64;
        }
        Ok(changed)
    }

    pub(super) fn for_each_of_many(&mut self, sql: &str, rows: &mut Rows<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| self.failed(error))?;
        let places = places(&statement)?;
        for row in rows {
            bind_in(&mut statement, &places, (*row).as_ref())?;
            let mut found = statement.raw_query();
            while let Some(row) = found.next().map_err(|error| self.failed(error))? {
                visit(&Row::sqlite(row))?;
            }
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, access: Access<'_>) -> Result<()> {
        self.locked = LockedApps::default();
        self.cleaning.end_overwriting(&self.connection)?;
        match access {
            Access::Snapshot => self.execute("begin deferred", &[]).map(drop),
            Access::Write(apps) => {
                self.execute("begin immediate", &[])?;
                self.locked = self.lock_apps(apps).inspect_err(|_| self.rollback())?;
                Ok(())
            }
        }
    }

    pub(super) fn locked(&self) -> &LockedApps {
        &self.locked
    }

    /// Reads the apps. Their rows need no locks, because there is one writer.
    fn lock_apps(&mut self, apps: &[AppId]) -> Result<LockedApps> {
        let mut locked = LockedApps::none_found(apps);
        let sql = format!("select {} from app_numbers where app = $1", AppNumbers::COLUMNS);
        for app in apps {
            self.for_each(&sql, &[(*app).into()], &mut |row| {
                locked.add(*app, AppNumbers::read(|| row.next())?);
                Ok(())
            })?;
        }
        Ok(locked)
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.execute("commit", &[])?;
        Ok(())
    }

    pub(super) fn rollback(&mut self) {
        // SQLite may have ended the transaction itself, for example when the disk is full.
        if !self.connection.is_autocommit()
            && let Err(error) = self.execute("rollback", &[])
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }

    pub(super) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    pub(super) fn maintain(&mut self) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.after_commit(&self.connection);
        }
        self.cleaning.after_commit(&self.connection);
    }

    pub(super) fn overwrite_deleted(&mut self) -> Result<()> {
        self.cleaning.overwrite_deleted(&self.connection)
    }

    pub(super) const fn request_clean_up(&mut self, extent: Extent) {
        self.cleaning.request(extent);
    }

    pub(super) const fn clean_up(&self) -> Option<CleanUp> {
        self.cleaning.last()
    }

    pub(super) fn close(mut self) {
        if let Some(checkpoints) = self.checkpoints.take() {
            checkpoints.finish(&self.connection);
        }
    }

    fn failed(&self, error: rusqlite::Error) -> Error {
        failure::classify(&self.connection, error)
    }
}

fn bind(statement: &mut Statement<'_>, params: &[Value]) -> Result<()> {
    let places = places(statement)?;
    bind_in(statement, &places, params)
}

/// Which value belongs to each parameter of a statement, by the number in its placeholder: for SQLite `$1` is a name, and
/// parameters are numbered in order of appearance.
fn places(statement: &Statement<'_>) -> Result<Vec<usize>> {
    let place = |position| {
        let name = statement.parameter_name(position).unwrap_or_default();
        let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
        number
            .and_then(|number| number.checked_sub(1))
            .ok_or_else(|| Error::corrupt(format!("a statement has the parameter {name:?}")))
    };
    (1..=statement.parameter_count()).map(place).collect()
}

fn bind_in(statement: &mut Statement<'_>, places: &[usize], params: &[Value]) -> Result<()> {
    let used = places.iter().max().map_or(0, |last| last + 1);
    if used != params.len() {
        return Err(Error::corrupt(format!("a statement uses {used} parameters but has {} values", params.len())));
    }
    for (position, place) in (1..).zip(places) {
        let value = &params[*place];
        if matches!(value, Value::Text(text) if text.contains('\0')) {
            return Err(Error::corrupt("a text holds the character NUL, which cannot be stored"));
        }
        statement.raw_bind_parameter(position, value).map_err(failure::opening)?;
    }
    Ok(())
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Tries to lock the file until [`LOCK_TIMEOUT`], and returns whether it is locked. A process that is just
/// ending, or a child of one that is just starting, releases the lock within moments. This polls because a
/// blocking lock has no timeout; it runs once, before anything else.
fn wait_for_lock(lock: &File) -> std::io::Result<bool> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::park_timeout(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

pub(crate) fn path_with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
