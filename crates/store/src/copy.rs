//! Copies all of a database into an empty one, on SQLite or PostgreSQL each. Neither may be in use meanwhile.
//!
//! One thread reads, from one consistent state and in the order of primary keys; another writes, in a
//! transaction for every portion. The tables and columns are taken from the target's catalog after it was
//! migrated to the newest version, so that no migration can be forgotten here. The target is marked as
//! unfinished before anything else is done to it and until all rows were counted, and no node starts on it
//! meanwhile: a copy may be killed at any moment.

mod endpoint;
mod error;
mod source;
mod target;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use crate::apps::OPERATOR;
use crate::audit::{self, Request};
use crate::db::Value;
use crate::db::copying::Table;
use crate::url::DatabaseUrl;
use crate::{Cause, migrate};
use endpoint::Endpoint;
pub use error::CopyError;

/// How to treat a target that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupied {
    Refuse,
    /// Everything in it is deleted.
    StartOver,
}

/// How much of a table is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    pub table: String,
    /// Copied so far.
    pub n_rows: u64,
    pub is_done: bool,
}

/// A table whose rows were counted in both databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    pub table: String,
    pub n_rows: u64,
}

/// Rows of one table, as many as one transaction takes.
struct Portion {
    /// Its index in the list of tables.
    table: usize,
    /// All columns of a row after one another.
    cells: Vec<Value>,
    is_last: bool,
}

/// Copies every table, reports each portion, and returns what was copied once the rows were counted on both
/// sides. The authorities of `ca_file` are trusted as by [`crate::Store::open_with`].
pub async fn copy(
    from: &DatabaseUrl,
    to: &DatabaseUrl,
    ca_file: Option<&Path>,
    occupied: Occupied,
    progress: impl FnMut(CopyProgress) + Send + 'static,
) -> Result<Vec<Copied>, CopyError> {
    let (from, to, url, request) = (from.clone(), to.clone(), to.clone(), audit::current_request());
    let ca_file = ca_file.map(Path::to_owned);
    let copying =
        tokio::task::spawn_blocking(move || copy_all((&from, &to), ca_file.as_deref(), occupied, request, progress));
    let interrupted = |error| crate::Error::Unavailable(Cause::new("copying was interrupted", error));
    copying.await.map_err(|error| CopyError::Database { url, error: interrupted(error) })?
}

fn copy_all(
    (from, to): (&DatabaseUrl, &DatabaseUrl),
    ca_file: Option<&Path>,
    occupied: Occupied,
    request: Option<Arc<Request>>,
    progress: impl FnMut(CopyProgress),
) -> Result<Vec<Copied>, CopyError> {
    if endpoint::is_same(from, to) {
        return Err(CopyError::Same);
    }
    let mut source = source::open(from, ca_file)?;
    let (mut target, tables) = target::open(to, ca_file, occupied)?;
    if let Err(unfit) = source::check(&mut source, &tables) {
        // Nothing was copied: the target is as empty as it was.
        target.write(migrate::mark_finished)?;
        return Err(unfit);
    }
    // The row that the first migration inserts; the source's replaces it.
    target.write(|tx| tx.execute("delete from serial", &[]))?;
    let (portions, received) = sync_channel(1);
    let copied = std::thread::scope(|scope| {
        let (source, tables) = (&mut source, &tables);
        // The reader owns the sender: when it ends, nothing more comes.
        let reading = scope.spawn(move || source::read_all(source, tables, &portions));
        let written = write_all(&mut target, tables, &received, progress);
        // A reader that waits to hand over a portion must not wait for a writer that has failed.
        drop(received);
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let copied = written?;
        read.map(|()| copied)
    })?;
    verify(&mut source, &mut target, &tables, &copied)?;
    target.write(|tx| {
        if let Some(request) = request {
            audit::record(tx, OPERATOR, request.again(), []);
        }
        migrate::mark_finished(tx)
    })?;
    source.close();
    target.close();
    Ok(copied)
}

/// Writes portions until the reader has ended.
fn write_all(
    target: &mut Endpoint,
    tables: &[Table],
    received: &Receiver<Portion>,
    mut progress: impl FnMut(CopyProgress),
) -> Result<Vec<Copied>, CopyError> {
    let mut copied: Vec<Copied> = tables.iter().map(|table| Copied { table: table.name.clone(), n_rows: 0 }).collect();
    for Portion { table, cells, is_last } in received {
        if !cells.is_empty() {
            copied[table].n_rows += target.write(|tx| tx.append(&tables[table], &cells))?;
        }
        let Copied { table, n_rows } = copied[table].clone();
        progress(CopyProgress { table, n_rows, is_done: is_last });
    }
    Ok(copied)
}

/// Counts the rows on both sides. A change at the source would also show in the numbers of its apps, where most
/// changes leave a trace: positions in the log, ordinals, terms.
fn verify(source: &mut Endpoint, target: &mut Endpoint, tables: &[Table], copied: &[Copied]) -> Result<(), CopyError> {
    let (from, to) = (source.count(tables)?, target.count(tables)?);
    for ((table, n_from), n_to) in copied.iter().zip(from).zip(to) {
        if table.n_rows != n_from {
            return Err(CopyError::Changed { url: source.url.clone(), table: table.table.clone() });
        }
        if n_from != n_to {
            let (url, table) = (target.url.clone(), table.table.clone());
            return Err(CopyError::Differs { url, table, n_expected: n_from, n_found: n_to });
        }
    }
    for table in tables.iter().filter(|table| ["app", "app_numbers"].contains(&table.name.as_str())) {
        if source.rows(table)? != target.rows(table)? {
            return Err(CopyError::Changed { url: source.url.clone(), table: table.name.clone() });
        }
    }
    Ok(())
}
