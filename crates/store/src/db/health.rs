//! Whether the database works, judged by the last read and the last write. A change is logged here, once, so
//! that no caller has to report that the database is away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::error::Error;

/// The operation that currently fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The database cannot even be read.
    Reading,
    /// It takes no changes, as when its disk is full.
    Writing,
}

/// The operation that a thread of the store has just tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Write,
}

#[derive(Default)]
pub(crate) struct DatabaseHealth {
    /// Whether anything fails, readable without a lock after every successful operation.
    is_failing: AtomicBool,
    failing: Mutex<Failing>,
}

#[derive(Default)]
struct Failing {
    reading: bool,
    writing: bool,
    since: Option<Instant>,
}

impl DatabaseHealth {
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        if !self.is_failing.load(Ordering::Relaxed) {
            return None;
        }
        let failing = self.failing.lock();
        match (failing.reading, failing.writing) {
            (true, _) => Some(Trouble::Reading),
            (false, true) => Some(Trouble::Writing),
            (false, false) => None,
        }
    }

    pub(crate) fn succeeded(&self, operation: Operation) {
        if self.is_failing.load(Ordering::Relaxed) {
            self.note(operation, None);
        }
    }

    /// Only failures of the database itself count, not those of a statement.
    pub(crate) fn failed(&self, operation: Operation, error: &Error) {
        match error {
            Error::Unavailable(_) => self.note(operation, Some(error)),
            Error::Conflict(_) | Error::Corrupt(_) => {}
        }
    }

    fn note(&self, operation: Operation, failure: Option<&Error>) {
        let mut failing = self.failing.lock();
        match operation {
            Operation::Read => failing.reading = failure.is_some(),
            Operation::Write => failing.writing = failure.is_some(),
        }
        let is_failing = failing.reading || failing.writing;
        self.is_failing.store(is_failing, Ordering::Relaxed);
        match (failing.since, failure) {
            (None, Some(error)) => {
                failing.since = Some(Instant::now());
                let error = error as &dyn std::error::Error;
                match operation {
                    Operation::Read => tracing::warn!(error, "the database cannot be read"),
                    Operation::Write => tracing::warn!(error, "the database takes no changes"),
                }
            }
            (Some(since), None) if !is_failing => {
                failing.since = None;
                tracing::info!(after_s = since.elapsed().as_secs(), "the database works again");
            }
            (None | Some(_), None) | (Some(_), Some(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_deed_mends_what_it_broke() {
        let (health, error) = (DatabaseHealth::default(), Error::unavailable("it is away"));
        assert_eq!(health.trouble(), None);
        health.failed(Operation::Write, &error);
        assert_eq!(health.trouble(), Some(Trouble::Writing));
        health.succeeded(Operation::Read);
        assert_eq!(health.trouble(), Some(Trouble::Writing));
        health.failed(Operation::Read, &error);
        assert_eq!(health.trouble(), Some(Trouble::Reading));
        health.succeeded(Operation::Write);
        assert_eq!(health.trouble(), Some(Trouble::Reading));
        health.succeeded(Operation::Read);
        assert_eq!(health.trouble(), None);
    }

    #[test]
    fn statements_that_are_wrong_are_no_illness() {
        let health = DatabaseHealth::default();
        health.failed(Operation::Write, &Error::Conflict(crate::Constraint::AppGone));
        health.failed(Operation::Read, &Error::corrupt("no such table"));
        assert_eq!(health.trouble(), None);
    }
}
