//! The errors of the engine. Knows nothing of HTTP.

use std::error::Error as StdError;
use std::time::Duration;

use model::problem::{Problem, Problems};
use store::Constraint;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input cannot be used; every problem is named.
    #[error("{0}")]
    Invalid(Problems),
    /// There is no such thing in this app.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The app was deleted between the check of its credentials and now.
    #[error("the app was deleted")]
    AppGone,
    /// A worker speaks for a job that it no longer holds: another has claimed it, or it was canceled. Nothing was written.
    #[error("the job is no longer held by this worker")]
    LeaseLost,
    /// The request contradicts the stored state.
    #[error("{0}")]
    Conflict(String),
    /// The caller may not do this.
    #[error("{0}")]
    Forbidden(String),
    /// Too many of the same kind in a short time; a request that waits is taken.
    #[error("{text}")]
    TooMany { text: &'static str, retry_after: Duration },
    /// The database cannot be reached right now; trying again later may help.
    #[error("the database is unavailable")]
    Unavailable(#[source] store::Error),
    /// Our fault.
    #[error("internal error")]
    Internal(#[source] Box<dyn StdError + Send + Sync>),
}

impl Error {
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Error::Internal(source.into())
    }

    /// Whether the database is away, which the store itself reports, once.
    pub fn is_of_database(&self) -> bool {
        matches!(self, Error::Unavailable(_))
    }

    /// Refuses the input if there is any problem with it.
    pub fn refuse(problems: Vec<Problem>) -> Result<()> {
        Problems::from_vec(problems).map_or(Ok(()), |problems| Err(Error::Invalid(problems)))
    }

    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Invalid(Problems::one(path, message))
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Unavailable(_) => Error::Unavailable(error),
            store::Error::Conflict(Constraint::AppGone) => Error::AppGone,
            store::Error::Conflict(Constraint::LeaseLost) => Error::LeaseLost,
            store::Error::Conflict(Constraint::ForeignKey | Constraint::Index(_)) | store::Error::Corrupt(_) => {
                Error::Internal(Box::new(error))
            }
        }
    }
}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Error::Invalid(problems)
    }
}
