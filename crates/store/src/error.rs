//! The errors of the store. Three classes, because callers can do three different things: report a conflict
//! to the client, try again later, or report a defect. A missing row is not an error: lookups return
//! `Option`.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug)]
pub enum Error {
    /// The change contradicts what is stored.
    Conflict(Constraint),
    /// The database could not be reached or could not do the work now. After a write this may also mean that
    /// the outcome of the commit is unknown.
    Unavailable(Cause),
    /// The database, or a statement of ours, is not what this program expects.
    Corrupt(Cause),
}

/// What keeps a change from being made, the same on both databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// A command has outlived its app.
    AppGone,
    /// A worker changes a job that it does not hold: the job was released, settled or canceled, or another
    /// worker has claimed it.
    LeaseLost,
    /// A row refers to one that does not exist.
    ForeignKey,
    /// The unique index of this name would have two rows for a key; `<table>_pkey` for a primary key.
    Index(String),
}

/// A sentence, and the driver's error behind it.
#[derive(Clone)]
pub struct Cause {
    message: String,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    pub fn unavailable(message: impl Into<Cause>) -> Self {
        Error::Unavailable(message.into())
    }

    pub fn corrupt(message: impl Into<Cause>) -> Self {
        Error::Corrupt(message.into())
    }
}

impl Cause {
    pub(crate) fn new(message: impl Into<String>, source: impl StdError + Send + Sync + 'static) -> Self {
        Self { message: message.into(), source: Some(Arc::new(source)) }
    }

    /// The driver's error, if it is of this kind.
    pub(crate) fn source<E: StdError + 'static>(&self) -> Option<&E> {
        self.source.as_ref()?.downcast_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Conflict(Constraint::AppGone) => Constraint::AppGone.fmt(f),
            Error::Conflict(constraint) => write!(f, "the change conflicts with what is stored ({constraint})"),
            Error::Unavailable(cause) => {
                write!(f, "the database is unavailable: {}", cause.message)
            }
            Error::Corrupt(cause) => {
                write!(f, "the database is not as expected: {}", cause.message)
            }
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constraint::AppGone => f.write_str("the app was deleted"),
            Constraint::LeaseLost => f.write_str("the lease was lost"),
            Constraint::ForeignKey => f.write_str("foreign key"),
            Constraint::Index(name) => f.write_str(name),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Conflict(_) => None,
            Error::Unavailable(cause) | Error::Corrupt(cause) => {
                cause.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
            }
        }
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl From<String> for Cause {
    fn from(message: String) -> Self {
        Self { message, source: None }
    }
}

impl From<&str> for Cause {
    fn from(message: &str) -> Self {
        Self::from(message.to_owned())
    }
}
