//! Whether a connection has a session of the server to itself. A pooler such as PgBouncer with `pool_mode=transaction` gives every
//! transaction of a connection to whichever session is free: settings, prepared statements, LISTEN and the lock of the node then
//! belong to somebody else in the next moment.

use tokio_postgres::SimpleQueryMessage;

use super::{PostgresConnection, failure};
use crate::error::{Error, Result};

const SESSION: &str = "select pg_catalog.pg_backend_pid()";
/// A pooler that is busy with other clients may return a session by chance.
const LOOKS: usize = 3;

/// The sessions that two connections were given: the first, then the second within a transaction, then the first again while that
/// transaction is open.
#[derive(Clone, Copy, Debug)]
struct Seen {
    first: i64,
    second: i64,
    first_again: i64,
}

impl Seen {
    fn is_shared(self) -> bool {
        let Self { first, second, first_again } = self;
        first == second || first_again == second || first != first_again
    }
}

/// Fails if two connections do not have a session each.
pub(crate) fn refuse_shared_sessions(first: &mut PostgresConnection, second: &mut PostgresConnection) -> Result<()> {
    for _ in 0..LOOKS {
        let before = first.session()?;
        let within = second.transaction_session()?;
        // A pooler with a single session would let the first connection wait for the second.
        let again = if within == before { before } else { first.session()? };
        second.control("rollback")?;
        if (Seen { first: before, second: within, first_again: again }).is_shared() {
            return Err(shared());
        }
    }
    Ok(())
}

fn shared() -> Error {
    Error::corrupt(
        "its connections share sessions of PostgreSQL transaction by transaction, as PgBouncer does with \
         pool_mode=transaction; the service needs a session for each of its connections: set the database URL to the address \
         of the server itself, or set pool_mode=session for this database",
    )
}

impl PostgresConnection {
    fn session(&mut self) -> Result<i64> {
        self.ask_number(SESSION)
    }

    /// Leaves the transaction open.
    fn transaction_session(&mut self) -> Result<i64> {
        // With statement pooling there are no transactions.
        self.control("begin").map_err(|error| if failure::is_of_protocol(&error) { shared() } else { error })?;
        self.session()
    }

    fn control(&mut self, sql: &str) -> Result<()> {
        self.connect()?;
        let (runtime, link, _) = self.parts()?;
        runtime.block_on(link.client.batch_execute(sql)).map_err(failure::classify)
    }

    /// Without a prepared statement, which a pooler may not know.
    fn ask_number(&mut self, sql: &str) -> Result<i64> {
        self.connect()?;
        let (runtime, link, _) = self.parts()?;
        let answer = runtime.block_on(link.client.simple_query(sql)).map_err(failure::classify)?;
        let number = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        number.ok_or_else(|| Error::corrupt(format!("no number: {sql}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_change_hands_are_seen() {
        let seen = |first, second, first_again| Seen { first, second, first_again }.is_shared();
        assert!(!seen(1, 2, 1), "a session each");
        assert!(seen(1, 1, 1), "one session for both");
        assert!(seen(1, 2, 3), "a pool that hands out its sessions in turns");
        assert!(seen(1, 2, 2));
    }
}
