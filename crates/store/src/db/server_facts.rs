//! What a PostgreSQL server tells of itself: what an operator wants to know before a node starts, and while nodes run.

use std::collections::HashMap;
use std::time::Duration;

use model::time::Clock;

use super::{Connection, Row, Tx, postgres};
use crate::error::Result;

/// A server of PostgreSQL as a node would find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFacts {
    pub version: String,
    /// Connections that are in use.
    pub n_connections: i64,
    /// Connections that it has for ordinary roles.
    pub most_connections: i64,
    /// How long an answer takes that needs no work.
    pub round_trip: Duration,
    /// By their names, as the server writes them.
    pub settings: HashMap<String, String>,
    /// Whether our role can make tables, which an upgrade does.
    pub may_make_tables: bool,
    /// Tables that our role cannot read or change.
    pub n_forbidden_tables: i64,
    /// Those that take most room, the biggest first.
    pub biggest_tables: Vec<TableRows>,
    pub standbys: Vec<Standby>,
}

/// The rows of a table, as the server estimates them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRows {
    pub table: String,
    pub n_live: i64,
    /// Deleted or replaced, and not cleaned up yet.
    pub n_dead: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standby {
    pub name: String,
    pub lag_millis: i64,
}

impl Tx<'_> {
    /// `None` without a server.
    pub(crate) fn server_facts(&mut self) -> Result<Option<ServerFacts>> {
        match self.connection {
            Connection::Sqlite(_) => return Ok(None),
            Connection::Postgres(_) => {}
        }
        let round_trip = self.round_trip()?;
        let read = |row: &Row<'_>| Ok((row.next()?, row.next()?, row.next()?));
        let (version, n_connections, most_connections) = self.query_one(postgres::SERVER_FACTS, &[], read)?;
        let (may_make_tables, n_forbidden_tables) =
            self.query_one(postgres::PRIVILEGES, &[], |row| Ok((row.next()?, row.next()?)))?;
        let settings = self.query(postgres::SETTINGS, &[], |row| Ok((row.next()?, row.next()?)))?;
        let biggest_tables = self.query(postgres::BIGGEST_TABLES, &[], |row| {
            Ok(TableRows { table: row.next()?, n_live: row.next()?, n_dead: row.next()? })
        })?;
        let standbys =
            self.query(postgres::STANDBYS, &[], |row| Ok(Standby { name: row.next()?, lag_millis: row.next()? }))?;
        Ok(Some(ServerFacts {
            version,
            n_connections,
            most_connections,
            round_trip,
            settings: settings.into_iter().collect(),
            may_make_tables,
            n_forbidden_tables,
            biggest_tables,
            standbys,
        }))
    }

    /// The quickest of some, since a slow one may have other reasons.
    fn round_trip(&mut self) -> Result<Duration> {
        let mut quickest = Duration::MAX;
        for _ in 0..5 {
            let begin = Clock::System.moment();
            self.query_one(postgres::NOTHING, &[], |row| row.get::<i64>(0))?;
            quickest = quickest.min(Clock::System.moment().since(begin));
        }
        Ok(quickest)
    }
}
