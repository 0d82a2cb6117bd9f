//! What a transaction says in other words to each database.

use std::collections::BTreeSet;

use model::ids::AppId;
use model::time::UtcMillis;

use super::sqlite::{CleanUp, Extent};
use super::{Connection, Tx, Value, postgres};
use crate::error::{Error, Result};
use crate::nodes::Node;
use crate::parts::ServerNumber;

impl Tx<'_> {
    /// Ends a `select` that claims rows, so that two claimers never get, or wait for, the same ones.
    pub fn claim_suffix(&self) -> &'static str {
        match self.connection {
            Connection::Sqlite(_) => "",
            Connection::Postgres(_) => " for update skip locked",
        }
    }

    /// The size of the database on its disk, without write-ahead logs.
    pub fn database_bytes(&mut self) -> Result<i64> {
        let sql = match self.connection {
            Connection::Sqlite(_) => "select page_count * page_size from pragma_page_count, pragma_page_size",
            Connection::Postgres(_) => "select pg_database_size(current_database())",
        };
        self.query_one(sql, &[], |row| row.get(0))
    }

    /// What the clock of the server shows, which is the same for all nodes. SQLite has none.
    pub fn database_time(&mut self) -> Result<Option<UtcMillis>> {
        match self.connection {
            Connection::Sqlite(_) => Ok(None),
            Connection::Postgres(_) => self.query_one(postgres::TIME, &[], |row| row.get(0)).map(Some),
        }
    }

    /// Has SQLite overwrite what this transaction deletes from now on. The rows of PostgreSQL stay in its files until it reuses
    /// their room.
    pub(crate) fn overwrite_deleted(&mut self) -> Result<()> {
        match self.connection {
            Connection::Sqlite(sqlite) => sqlite.overwrite_deleted(),
            Connection::Postgres(_) => Ok(()),
        }
    }

    /// Has the file of SQLite cleaned after this transaction.
    pub(crate) fn request_clean_up(&mut self, extent: Extent) {
        match self.connection {
            Connection::Sqlite(sqlite) => sqlite.request_clean_up(extent),
            Connection::Postgres(_) => {}
        }
    }

    /// How the last clean-up of SQLite's file has ended.
    pub(crate) fn clean_up(&self) -> Option<CleanUp> {
        match &self.connection {
            Connection::Sqlite(sqlite) => sqlite.clean_up(),
            Connection::Postgres(_) => None,
        }
    }

    /// An expression for the run of the database server that answers: another number after a restart, and on another server.
    pub(crate) fn server_run(&self) -> &'static str {
        match self.connection {
            // Its file belongs to this process.
            Connection::Sqlite(_) => "0",
            Connection::Postgres(_) => "cast(extract(epoch from pg_postmaster_start_time()) * 1000000 as bigint)",
        }
    }

    /// The nodes that have the database open, if there can be several.
    pub(crate) fn living_nodes(&mut self) -> Result<Option<BTreeSet<Node>>> {
        match self.connection {
            Connection::Sqlite(_) => Ok(None),
            Connection::Postgres(_) => {
                let class = [Value::from(postgres::NODE_LOCKS)];
                let living = self.query(postgres::LIVING_NODES, &class, |row| row.get(0).map(Node))?;
                Ok(Some(living.into_iter().collect()))
            }
        }
    }

    /// Waits until no other node is in a transaction that has called this.
    pub(crate) fn lock_database(&mut self) -> Result<()> {
        match self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(_) => self.for_each(postgres::LOCK, &[], |_| Ok(())),
        }
    }

    /// Whether apps are spread over several servers, so that one transaction is about one of them.
    pub(crate) fn is_spread(&self) -> bool {
        self.connection.is_spread()
    }

    /// Creates the schema and the types that our SQL needs. Call it with the database locked; repeating it is
    /// harmless.
    pub(crate) fn prepare_database(&mut self) -> Result<()> {
        match self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(_) => postgres::prepare_database(self),
        }
    }

    /// Lets the database clean up its tables early enough, except those for which an administrator has decided otherwise. Call it
    /// with the database locked and all tables made.
    pub(crate) fn tune_tables(&mut self) -> Result<()> {
        match self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(_) => postgres::tune_tables(self),
        }
    }

    /// Whether the server that it needs does not answer.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self.broken, Some(Error::Unavailable(_)))
    }

    /// Whether an error tells of the database, and not of a server behind it.
    pub(super) fn is_database_to_blame(&self) -> bool {
        self.connection.is_to_blame()
    }

    /// The apps, that of the operator among them, with the number of the server that each is on.
    pub(crate) fn places(&mut self) -> Result<Vec<(AppId, ServerNumber)>> {
        self.query(postgres::PLACES, &[], |row| Ok((row.next()?, row.next()?)))
    }

    /// Makes sure that tables can be spread over several servers.
    pub(crate) fn prepare_spreading(&mut self) -> Result<()> {
        match self.connection {
            Connection::Sqlite(_) => Err(Error::corrupt("SQLite is one file")),
            Connection::Postgres(_) => postgres::prepare_citus(self),
        }
    }

    /// Whether tables are spread over several servers.
    pub(crate) fn has_spread_tables(&mut self) -> Result<bool> {
        match self.connection {
            Connection::Sqlite(_) => Ok(false),
            Connection::Postgres(_) => postgres::is_spread(self),
        }
    }

    /// Spreads the next table that is not. False when all are.
    pub(crate) fn spread_next_table(&mut self) -> Result<bool> {
        match self.connection {
            Connection::Sqlite(_) => Ok(false),
            Connection::Postgres(_) => postgres::spread_next(self),
        }
    }
}
