//! Undoing one command of a transaction that goes on without it.

use std::collections::BTreeSet;

use super::{Signal, Tx};
use crate::app_numbers::PendingNumbers;
use crate::counters::PendingCounts;
use crate::error::{Error, Result};
use crate::log::PendingRecords;

/// Where a transaction stood before a command, in memory as in the database.
pub(crate) struct Savepoint {
    signals: BTreeSet<Signal>,
    numbers: PendingNumbers,
    n_requests: usize,
    n_deleted: usize,
    changed: bool,
}

impl Tx<'_> {
    /// To be called between two commands. Pending counts and records of earlier commands are written first:
    /// undoing the next command then undoes only its own.
    pub(super) fn set_savepoint(&mut self) -> Result<Savepoint> {
        self.end_commands();
        self.write_pending()?;
        self.send_queue()?;
        self.control("savepoint command")?;
        Ok(Savepoint {
            signals: self.signals.clone(),
            numbers: self.numbers.clone(),
            n_requests: self.audit.n_requests(),
            n_deleted: self.deleted.len(),
            changed: self.changed,
        })
    }

    /// Nothing since the savepoint is to be undone.
    pub(super) fn release(&mut self) -> Result<()> {
        self.end_commands();
        self.control("release command")
    }

    /// Undoes everything since the savepoint, so that the transaction can go on. A transaction that the
    /// database has rolled back stays broken.
    pub(super) fn undo_to(&mut self, savepoint: Savepoint) -> Result<()> {
        if let Some(error @ Error::Unavailable(_)) = &self.broken {
            return Err(error.clone());
        }
        let Savepoint { signals, numbers, n_requests, n_deleted, changed } = savepoint;
        self.end_commands();
        self.broken = None;
        self.signals = signals;
        self.counts = PendingCounts::default();
        self.records = PendingRecords::default();
        self.audit.undo_to(n_requests);
        self.numbers = numbers;
        self.deleted.truncate(n_deleted);
        self.changed = changed;
        self.drop_queue();
        self.control("rollback to command")?;
        self.release()
    }

    /// Runs a statement that is about the transaction itself.
    fn control(&mut self, sql: &str) -> Result<()> {
        self.check(true)?;
        let done = self.connection.control(sql);
        self.remember_error(done)
    }
}
