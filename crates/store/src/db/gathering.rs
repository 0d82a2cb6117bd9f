//! Running a command of a batch against what is known in memory ([`super::postgres`]): what it leaves in the transaction is kept
//! when it is done, and dropped when it has to be run again.

use std::sync::Arc;

use super::postgres::Suspended;
use super::{Connection, Tx};
use crate::app_numbers::PendingNumbers;
use crate::audit::Request;
use crate::counters::PendingCounts;
use crate::error::Result;
use model::ids::AppId;

/// What commands have left in the transaction before the one that is run.
pub(super) struct Before {
    numbers: PendingNumbers,
    counts: PendingCounts,
    n_records: usize,
    n_deleted: usize,
    changed: bool,
}

impl Tx<'_> {
    /// From here on commands are run against what is known. False for a database that needs no such thing.
    pub(super) fn start_gathering(&mut self) -> bool {
        match self.connection {
            Connection::Sqlite(_) => false,
            Connection::Postgres(postgres) => {
                postgres.start_gathering();
                true
            }
        }
    }

    /// From here on commands are run statement by statement.
    pub(super) fn stop_gathering(&mut self) {
        match self.connection {
            Connection::Sqlite(_) => {}
            Connection::Postgres(postgres) => postgres.stop_gathering(),
        }
    }

    /// A command that needs what all commands have left to be written is run by itself.
    pub(super) fn leave_gathering(&mut self) -> Result<()> {
        let left = match self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(postgres) => postgres.leave_gathering(),
        };
        self.remember_error(left)
    }

    pub(super) fn begin_gathered(&mut self, app: AppId, request: Option<&Arc<Request>>) -> Before {
        self.next_command(app, request);
        Before {
            numbers: self.numbers.clone(),
            counts: std::mem::take(&mut self.counts),
            n_records: self.records.len(),
            n_deleted: self.deleted.len(),
            changed: self.changed,
        }
    }

    /// Keeps what the command has left if it is done and has succeeded, and drops it otherwise. Its signals stay: one too many
    /// does no harm.
    pub(super) fn end_gathered(&mut self, before: Before, is_ok: bool) -> Option<Suspended> {
        let Before { numbers, mut counts, n_records, n_deleted, changed } = before;
        let is_kept = is_ok && self.broken.is_none();
        let suspended = match self.connection {
            Connection::Sqlite(_) => None,
            Connection::Postgres(postgres) => postgres.end_command(is_kept),
        };
        if is_kept && suspended.is_none() {
            counts.merge(std::mem::take(&mut self.counts));
            self.record_request();
        } else {
            self.numbers = numbers;
            self.records.truncate(n_records);
            self.deleted.truncate(n_deleted);
            self.changed = changed;
        }
        self.counts = counts;
        self.broken = None;
        self.end_commands();
        suspended
    }

    /// Reads what the commands that were put aside have asked for.
    pub(super) fn read_needs(&mut self) -> Result<()> {
        let done = match self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(postgres) => postgres.read_needs(),
        };
        self.remember_error(done)
    }

    /// Sends what is queued, so that what fails is known before the next command is run.
    pub(super) fn send_queue(&mut self) -> Result<()> {
        let done = match self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(postgres) => postgres.send_queue(),
        };
        self.remember_error(done)
    }

    /// Forgets what is queued.
    pub(super) fn drop_queue(&mut self) {
        match self.connection {
            Connection::Sqlite(_) => {}
            Connection::Postgres(postgres) => postgres.drop_queue(),
        }
    }
}
