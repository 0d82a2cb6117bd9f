//! The target of a copy: a database with our tables and no rows in them.

use std::path::Path;

use super::endpoint::{Endpoint, Role};
use super::{CopyError, Occupied};
use crate::db::Tx;
use crate::db::copying::Table;
use crate::error::{Cause, Error, Result};
use crate::migrate::{self, History};
use crate::positions;
use crate::url::DatabaseUrl;

/// The only table beside the history that has rows in an unused database.
const SERIAL: &str = "serial";

/// Opens the database, empties it if that is wanted, and returns the tables to copy into. The first transaction that changes
/// anything marks it as unfinished, so that no node starts on it, whenever the copy is killed.
pub(super) fn open(
    url: &DatabaseUrl,
    ca_file: Option<&Path>,
    occupied: Occupied,
) -> Result<(Endpoint, Vec<Table>), CopyError> {
    let mut target = Endpoint::open(url, ca_file, Role::Target)?;
    match occupied {
        Occupied::StartOver => target.write(|tx| {
            drop_tables(tx)?;
            migrate::mark_unfinished(tx)
        })?,
        Occupied::Refuse => {
            if target.read(is_unfinished)? {
                return Err(CopyError::Unfinished(target.url));
            }
            // Checked before it is marked and migrated, so that a refused database stays as it is.
            refuse_occupied(&mut target)?;
            target.write(migrate::mark_unfinished)?;
        }
    }
    forget_positions(url)?;
    target.migrate()?;
    let tables = refuse_occupied(&mut target)?;
    Ok((target, tables))
}

/// What was noted of the logs of a database that lay there before is not about the copy.
fn forget_positions(url: &DatabaseUrl) -> Result<(), CopyError> {
    let DatabaseUrl::Sqlite(path) = url else { return Ok(()) };
    let failed = |error| Error::Unavailable(Cause::new("what was noted of its logs cannot be removed", error));
    positions::forget(path).map_err(|error| CopyError::Database { url: url.clone(), error: failed(error) })
}

/// Returns the tables of a database that has nothing in them.
fn refuse_occupied(target: &mut Endpoint) -> Result<Vec<Table>, CopyError> {
    let mut tables = target.read(|tx| tx.tables())?;
    tables.retain(|table| table.name != migrate::TABLE);
    let counts = target.count(&tables)?;
    let occupied = tables.iter().map(|table| &table.name).zip(counts);
    let occupied = occupied.filter(|(name, n_rows)| *n_rows > 0 && *name != SERIAL);
    let occupied: Vec<(String, u64)> = occupied.map(|(name, n_rows)| (name.clone(), n_rows)).collect();
    if !occupied.is_empty() {
        let apps = target.read(|tx| tx.query("select name from app order by id", &[], |row| row.get(0)))?;
        return Err(CopyError::NotEmpty { url: target.url.clone(), apps, tables: occupied });
    }
    Ok(tables)
}

fn is_unfinished(tx: &mut Tx<'_>) -> Result<bool> {
    let has_history = tx.tables()?.iter().any(|table| table.name == migrate::TABLE);
    Ok(has_history && migrate::history(tx)? == History::Unfinished)
}

/// Dropping takes a moment, however many rows there are, and the migrations make the tables again. A database
/// that a newer program has made is left alone.
fn drop_tables(tx: &mut Tx<'_>) -> Result<()> {
    let tables = tx.tables()?;
    if tables.iter().any(|table| table.name == migrate::TABLE) {
        migrate::history(tx)?;
        for table in tables {
            tx.execute(&format!("drop table \"{}\"", table.name), &[])?;
        }
    }
    Ok(())
}
