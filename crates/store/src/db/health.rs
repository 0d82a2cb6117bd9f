//! Whether the database works, judged by the last read and the last write, by whether its files are where they were opened, and by
//! the last check of its pages. A change is logged here, once, so that no caller has to report it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use super::sqlite::{self, OpenFiles, Pages};
use crate::error::Error;

/// What is wrong with the database. If several things are, the first of these is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Its file was deleted, moved, replaced or cut off while it is open. Changes are refused, since they would be lost.
    Misplaced,
    /// The database cannot even be read.
    Reading,
    /// It takes no changes, as when its disk is full.
    Writing,
    /// Pages of its file are damaged. It is read and written as far as that goes.
    Damaged,
}

/// The operation that a thread of the store has just tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Write,
}

#[derive(Default)]
pub(crate) struct DatabaseHealth {
    /// Of a database that is a file.
    files: Option<OpenFiles>,
    /// Whether anything fails, readable without a lock after every successful operation.
    is_failing: AtomicBool,
    failing: Mutex<Failing>,
}

#[derive(Default)]
struct Failing {
    misplaced: bool,
    reading: bool,
    writing: bool,
    /// By the last check of the pages.
    damaged: bool,
    /// By a statement since the start. A check that finds nothing does not end that: it does not compare indexes with their tables,
    /// nor read what is in the memory of other connections.
    met_damage: bool,
    /// Since when it can no longer be read or written.
    since: Option<Instant>,
}

impl Failing {
    fn trouble(&self) -> Option<Trouble> {
        let Self { misplaced, reading, writing, damaged, met_damage, since: _ } = *self;
        let all = [
            (misplaced, Trouble::Misplaced),
            (reading, Trouble::Reading),
            (writing, Trouble::Writing),
            (damaged || met_damage, Trouble::Damaged),
        ];
        all.into_iter().find_map(|(is_so, trouble)| is_so.then_some(trouble))
    }
}

impl DatabaseHealth {
    pub(crate) fn new(files: Option<OpenFiles>) -> Self {
        Self { files, ..Self::default() }
    }

    pub(crate) fn trouble(&self) -> Option<Trouble> {
        if !self.is_failing.load(Ordering::Relaxed) {
            return None;
        }
        self.failing.lock().trouble()
    }

    /// Whether the pages were damaged when they were last checked, or a statement has met a damaged one.
    pub(crate) fn is_damaged(&self) -> bool {
        if !self.is_failing.load(Ordering::Relaxed) {
            return false;
        }
        let failing = self.failing.lock();
        failing.damaged || failing.met_damage
    }

    /// The error that stands for every change while a file of the database is not where it was opened.
    pub(crate) fn misplaced(&self) -> Option<Error> {
        let found = self.files.as_ref()?.misplaced();
        // While nothing fails and nothing is found there is nothing to change.
        if found.is_none() && !self.is_failing.load(Ordering::Relaxed) {
            return None;
        }
        let mut failing = self.failing.lock();
        let was_misplaced = std::mem::replace(&mut failing.misplaced, found.is_some());
        self.is_failing.store(failing.trouble().is_some(), Ordering::Relaxed);
        match (was_misplaced, &found) {
            (false, Some(error)) => {
                let error = error as &dyn std::error::Error;
                tracing::error!(error, "NO CHANGE IS STORED ANY MORE: the database file is gone or another");
            }
            (true, None) => tracing::warn!("the database file is back under its name; changes are stored again"),
            (true, Some(_)) | (false, None) => {}
        }
        found
    }

    /// Remembers what a check of the pages has found.
    pub(crate) fn note_pages(&self, pages: &Pages) {
        let problems = match pages {
            Pages::Whole => None,
            Pages::Damaged(problems) => Some(problems),
            Pages::Unknown => return,
        };
        let mut failing = self.failing.lock();
        failing.damaged = problems.is_some();
        self.is_failing.store(failing.trouble().is_some(), Ordering::Relaxed);
        if let Some(problems) = problems {
            tell_damage(&problems.join("; "));
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
            Error::Corrupt(_) => self.note_damage(error),
            Error::Conflict(_) => {}
        }
    }

    /// Remembers an error by which SQLite says that it has met a damaged page; others are ignored.
    pub(crate) fn note_damage(&self, error: &Error) {
        if !sqlite::is_damage(error) {
            return;
        }
        let mut failing = self.failing.lock();
        let is_known = failing.damaged || failing.met_damage;
        failing.met_damage = true;
        self.is_failing.store(true, Ordering::Relaxed);
        if !is_known {
            tell_damage(&error.to_string());
        }
    }

    fn note(&self, operation: Operation, failure: Option<&Error>) {
        let mut failing = self.failing.lock();
        match operation {
            Operation::Read => failing.reading = failure.is_some(),
            Operation::Write => failing.writing = failure.is_some(),
        }
        self.is_failing.store(failing.trouble().is_some(), Ordering::Relaxed);
        let is_failing = failing.reading || failing.writing;
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

fn tell_damage(problems: &str) {
    tracing::error!(problems, "THE DATABASE FILE IS DAMAGED: stop the service and restore a backup");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Cause;

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
    fn damage_is_told_after_what_stops_the_service_and_until_a_check_finds_none() {
        let (health, error) = (DatabaseHealth::default(), Error::unavailable("it is away"));
        health.note_pages(&Pages::Damaged(vec!["a page".to_owned()]));
        assert_eq!(health.trouble(), Some(Trouble::Damaged));
        health.failed(Operation::Write, &error);
        assert_eq!(health.trouble(), Some(Trouble::Writing));
        health.succeeded(Operation::Write);
        health.note_pages(&Pages::Unknown);
        assert!(health.trouble() == Some(Trouble::Damaged) && health.is_damaged());
        health.note_pages(&Pages::Whole);
        assert!(health.trouble().is_none() && !health.is_damaged());
    }

    #[test]
    fn damage_that_a_statement_has_met_stays_whatever_a_check_finds() {
        let health = DatabaseHealth::default();
        let malformed = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), None);
        health.failed(Operation::Read, &Error::Corrupt(Cause::new("malformed", malformed)));
        assert!(health.trouble() == Some(Trouble::Damaged) && health.is_damaged());
        health.note_pages(&Pages::Whole);
        assert!(health.trouble() == Some(Trouble::Damaged) && health.is_damaged());
    }

    #[test]
    fn statements_that_are_wrong_are_no_illness() {
        let health = DatabaseHealth::default();
        health.failed(Operation::Write, &Error::Conflict(crate::Constraint::AppGone));
        health.failed(Operation::Read, &Error::corrupt("no such table"));
        assert_eq!(health.trouble(), None);
    }
}
