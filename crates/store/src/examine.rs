//! Looking into an SQLite file without changing it, whether it is in use or not: could a node of this program
//! start on it?

use std::path::Path;

use crate::Tx;
use crate::db::{Access, Connection, sqlite};
use crate::error::{Cause, Error, Result};
use crate::migrate::{self, History};

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

/// Looks into a file, and for something in it if it is of this version. Fails for a file that is no database,
/// or one that only a newer or another program can use.
pub async fn examine<T: Send + 'static>(
    path: &Path,
    look: impl FnOnce(&mut Tx<'_>) -> Result<T> + Send + 'static,
) -> Result<Examined<T>> {
    let path = path.to_owned();
    let examined = tokio::task::spawn_blocking(move || {
        let mut connection = Connection::Sqlite(sqlite::open_read_only(&path)?);
        let found = look_into(&mut connection, look);
        connection.close();
        found
    });
    examined.await.map_err(|error| Error::Unavailable(Cause::new("looking was interrupted", error)))?
}

fn look_into<T>(connection: &mut Connection, look: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<Examined<T>> {
    let mut tx = connection.begin(Access::Snapshot)?;
    let tables = tx.tables()?;
    if tables.is_empty() {
        return Ok(Examined::Empty);
    }
    if !tables.iter().any(|table| table.name == migrate::TABLE) {
        return Err(Error::corrupt("it is the database of another program"));
    }
    match migrate::history(&mut tx)? {
        History::NEWEST => Ok(Examined::Current(look(&mut tx)?)),
        History::Steps(_) => Ok(Examined::Older),
        History::Unfinished => Err(migrate::unfinished_copy()),
    }
}
