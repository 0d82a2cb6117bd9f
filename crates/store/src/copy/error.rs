//! Why a copy cannot be made. Every text is for the operator who asked for it.

use crate::url::DatabaseUrl;

#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("Both URLs lead to the same database.")]
    Same,
    #[error("There is no database at {0}.")]
    Missing(DatabaseUrl),
    #[error("{0} holds no installation of this program: it lacks our tables.")]
    NotOurs(DatabaseUrl),
    #[error(
        "{0} was last used by an older version. Start this version on it once, or run `aerogram migrate`, and copy then."
    )]
    Outdated(DatabaseUrl),
    #[error(
        "a copy into {0} was begun and not finished. It cannot be copied; to copy into it again, add --start-over, \
         which deletes everything that is in it."
    )]
    Unfinished(DatabaseUrl),
    #[error("{0} is in use by a node of the service. Stop all nodes first.")]
    Served(DatabaseUrl),
    #[error("{0} is in use by another copy, or both URLs lead to the same database.")]
    Busy(DatabaseUrl),
    #[error(
        "{url} is not empty: it has {}. Copy into an empty database, or add --start-over, which deletes everything that is in it.",
        contents(.apps, .tables)
    )]
    NotEmpty {
        url: DatabaseUrl,
        /// The names of its apps.
        apps: Vec<String>,
        /// Tables that are not empty, with the numbers of their rows.
        tables: Vec<(String, u64)>,
    },
    #[error(
        "A text in the table {table} holds the character NUL, which not all databases can store, in the row with {key}. Change it, \
         and copy again with --start-over."
    )]
    Nul { table: String, key: String },
    #[error(
        "{url} was changed while it was copied (in the table {table}). Stop all nodes, and copy again with --start-over."
    )]
    Changed { url: DatabaseUrl, table: String },
    #[error("{url} has {n_found} rows in the table {table} instead of {n_expected}. Copy again with --start-over.")]
    Differs { url: DatabaseUrl, table: String, n_expected: u64, n_found: u64 },
    /// The database itself has failed.
    #[error("{url}: {error}")]
    Database { url: DatabaseUrl, error: crate::Error },
}

/// At most this many of something are named.
const NAMED: usize = 5;

fn contents(apps: &[String], tables: &[(String, u64)]) -> String {
    let rows: Vec<String> = tables.iter().map(|(name, n_rows)| format!("{name} ({n_rows})")).collect();
    let tables = format!("rows in {}", some(&rows));
    match apps {
        [] => tables,
        [app] => format!("the app {app:?}, {tables}"),
        apps => format!("{} apps ({}), {tables}", apps.len(), some(apps)),
    }
}

fn some(names: &[String]) -> String {
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}
