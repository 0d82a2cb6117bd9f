//! What a transaction says in other words to each database.

use std::collections::BTreeSet;

use super::{Connection, Tx, Value, postgres};
use crate::error::Result;
use crate::examine::ServerFacts;
use crate::nodes::Node;

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

    /// What an operator wants to know of a server before a node starts; `None` without a server.
    pub(crate) fn server_facts(&mut self) -> Result<Option<ServerFacts>> {
        match self.connection {
            Connection::Sqlite(_) => Ok(None),
            Connection::Postgres(_) => self.query_one(postgres::SERVER_FACTS, &[], |row| {
                Ok(Some(ServerFacts {
                    version: row.next()?,
                    n_connections: row.next()?,
                    most_connections: row.next()?,
                }))
            }),
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
}
