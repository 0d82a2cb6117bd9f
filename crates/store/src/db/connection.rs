//! A connection to SQLite or to PostgreSQL, as the threads that own one see it.

use model::ids::AppId;

use super::{Tx, postgres, sqlite};
use crate::app_numbers::AppNumbers;
use crate::apps::OPERATOR;
use crate::error::{Error, Result};

pub(crate) enum Connection {
    Sqlite(sqlite::SqliteConnection),
    Postgres(postgres::PostgresConnection),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access<'a> {
    /// One consistent state of the database; changes are refused.
    Snapshot,
    /// Changes to these apps, with other writers locked out. Which of them are gone is known after the first
    /// statement ([`Connection::lacks`]).
    Write(&'a [AppId]),
}

/// The apps whose rows a transaction has locked, so that no other transaction changes them.
#[derive(Default)]
pub(crate) struct LockedApps {
    /// Apps that were not found. On PostgreSQL all are among them until the transaction has begun there.
    missing: Vec<AppId>,
    found: Vec<(AppId, AppNumbers)>,
}

/// A commit that failed, and whether it is sure that nothing of it was done.
pub(crate) struct FailedCommit {
    pub(crate) error: Error,
    pub(crate) is_undone: bool,
}

impl LockedApps {
    pub(super) fn none_found(apps: &[AppId]) -> Self {
        Self { missing: apps.iter().copied().filter(|app| *app != OPERATOR).collect(), found: Vec::new() }
    }

    pub(super) fn add(&mut self, app: AppId, numbers: AppNumbers) {
        self.missing.retain(|missing| *missing != app);
        self.found.push((app, numbers));
    }

    fn lacks(&self, app: AppId) -> bool {
        self.missing.contains(&app)
    }

    fn numbers(&self, app: AppId) -> Option<AppNumbers> {
        self.found.iter().find(|(found, _)| *found == app).map(|(_, numbers)| *numbers)
    }
}

impl Connection {
    pub(crate) fn begin(&mut self, access: Access<'_>) -> Result<Tx<'_>> {
        let may_write = match access {
            Access::Snapshot => false,
            Access::Write(_) => true,
        };
        match self {
            Connection::Sqlite(sqlite) => sqlite.begin(access)?,
            Connection::Postgres(postgres) => postgres.begin(access)?,
        }
        Ok(Tx::new(self, may_write))
    }

    /// Whether an app that is being written does not exist. The answer stays the same until the transaction
    /// ends.
    pub(super) fn lacks(&self, app: AppId) -> bool {
        let locked = match self {
            Connection::Sqlite(sqlite) => Some(sqlite.locked()),
            Connection::Postgres(postgres) => postgres.locked(),
        };
        locked.is_some_and(|locked| locked.lacks(app))
    }

    /// The numbers of an app that is being written, as they were when the transaction began.
    pub(super) fn numbers_at_begin(&mut self, app: AppId) -> Result<Option<AppNumbers>> {
        let locked = match self {
            Connection::Sqlite(sqlite) => Some(sqlite.locked()),
            Connection::Postgres(postgres) => {
                postgres.open()?;
                postgres.locked()
            }
        };
        Ok(locked.and_then(|locked| locked.numbers(app)))
    }

    pub(super) fn commit(&mut self) -> Result<(), FailedCommit> {
        match self {
            Connection::Sqlite(sqlite) => sqlite.commit().map_err(|error| FailedCommit { error, is_undone: false }),
            Connection::Postgres(postgres) => postgres.commit(),
        }
    }

    /// Runs a statement that is about the open transaction itself, such as a savepoint.
    pub(super) fn control(&mut self, sql: &str) -> Result<()> {
        let done = match self {
            Connection::Sqlite(sqlite) => sqlite.execute(sql, &[]),
            Connection::Postgres(postgres) => postgres.execute(sql, &[]),
        };
        done.map(drop)
    }

    /// Ends a transaction without its changes, because of an error or because its owner has declined.
    pub(super) fn rollback(&mut self, failure: Option<&Error>) {
        match self {
            Connection::Sqlite(sqlite) => sqlite.rollback(),
            Connection::Postgres(postgres) => postgres.rollback(failure),
        }
    }

    /// Blocks this thread until the future is done, and notices meanwhile if the server goes away.
    pub(super) fn wait<F: Future>(&self, future: F) -> F::Output {
        match self {
            Connection::Sqlite(sqlite) => sqlite.wait(future),
            Connection::Postgres(postgres) => postgres.wait(future),
        }
    }

    /// Whether a transaction is a conversation with another process.
    pub(super) fn is_remote(&self) -> bool {
        match self {
            Connection::Sqlite(_) => false,
            Connection::Postgres(_) => true,
        }
    }

    pub(super) fn is_spread(&self) -> bool {
        match self {
            Connection::Sqlite(_) => false,
            Connection::Postgres(postgres) => postgres.is_spread(),
        }
    }

    /// Whether an error tells of the database. Of one that is spread over several servers, one may be away and others not.
    pub(super) fn is_to_blame(&self) -> bool {
        match self {
            Connection::Sqlite(_) => true,
            Connection::Postgres(postgres) => !postgres.is_spread() || postgres.is_lost(),
        }
    }

    /// Maintenance that can wait until the callers of the last commit have their answers.
    pub(crate) fn maintain(&mut self) {
        match self {
            Connection::Sqlite(sqlite) => sqlite.maintain(),
            Connection::Postgres(_) => {}
        }
    }

    pub(crate) fn close(self) {
        match self {
            Connection::Sqlite(sqlite) => sqlite.close(),
            Connection::Postgres(postgres) => postgres.close(),
        }
    }
}
