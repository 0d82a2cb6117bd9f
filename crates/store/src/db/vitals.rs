//! Whether the database works, judged by the last read and the last write. A change is logged here, once, so that no caller has
//! to report that the database is away.

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
pub(crate) enum Deed {
    Read,
    Write,
}

#[derive(Default)]
pub(crate) struct Vitals {
    /// Whether anything fails, readable without a lock after every successful operation.
    is_ill: AtomicBool,
    illness: Mutex<Illness>,
}

#[derive(Default)]
struct Illness {
    reading_fails: bool,
    writing_fails: bool,
    since: Option<Instant>,
}

impl Vitals {
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        if !self.is_ill.load(Ordering::Relaxed) {
            return None;
        }
        let illness = self.illness.lock();
        match (illness.reading_fails, illness.writing_fails) {
            (true, _) => Some(Trouble::Reading),
            (false, true) => Some(Trouble::Writing),
            (false, false) => None,
        }
    }

    pub(crate) fn worked(&self, deed: Deed) {
        if self.is_ill.load(Ordering::Relaxed) {
            self.note(deed, None);
        }
    }

    /// Only failures of the database itself count, not those of a statement.
    pub(crate) fn failed(&self, deed: Deed, error: &Error) {
        match error {
            Error::Unavailable(_) => self.note(deed, Some(error)),
            Error::Conflict(_) | Error::Corrupt(_) => {}
        }
    }

    fn note(&self, deed: Deed, failure: Option<&Error>) {
        let mut illness = self.illness.lock();
        match deed {
            Deed::Read => illness.reading_fails = failure.is_some(),
            Deed::Write => illness.writing_fails = failure.is_some(),
        }
        let is_ill = illness.reading_fails || illness.writing_fails;
        self.is_ill.store(is_ill, Ordering::Relaxed);
        match (illness.since, failure) {
            (None, Some(error)) => {
                illness.since = Some(Instant::now());
                let error = error as &dyn std::error::Error;
                match deed {
                    Deed::Read => tracing::warn!(error, "the database cannot be read"),
                    Deed::Write => tracing::warn!(error, "the database takes no changes"),
                }
            }
            (Some(since), None) if !is_ill => {
                illness.since = None;
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
        let (vitals, error) = (Vitals::default(), Error::unavailable("it is away"));
        assert_eq!(vitals.trouble(), None);
        vitals.failed(Deed::Write, &error);
        assert_eq!(vitals.trouble(), Some(Trouble::Writing));
        vitals.worked(Deed::Read);
        assert_eq!(vitals.trouble(), Some(Trouble::Writing));
        vitals.failed(Deed::Read, &error);
        assert_eq!(vitals.trouble(), Some(Trouble::Reading));
        vitals.worked(Deed::Write);
        assert_eq!(vitals.trouble(), Some(Trouble::Reading));
        vitals.worked(Deed::Read);
        assert_eq!(vitals.trouble(), None);
    }

    #[test]
    fn statements_that_are_wrong_are_no_illness() {
        let vitals = Vitals::default();
        vitals.failed(Deed::Write, &Error::Conflict(crate::Constraint::AppGone));
        vitals.failed(Deed::Read, &Error::corrupt("no such table"));
        assert_eq!(vitals.trouble(), None);
    }
}
