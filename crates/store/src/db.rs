//! The interface between our SQL and the two databases: one text of SQL, run by SQLite or by PostgreSQL.
//!
//! A connection belongs to a thread, and everything on it is synchronous; callers outside wait for an answer.
//! SQL is written in the subset that both databases accept, with `$1…$n` for parameters, in any order and as
//! often as needed. Columns are `bigint`, `double precision`, `text` and `blob`; text sorts by its bytes.
//!
//! Every difference between the databases:
//! 1. *Claiming.* On PostgreSQL several transactions write at once, so a statement that claims rows ends in
//!    [`Tx::claim_suffix`]. On SQLite there is one writer and nothing to skip.
//! 2. *Locking.* For the same reason, a batch of commands first locks the rows of the apps it is about (`Access::Write`); both
//!    databases read the numbers of those that exist by then ([`crate::app_numbers`]). And two nodes that migrate at once exclude
//!    each other ([`Tx::lock_database`]).
//! 3. *Waking.* Signals of other nodes come by LISTEN/NOTIFY on PostgreSQL; on SQLite there is one process.
//! 4. *Preparation.* [`Tx::prepare_database`] makes the schema and the two types (`blob`, and `text` in byte
//!    order) that PostgreSQL lacks; SQLite has pragmas per connection instead.
//! 5. *Upkeep.* We copy SQLite's log back ourselves ([`sqlite`]); PostgreSQL looks after itself, and earlier than by its own
//!    settings ([`Tx::tune_tables`]).
//! 6. *Backups.* We copy SQLite's file ourselves ([`crate::backup`]); PostgreSQL has its own tools.
//! 7. *Copying* a whole database: each database has its own catalog of tables, its own way to add many rows
//!    at once, and its own way to tell whether others use it ([`copying`]).
//! 8. *Size.* Each reports its size in its own way ([`Tx::database_bytes`]).
//! 9. *Sets.* PostgreSQL is told of what the commands of a batch read and write in a few statements for all of
//!    them ([`gathering`], [`Tx::write`]); SQLite runs each statement at once.
//! 10. *Nodes.* Which of them live is told by their locks in PostgreSQL ([`Tx::living_nodes`]); SQLite has one.
//! 11. *Limits.* A server ends statements that take too long ([`postgres`]); nothing else waits for a connection to SQLite.
//! 12. *Failover.* Another PostgreSQL server may take over without the last commits, so that what is kept in memory of the
//!     database belongs to one run of one server ([`Tx::server_run`]).
//! 13. *Several servers.* Citus, an extension of PostgreSQL, may spread the apps over servers ([`crate::parts`]).
//! 14. *Facts.* A server tells of its settings, connections and standbys ([`server_facts`]); SQLite has none.
//! 15. *Time.* A server has a clock, by which nodes judge their own ([`Tx::database_time`]); SQLite has none.
//!
//! Not differences, by agreement: a unique index has a name (`create unique index`), since SQLite forgets the
//! names of constraints; text holds no NUL character, which PostgreSQL cannot store; a failed statement ends
//! its transaction.

pub(crate) mod answer;
pub(crate) mod command;
mod connection;
pub(crate) mod copying;
mod differences;
mod durations;
mod gathering;
mod health;
mod pace;
mod pending;
pub(crate) mod postgres;
pub(crate) mod reader;
mod row;
mod running;
mod savepoint;
pub(crate) mod server_facts;
mod signal;
pub(crate) mod sqlite;
mod value;
pub(crate) mod writer;

use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) use connection::{Access, Connection, FailedCommit, LockedApps};
pub use durations::{Durations, Waiting};
pub use health::Trouble;
pub(crate) use health::{DatabaseHealth, Operation};
pub use row::{Column, FromColumn, Row};
pub(crate) use signal::Hub;
pub use signal::{Signal, Signals};
pub use value::Value;

use model::ids::AppId;

use crate::app_numbers::PendingNumbers;
use crate::apps;
use crate::audit::{About, PendingAudit, Request};
use crate::counters::PendingCounts;
use crate::error::{Error, Result};
use crate::log::{LogBounds, LogWindows, PendingRecords};

/// Takes the rows of a result one after the other.
type Visit<'a> = dyn FnMut(&Row<'_>) -> Result<()> + 'a;

/// Rows of parameters. Each caller has a type of its own for them, for which there would be a copy of all the code that speaks
/// with the databases.
type Rows<'a> = dyn Iterator<Item = Box<dyn AsRef<[Value]> + 'a>> + 'a;

/// One transaction. The first statement that fails ends it: later statements repeat the error, and the transaction is rolled
/// back even if its owner ignores that.
pub struct Tx<'c> {
    connection: &'c mut Connection,
    may_write: bool,
    signals: BTreeSet<Signal>,
    counts: PendingCounts,
    records: PendingRecords,
    numbers: PendingNumbers,
    /// Whether deliveries may be among the records.
    has_deliveries: bool,
    /// The newest records of logs; only a transaction that only reads has them, and the bounds of the logs that it has asked for.
    log_windows: Option<Arc<LogWindows>>,
    log_bounds: Vec<(AppId, Option<LogBounds>)>,
    audit: PendingAudit,
    /// The app that the running command is for, the request on whose behalf it is run, and what it has told about the change.
    app: Option<AppId>,
    request: Option<Arc<Request>>,
    about: About,
    /// Apps that commands of this transaction have deleted; later commands are too late for them.
    deleted: Vec<AppId>,
    is_too_late: bool,
    wrote: bool,
    /// Whether the running command, and whether any command of this transaction, has changed a row.
    has_effect: bool,
    changed: bool,
    broken: Option<Error>,
    open: bool,
}

impl<'c> Tx<'c> {
    /// Runs a statement and collects its rows.
    pub fn query<T>(
        &mut self,
        sql: &str,
        params: &[Value],
        mut map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.for_each(sql, params, |row| {
            rows.push(map(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Runs a statement that yields at most one row.
    pub fn query_opt<T>(
        &mut self,
        sql: &str,
        params: &[Value],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut rows = self.query(sql, params, map)?;
        if rows.len() > 1 {
            return Err(self.miscounted(rows.len(), sql));
        }
        Ok(rows.pop())
    }

    /// Runs a statement that always yields one row, such as a count or an `insert … returning`.
    pub fn query_one<T>(&mut self, sql: &str, params: &[Value], map: impl FnMut(&Row<'_>) -> Result<T>) -> Result<T> {
        match self.query_opt(sql, params, map)? {
            Some(row) => Ok(row),
            None => Err(self.miscounted(0, sql)),
        }
    }

    /// Runs a statement and visits its rows as they arrive, without collecting them.
    pub fn for_each(
        &mut self,
        sql: &str,
        params: &[Value],
        mut visit: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.visit(sql, params, &mut visit)
    }

    /// Runs a statement that yields no rows; returns how many it changed.
    pub fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64> {
        self.check(true)?;
        let done = match self.connection {
            Connection::Sqlite(sqlite) => sqlite.execute(sql, params),
            Connection::Postgres(postgres) => postgres.execute(sql, params),
        };
        self.remember_change(done)
    }

    /// Runs a statement that yields no rows, and whose answer nobody waits for. On PostgreSQL it leaves together with others of
    /// its kind, at the latest with the commit; so it must not be one that may conflict with what is stored.
    pub fn write(&mut self, sql: &str, params: &[Value]) -> Result<()> {
        self.check(true)?;
        let done = match self.connection {
            Connection::Sqlite(sqlite) => sqlite.execute(sql, params).map(|n_rows| n_rows > 0),
            Connection::Postgres(postgres) => postgres.write(sql, params).map(|()| true),
        };
        self.note_change(*done.as_ref().unwrap_or(&false));
        self.remember_error(done.map(drop))
    }

    /// Runs a statement that changes a row if the row is still what `select`, by the first `n_keys` parameters, finds. Returns
    /// whether it is; then no other transaction changes it before this one ends.
    pub fn change_found(&mut self, select: &str, n_keys: usize, sql: &str, params: &[Value]) -> Result<bool> {
        match self.connection {
            Connection::Sqlite(_) => Ok(self.execute(sql, params)? > 0),
            Connection::Postgres(_) => {
                let locked = self.query_opt(&format!("{select} for update"), &params[..n_keys], |_| Ok(()))?.is_some();
                if locked {
                    self.write(sql, params)?;
                }
                Ok(locked)
            }
        }
    }

    /// As [`Tx::write`], once for every row of parameters.
    pub fn write_many<R: AsRef<[Value]>>(&mut self, sql: &str, rows: impl IntoIterator<Item = R>) -> Result<()> {
        match self.connection {
            Connection::Sqlite(_) => self.execute_many(sql, rows).map(drop),
            Connection::Postgres(_) => rows.into_iter().try_for_each(|row| self.write(sql, row.as_ref())),
        }
    }

    /// Runs one statement once for every row of parameters; returns how many rows all of them changed.
    /// PostgreSQL gets them without waiting for an answer to each.
    pub fn execute_many<R: AsRef<[Value]>>(&mut self, sql: &str, rows: impl IntoIterator<Item = R>) -> Result<u64> {
        self.execute_all(sql, &mut rows.into_iter().map(|row| Box::new(row) as _))
    }

    /// Runs one query once for every row of parameters and collects the rows of all, in order. PostgreSQL
    /// gets them as in [`Tx::execute_many`]. This is a safer way to look up many keys than one query for all
    /// of them, for which PostgreSQL may choose to read the whole table while it is small.
    pub fn query_many<T, R: AsRef<[Value]>>(
        &mut self,
        sql: &str,
        rows: impl IntoIterator<Item = R>,
        mut map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.visit_all(sql, &mut rows.into_iter().map(|row| Box::new(row) as _), &mut |row| {
            found.push(map(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Announces that a query is going to be run for these rows of parameters. PostgreSQL is asked together with the next question
    /// of the command, so that it need not be put aside once more; SQLite needs no such thing.
    pub(crate) fn foresee<R: AsRef<[Value]>>(&mut self, sql: &str, rows: impl IntoIterator<Item = R>) {
        match self.connection {
            Connection::Sqlite(_) => {}
            Connection::Postgres(postgres) => rows.into_iter().for_each(|row| postgres.foresee(sql, row.as_ref())),
        }
    }

    /// Wakes the subscribers of this kind of change once it is committed.
    pub fn signal(&mut self, signal: Signal) {
        self.signals.insert(signal);
    }

    fn visit(&mut self, sql: &str, params: &[Value], visit: &mut Visit<'_>) -> Result<()> {
        let writes = writes(sql);
        self.check(writes)?;
        let done = match self.connection {
            Connection::Sqlite(sqlite) => sqlite.for_each(sql, params, visit),
            Connection::Postgres(postgres) => postgres.for_each(sql, params, visit),
        };
        self.note_change(writes);
        self.remember_error(done)
    }

    fn execute_all(&mut self, sql: &str, rows: &mut Rows<'_>) -> Result<u64> {
        self.check(true)?;
        let done = match self.connection {
            Connection::Sqlite(sqlite) => sqlite.execute_many(sql, rows),
            Connection::Postgres(postgres) => postgres.execute_many(sql, rows),
        };
        self.remember_change(done)
    }

    fn visit_all(&mut self, sql: &str, rows: &mut Rows<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let writes = writes(sql);
        self.check(writes)?;
        let done = match self.connection {
            Connection::Sqlite(sqlite) => sqlite.for_each_of_many(sql, rows, visit),
            Connection::Postgres(postgres) => postgres.for_each_of_many(sql, rows, visit),
        };
        self.note_change(writes);
        self.remember_error(done)
    }

    /// Breaks the transaction: a statement that was to yield one row has yielded another number of them.
    #[cold]
    fn miscounted(&mut self, n_rows: usize, sql: &str) -> Error {
        let found = if n_rows == 0 { "no row".to_owned() } else { format!("{n_rows} rows") };
        let error = Error::corrupt(format!("{found} where one was expected: {sql}"));
        self.remember_error::<()>(Err(error.clone())).err().unwrap_or(error)
    }

    fn new(connection: &'c mut Connection, may_write: bool) -> Self {
        Self {
            connection,
            may_write,
            signals: BTreeSet::new(),
            counts: PendingCounts::default(),
            records: PendingRecords::default(),
            has_deliveries: false,
            numbers: PendingNumbers::default(),
            log_windows: None,
            log_bounds: Vec::new(),
            audit: PendingAudit::default(),
            app: None,
            request: None,
            about: About::default(),
            deleted: Vec::new(),
            is_too_late: false,
            wrote: false,
            has_effect: false,
            changed: false,
            broken: None,
            open: true,
        }
    }

    /// Lets the transaction, which only reads, find the newest records of logs in memory.
    fn use_log_windows(&mut self, windows: &Arc<LogWindows>) {
        self.log_windows = Some(Arc::clone(windows));
    }

    pub(crate) fn log_windows(&self) -> Option<Arc<LogWindows>> {
        self.log_windows.clone()
    }

    /// The bounds of logs that this transaction has read. Only a transaction that only reads keeps them.
    pub(crate) fn log_bounds(&mut self) -> &mut Vec<(AppId, Option<LogBounds>)> {
        &mut self.log_bounds
    }

    pub(crate) const fn may_write(&self) -> bool {
        self.may_write
    }

    fn broken(&self) -> Option<&Error> {
        self.broken.as_ref()
    }

    /// Commits the transaction; without this call it is rolled back. After an error other than a refusal by
    /// the database, it is unknown whether the change was made.
    pub(crate) fn commit(self) -> Result<BTreeSet<Signal>> {
        self.try_commit().map_err(|failed| failed.error)
    }

    /// As [`Tx::commit`], for a caller that tries again if it is sure that nothing was done.
    fn try_commit(mut self) -> Result<BTreeSet<Signal>, FailedCommit> {
        let unsent = |error| FailedCommit { error, is_undone: true };
        if let Some(error) = &self.broken {
            return Err(unsent(error.clone()));
        }
        self.write_pending().map_err(unsent)?;
        if let Err(failed) = self.connection.commit() {
            self.broken = Some(failed.error.clone());
            return Err(failed);
        }
        self.open = false;
        self.audit.committed();
        Ok(std::mem::take(&mut self.signals))
    }

    fn check(&mut self, writes: bool) -> Result<()> {
        if writes && !self.may_write {
            // Checked here, because the database reports the same error when an administrator has closed it
            // for changes.
            return self.remember_error(Err(Error::corrupt("a transaction that only reads was asked to write")));
        }
        self.wrote |= writes;
        self.broken.clone().map_or(Ok(()), Err)
    }

    /// As [`Tx::remember_error`], for a statement that says how many rows it changed.
    fn remember_change(&mut self, done: Result<u64>) -> Result<u64> {
        self.note_change(done.as_ref().is_ok_and(|n_rows| *n_rows > 0));
        self.remember_error(done)
    }

    /// The first error ends the transaction. A statement for an app that is gone fails even if the database
    /// ran it.
    fn remember_error<T>(&mut self, done: Result<T>) -> Result<T> {
        let is_gone = self.is_too_late || self.app.is_some_and(|app| self.connection.lacks(app));
        let done = if is_gone { done.and(Err(apps::gone())) } else { done };
        if let Err(error) = &done {
            self.broken = Some(error.clone());
        }
        done
    }
}

impl Drop for Tx<'_> {
    fn drop(&mut self) {
        if self.open {
            self.connection.rollback(self.broken.as_ref());
        }
    }
}

/// Whether a statement that yields rows may also change some.
fn writes(sql: &str) -> bool {
    !sql.trim_start().get(..6).is_some_and(|verb| verb.eq_ignore_ascii_case("select"))
}
