//! Undoing one command of a transaction that goes on without it.

use std::collections::BTreeSet;

use super::{Signal, Tx};
use crate::app_numbers::Counted;
use crate::counters::PendingCounts;
use crate::error::{Error, Result};
use crate::log::Appended;

/// Where a transaction stood before a command, in memory as in the database.
pub(crate) struct Savepoint {
    signals: BTreeSet<Signal>,
    counted: Counted,
    n_deleted: usize,
    changed: bool,
}

impl Tx<'_> {
    /// To be called between two commands. Counts and records that were put off are written first: then undoing a command undoes
    /// its own, and a command that reads the log cannot take those of others along.
    pub(super) fn set_savepoint(&mut self) -> Result<Savepoint> {
        self.end_commands();
        self.write_pending()?;
        self.control("savepoint command")?;
        Ok(Savepoint {
            signals: self.signals.clone(),
            counted: self.counted.clone(),
            n_deleted: self.deleted.len(),
            changed: self.changed,
        })
    }

    /// Nothing since the savepoint is to be undone.
    pub(super) fn release(&mut self) -> Result<()> {
        self.end_commands();
        self.control("release command")
    }

    /// Undoes everything since the savepoint, with which the transaction is sound again. One that the database has given up stays
    /// broken.
    pub(super) fn undo_to(&mut self, savepoint: Savepoint) -> Result<()> {
        if let Some(error @ Error::Unavailable(_)) = &self.broken {
            return Err(error.clone());
        }
        let Savepoint { signals, counted, n_deleted, changed } = savepoint;
        self.end_commands();
        self.broken = None;
        self.signals = signals;
        self.counts = PendingCounts::default();
        self.appended = Appended::default();
        self.counted = counted;
        self.deleted.truncate(n_deleted);
        self.changed = changed;
        self.control("rollback to command")?;
        self.release()
    }

    /// Runs a statement that is about the transaction itself.
    fn control(&mut self, sql: &str) -> Result<()> {
        self.check(true)?;
        let done = self.connection.control(sql);
        self.keep(done)
    }
}
