//! What commands leave to the end of the transaction: counts, records of logs, rows of the audit log and numbers of apps, each row
//! written once however many commands change it.

use model::ids::AppId;

use super::Tx;
use crate::app_numbers::{AppNumbers, PendingNumbers};
use crate::audit;
use crate::counters::PendingCounts;
use crate::error::Result;
use crate::log::PendingRecords;

impl Tx<'_> {
    /// The counts that [`Tx::write_pending`] will raise. Only for transactions that write, as the next two.
    pub(crate) fn pending_counts(&mut self) -> Result<&mut PendingCounts> {
        self.check(true)?;
        self.has_effect = true;
        Ok(&mut self.counts)
    }

    /// Notes that deliveries are among the records that were appended.
    pub(crate) const fn note_deliveries(&mut self) {
        self.has_deliveries = true;
    }

    /// The records of logs that [`Tx::write_pending`] will insert.
    pub(crate) fn pending_records(&mut self) -> Result<&mut PendingRecords> {
        self.check(true)?;
        self.has_effect = true;
        Ok(&mut self.records)
    }

    /// The numbers of apps that [`Tx::write_pending`] will write.
    pub(crate) fn pending_numbers(&mut self) -> Result<&mut PendingNumbers> {
        self.check(true)?;
        self.has_effect = true;
        Ok(&mut self.numbers)
    }

    pub(crate) fn numbers_so_far(&self) -> &PendingNumbers {
        &self.numbers
    }

    /// The numbers of an app whose row this transaction has locked since it began.
    pub(crate) fn numbers_at_begin(&mut self, app: AppId) -> Result<Option<AppNumbers>> {
        self.check(false)?;
        if !self.may_write {
            // It has locked no app, and PostgreSQL begins only when there is something to read.
            return Ok(None);
        }
        let numbers = self.connection.numbers_at_begin(app);
        self.remember_error(numbers)
    }

    /// Inserts the records that were appended, so that this transaction can read them.
    pub(crate) fn write_pending_records(&mut self) -> Result<()> {
        self.leave_gathering()?;
        std::mem::take(&mut self.records).write(self)
    }

    /// Writes the counts, records, rows of the audit log and numbers that commands left to the end of the transaction, each row
    /// once.
    pub(crate) fn write_pending(&mut self) -> Result<()> {
        self.leave_gathering()?;
        std::mem::take(&mut self.counts).write(self)?;
        self.write_pending_records()?;
        let rows = self.audit.take_rows();
        audit::write(self, rows)?;
        let mut numbers = std::mem::take(&mut self.numbers);
        let written = numbers.write(self);
        self.numbers = numbers;
        written
    }
}
