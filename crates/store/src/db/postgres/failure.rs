//! PostgreSQL's errors in our three classes.

use std::error::Error as _;

use tokio_postgres::error::SqlState;

use crate::error::{Cause, Constraint, Error};

/// Classes of SQLSTATE that are transient: connection, transaction rollback, resources, operator
/// intervention, system.
const PASSING: [&str; 5] = ["08", "40", "53", "57", "58"];

/// A statement failed.
pub(super) fn classify(error: tokio_postgres::Error) -> Error {
    let cause = |error: tokio_postgres::Error| Cause::new(text(&error), error);
    let Some(state) = error.code() else {
        let lost = error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>());
        return if lost { Error::Unavailable(cause(error)) } else { Error::Corrupt(cause(error)) };
    };
    if *state == SqlState::UNIQUE_VIOLATION {
        let name = error.as_db_error().and_then(|db| db.constraint()).unwrap_or("unique");
        Error::Conflict(Constraint::Index(name.to_owned()))
    } else if *state == SqlState::FOREIGN_KEY_VIOLATION {
        Error::Conflict(Constraint::ForeignKey)
    } else if is_passing(state) {
        Error::Unavailable(cause(error))
    } else {
        Error::Corrupt(cause(error))
    }
}

fn is_passing(state: &SqlState) -> bool {
    // The server became a standby, or an administrator has closed it for changes; or we were cut off in
    // mid-transaction.
    let of_transactions = [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT];
    of_transactions.contains(state) || PASSING.iter().any(|class| state.code().starts_with(class))
}

/// There is no connection, for any reason.
pub(super) fn connecting(error: tokio_postgres::Error) -> Error {
    Error::Unavailable(Cause::new(format!("PostgreSQL cannot be reached: {}", text(&error)), error))
}

/// The error in one line. The driver keeps the interesting half in the source.
pub(super) fn text(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(db), _) => db.message().to_owned(),
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_by_itself_is_no_fault_of_ours() {
        for code in ["08006", "25006", "25P03", "40001", "53100", "57P01", "58030"] {
            assert!(is_passing(&SqlState::from_code(code)), "{code}");
        }
        for code in ["22001", "25P02", "42601", "23505"] {
            assert!(!is_passing(&SqlState::from_code(code)), "{code}");
        }
    }
}
