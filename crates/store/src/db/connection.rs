//! A connection of either engine, as the threads that own one see it.

use model::ids::AppId;

use super::{Tx, postgres, sqlite};
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
        let missing = match self {
            Connection::Sqlite(session) => session.missing(),
            Connection::Postgres(session) => session.missing(),
        };
        missing.contains(&app)
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        match self {
            Connection::Sqlite(session) => session.commit(),
            Connection::Postgres(session) => session.commit(),
        }
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
