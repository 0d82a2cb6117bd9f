//! SQLite's errors in our three classes.

use rusqlite::{Connection, ErrorCode, ffi};

use crate::error::{Cause, Constraint, Error};

/// A statement failed on this connection.
pub(super) fn classify(connection: &Connection, error: rusqlite::Error) -> Error {
    let Some(failure) = error.sqlite_error() else {
        return Error::Corrupt(Cause::new(error.to_string(), error));
    };
    match (failure.code, failure.extended_code) {
        (_, ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID) => {
            let text = error.to_string();
            Error::Conflict(Constraint::Index(violated(connection, &text).unwrap_or(text)))
        }
        (_, ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => Error::Conflict(Constraint::ForeignKey),
        (
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::OutOfMemory,
            _,
        ) => Error::Unavailable(Cause::new(error.to_string(), error)),
        _ => Error::Corrupt(Cause::new(error.to_string(), error)),
    }
}

/// Whether SQLite has met a page that is not as it should be.
pub(in crate::db) fn is_damage(error: &Error) -> bool {
    let Error::Corrupt(cause) = error else { return false };
    let code = cause.source().and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// A file could not be opened or set up.
pub(super) fn opening(error: rusqlite::Error) -> Error {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Error::Corrupt(Cause::new(text, error)),
        _ => Error::Unavailable(Cause::new(text, error)),
    }
}

/// The name of the violated unique index. SQLite names the columns instead (`UNIQUE constraint failed: t.a,
/// t.b`), so the index is found by them; primary keys get the names that PostgreSQL gives them.
fn violated(connection: &Connection, text: &str) -> Option<String> {
    let (_, columns) = text.split_once("constraint failed: ")?;
    let table = columns.split_once('.')?.0;
    let prefix = format!("{table}.");
    let columns: Vec<&str> = columns.split(", ").map(|column| column.strip_prefix(&prefix).unwrap_or(column)).collect();
    let found = connection.query_row(
        "select l.name, l.origin from pragma_index_list(?1) l where l.\"unique\" = 1 and ?2 = \
         (select group_concat(i.name, ', ') from (select name from pragma_index_info(l.name) order by seqno) i)",
        [table, &columns.join(", ")],
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
    );
    let (name, origin) = found.ok()?;
    Some(if origin == "pk" { format!("{table}_pkey") } else { name })
}
