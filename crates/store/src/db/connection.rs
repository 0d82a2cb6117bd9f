//! A connection of either engine, as the threads that own one see it.

use model::ids::AppId;

use super::{Tx, postgres, sqlite};
use crate::app_numbers::AppNumbers;
use crate::apps::OPERATOR;
use crate::error::Result;

pub(crate) enum Connection {
    Sqlite(sqlite::Session),
    Postgres(postgres::Session),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access<'a> {
    /// One consistent state of the database; changes are refused.
    Snapshot,
    /// Changes to these apps, with other writers locked out. Which of them are gone is known after the first statement
    /// ([`Connection::lacks`]).
    Write(&'a [AppId]),
}

/// The apps that a transaction has to itself.
#[derive(Default)]
pub(crate) struct Held {
    /// Apps that were not found. On PostgreSQL all are among them until the transaction has begun there.
    missing: Vec<AppId>,
    found: Vec<(AppId, AppNumbers)>,
}

impl Held {
    pub(super) fn nothing_yet(apps: &[AppId]) -> Self {
        Self { missing: apps.iter().copied().filter(|app| *app != OPERATOR).collect(), found: Vec::new() }
    }

    pub(super) fn find(&mut self, app: AppId, numbers: AppNumbers) {
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
            Connection::Sqlite(session) => session.begin(access)?,
            Connection::Postgres(session) => session.begin(access)?,
        }
        Ok(Tx::new(self, may_write))
    }

    /// Whether an app that is being written does not exist. The answer stays the same until the transaction ends.
    pub(super) fn lacks(&self, app: AppId) -> bool {
        let held = match self {
            Connection::Sqlite(session) => session.held(),
            Connection::Postgres(session) => session.held(),
        };
        held.lacks(app)
    }

    /// The numbers of an app that is being written, as they were when the transaction began.
    pub(super) fn numbers_at_begin(&mut self, app: AppId) -> Result<Option<AppNumbers>> {
        let held = match self {
            Connection::Sqlite(session) => session.held(),
            Connection::Postgres(session) => {
                session.open()?;
                session.held()
            }
        };
        Ok(held.numbers(app))
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        match self {
            Connection::Sqlite(session) => session.commit(),
            Connection::Postgres(session) => session.commit(),
        }
    }

    /// Runs a statement that is about the open transaction itself, such as a savepoint.
    pub(super) fn control(&mut self, sql: &str) -> Result<()> {
        let done = match self {
            Connection::Sqlite(session) => session.execute(sql, &[]),
            Connection::Postgres(session) => session.execute(sql, &[]),
        };
        done.map(drop)
    }

    pub(super) fn rollback(&mut self) {
        match self {
            Connection::Sqlite(session) => session.rollback(),
            Connection::Postgres(session) => session.rollback(),
        }
    }

    /// Blocks this thread until the future is done, and notices meanwhile if the server goes away.
    pub(super) fn wait<F: Future>(&self, future: F) -> F::Output {
        match self {
            Connection::Sqlite(session) => session.wait(future),
            Connection::Postgres(session) => session.wait(future),
        }
    }

    /// Work that can wait until the callers of the last commit have their answers.
    pub(crate) fn tidy(&mut self) {
        match self {
            Connection::Sqlite(session) => session.tidy(),
            Connection::Postgres(_) => {}
        }
    }

    pub(crate) fn close(self) {
        match self {
            Connection::Sqlite(session) => session.close(),
            Connection::Postgres(session) => session.close(),
        }
    }
}
