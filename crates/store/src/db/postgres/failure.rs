//! PostgreSQL's errors in our three classes.

use std::error::Error as _;

use tokio_postgres::error::SqlState;
use trust::Complaint;

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
    let single = [
        // The server became a standby, or an administrator has closed it for changes.
        SqlState::READ_ONLY_SQL_TRANSACTION,
        // We were cut off in mid-transaction.
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        // Somebody holds a lock for longer than we wait for one.
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    single.contains(state) || PASSING.iter().any(|class| state.code().starts_with(class))
}

/// Why there is no connection, and what to do about it where that is known.
pub(super) fn connecting(error: &tokio_postgres::Error) -> String {
    let text = text(error);
    match error.code() {
        // The limit of the server, of the role or of the database.
        Some(state) if *state == SqlState::TOO_MANY_CONNECTIONS => format!(
            "it has no connection left for this node ({text}); raise max_connections there (or the limit of the role or the \
             database), or lower database_connections of the nodes"
        ),
        Some(_) => text,
        None => match trust::complaint(error) {
            Some(complaint) => format!("its certificate is not trusted: {complaint}; {}", remedy(&complaint)),
            None => text,
        },
    }
}

/// What a person can do about a certificate that is not trusted.
fn remedy(complaint: &Complaint) -> &'static str {
    match complaint {
        Complaint::UnknownIssuer | Complaint::OtherCertificate => {
            "name the file of its authority with sslrootcert in the database URL, or without that with AEROGRAM_CA_FILE"
        }
        Complaint::Expired | Complaint::Other(_) => "it has to be renewed",
        Complaint::NotValidYet => "is that clock right?",
        Complaint::OtherName(_) => "name a host that the certificate is for in the database URL",
    }
}

/// Whether the server of the connection takes no changes. Another connection may lead to one that does.
pub(super) fn is_of_standby(error: &Error) -> bool {
    has_state(error, &[SqlState::READ_ONLY_SQL_TRANSACTION])
}

/// Whether a statement has taken too long. Running it again would take as long.
pub(in crate::db) fn is_timeout(error: &Error) -> bool {
    has_state(error, &[SqlState::QUERY_CANCELED, SqlState::LOCK_NOT_AVAILABLE])
}

/// Whether a server has answered, and what it says is the error.
pub(crate) fn is_answer(error: &Error) -> bool {
    driver_error(error).is_some_and(|error| error.code().is_some())
}

/// Whether the other side does not speak the protocol as a server of PostgreSQL does.
pub(super) fn is_of_protocol(error: &Error) -> bool {
    has_state(error, &[SqlState::PROTOCOL_VIOLATION])
}

fn has_state(error: &Error, states: &[SqlState]) -> bool {
    driver_error(error).and_then(tokio_postgres::Error::code).is_some_and(|state| states.contains(state))
}

fn driver_error(error: &Error) -> Option<&tokio_postgres::Error> {
    match error {
        Error::Unavailable(cause) | Error::Corrupt(cause) => cause.source(),
        Error::Conflict(_) => None,
    }
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
        for code in ["08006", "25006", "25P03", "40001", "53100", "55P03", "57014", "57P01", "58030"] {
            assert!(is_passing(&SqlState::from_code(code)), "{code}");
        }
        for code in ["22001", "25P02", "42601", "23505"] {
            assert!(!is_passing(&SqlState::from_code(code)), "{code}");
        }
    }
}
