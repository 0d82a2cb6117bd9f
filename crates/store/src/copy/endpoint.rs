//! One end of a copy: a connection that nothing else uses, and whose errors name their database.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::CopyError;
use crate::db::copying::Table;
use crate::db::postgres::{self, server::Server};
use crate::db::{Access, Connection, Tx, Value, sqlite};
use crate::error::Result;
use crate::migrate;
use crate::url::DatabaseUrl;

/// How long to wait for other connections to the database, which may be just closing.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(super) struct Endpoint {
    pub(super) url: DatabaseUrl,
    connection: Connection,
}

/// The role of the database in the copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Source,
    Target,
}

impl Endpoint {
    /// Connects, and makes sure that nothing else uses the database.
    pub(super) fn open(url: &DatabaseUrl, ca_file: Option<&Path>, role: Role) -> Result<Self, CopyError> {
        let opened = || match url {
            DatabaseUrl::Sqlite(path) => {
                let database = sqlite::Database::open(path)?;
                let connection = match role {
                    Role::Source => database.reader(),
                    Role::Target => database.writer(),
                };
                connection.map(Connection::Sqlite)
            }
            DatabaseUrl::Postgres(url) => {
                postgres::PostgresConnection::maintainer(Arc::new(Server::for_maintenance(url, ca_file)?))
                    .map(Connection::Postgres)
            }
        };
        let connection = opened().map_err(|error| CopyError::Database { url: url.clone(), error })?;
        let mut end = Self { url: url.clone(), connection };
        if !end.becomes(|tx| tx.lock_for_copy())? {
            return Err(CopyError::Busy(end.url));
        }
        if !end.becomes(|tx| tx.is_served().map(|is_served| !is_served))? {
            return Err(CopyError::Served(end.url));
        }
        Ok(end)
    }

    /// Whether a condition holds, or will soon. A process that has just ended keeps its connections for
    /// moments, and PostgreSQL does not announce when they go.
    fn becomes(&mut self, is_so: impl Fn(&mut Tx<'_>) -> Result<bool>) -> Result<bool, CopyError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let is_so = self.read(&is_so)?;
            if is_so || Instant::now() > deadline {
                return Ok(is_so);
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Runs `body` on one consistent state of the database.
    pub(super) fn read<T>(&mut self, body: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T, CopyError> {
        let done = self.connection.begin(Access::Snapshot).and_then(|mut tx| body(&mut tx));
        done.map_err(|error| CopyError::Database { url: self.url.clone(), error })
    }

    /// Runs `body` in a transaction.
    pub(super) fn write<T>(&mut self, body: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T, CopyError> {
        let done = self.connection.begin(Access::Write(&[])).and_then(|mut tx| {
            let done = body(&mut tx)?;
            tx.commit()?;
            Ok(done)
        });
        self.connection.maintain();
        done.map_err(|error| CopyError::Database { url: self.url.clone(), error })
    }

    /// Brings the tables of a target that is marked as unfinished to the newest version.
    pub(super) fn migrate(&mut self) -> Result<(), CopyError> {
        migrate::run_in_unfinished(&mut self.connection)
            .map_err(|error| CopyError::Database { url: self.url.clone(), error })
    }

    /// How many rows each of the tables has.
    pub(super) fn count(&mut self, tables: &[Table]) -> Result<Vec<u64>, CopyError> {
        self.read(|tx| {
            let count = |table: &Table| {
                let sql = format!("select count(*) from \"{}\"", table.name);
                tx.query_one(&sql, &[], |row| row.get::<i64>(0)).map(i64::unsigned_abs)
            };
            tables.iter().map(count).collect()
        })
    }

    /// All rows of a table that has few.
    pub(super) fn rows(&mut self, table: &Table) -> Result<Vec<Vec<Value>>, CopyError> {
        let sql = format!("select {} from \"{}\" order by {}", table.column_list(), table.name, table.key_list());
        self.read(|tx| tx.query(&sql, &[], |row| (0..table.columns.len()).map(|column| row.get(column)).collect()))
    }

    pub(super) fn close(self) {
        self.connection.close();
    }
}

/// Whether the URLs lead to one database for all that can be seen without connecting.
pub(super) fn is_same(from: &DatabaseUrl, to: &DatabaseUrl) -> bool {
    let (DatabaseUrl::Sqlite(from), DatabaseUrl::Sqlite(to)) = (from, to) else { return from == to };
    let file = |path| std::fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    from == to || file(from).is_some_and(|from| file(to) == Some(from))
}
