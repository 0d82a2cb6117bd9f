//! Looking into a database without changing it, whether it is in use or not: could a node of this program
//! start on it?

use std::path::Path;
use std::sync::Arc;

use crate::db::postgres::{PostgresConnection, failure, server::Server};
pub use crate::db::server_facts::{ServerFacts, Standby, TableRows};
use crate::db::{Access, Connection, sqlite};
use crate::error::{Cause, Error, Result};
use crate::migrate::{self, History};
use crate::{DatabaseUrl, Pages, Tx};

/// A database on which a node of this program can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Examined<T> {
    /// Nothing is in it yet.
    Empty,
    /// Of a version before this one, to whose tables the next start brings it.
    Older,
    /// Of this version, with what was looked for in it.
    Current(T),
}

/// Looks into a database, and for something in it if it is of this version. Fails for a file that is no database,
/// or a database that only a newer or another program can use. The authorities of `ca_file` are trusted as by
/// [`crate::Store::open_with`].
pub async fn examine<T: Send + 'static>(
    url: &DatabaseUrl,
    ca_file: Option<&Path>,
    look: impl FnOnce(&mut Tx<'_>) -> Result<T> + Send + 'static,
) -> Result<(Examined<T>, Option<ServerFacts>)> {
    let (url, ca_file) = (url.clone(), ca_file.map(Path::to_owned));
    let examined = tokio::task::spawn_blocking(move || {
        let mut connection = match &url {
            DatabaseUrl::Sqlite(path) => Connection::Sqlite(sqlite::open_read_only(path)?),
            DatabaseUrl::Postgres(url) => {
                let server = Arc::new(Server::for_maintenance(url, ca_file.as_deref())?);
                Connection::Postgres(PostgresConnection::maintainer(server)?)
            }
        };
        let found = look_into(&mut connection, look);
        connection.close();
        found
    });
    examined.await.map_err(|error| Error::Unavailable(Cause::new("looking was interrupted", error)))?
}

/// Whether the server of the database is there and refuses us, as it does with a wrong password.
pub fn is_refusal(error: &Error) -> bool {
    failure::is_answer(error)
}

/// Reads every page of a database file, whether it is in use or not.
pub async fn check_pages(database: &Path) -> Result<Pages> {
    let database = database.to_owned();
    let checked = tokio::task::spawn_blocking(move || sqlite::check_pages(&database));
    checked.await.map_err(|error| Error::Unavailable(Cause::new("looking was interrupted", error)))?
}

fn look_into<T>(
    connection: &mut Connection,
    look: impl FnOnce(&mut Tx<'_>) -> Result<T>,
) -> Result<(Examined<T>, Option<ServerFacts>)> {
    let mut tx = connection.begin(Access::Snapshot)?;
    let facts = tx.server_facts()?;
    let tables = tx.tables()?;
    if tables.is_empty() {
        return Ok((Examined::Empty, facts));
    }
    if !tables.iter().any(|table| table.name == migrate::TABLE) {
        return Err(Error::corrupt("it is the database of another program"));
    }
    let found = match migrate::history(&mut tx)? {
        History::NEWEST => Examined::Current(look(&mut tx)?),
        History::Steps(_) => Examined::Older,
        History::Unfinished => return Err(migrate::unfinished_copy()),
    };
    Ok((found, facts))
}
