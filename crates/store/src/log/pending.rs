//! Records that a transaction has appended, inserted together at its end: a batch has many commands that
//! append one or two.

use model::ids::{AppId, Offset};
use model::time::UtcMillis;

use super::NewRecord;
use crate::{Result, Tx};

#[derive(Default)]
pub(crate) struct PendingRecords(Vec<(AppId, Offset, UtcMillis, NewRecord)>);

impl PendingRecords {
    pub(super) fn push(&mut self, app: AppId, first: Offset, at: UtcMillis, records: Vec<NewRecord>) {
        self.0.extend(records.into_iter().zip(first.0..).map(|(record, n)| (app, Offset(n), at, record)));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn truncate(&mut self, n_records: usize) {
        self.0.truncate(n_records);
    }

    pub(crate) fn write(self, tx: &mut Tx<'_>) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let rows = self.0.into_iter().map(|(app, offset, at, NewRecord { kind, ordinal, body })| {
            [app.into(), offset.into(), at.into(), kind.number().into(), ordinal.into(), body.into()]
        });
        let sql = "insert into log (app, position, at, kind, ordinal, body) values ($1, $2, $3, $4, $5, $6)";
        tx.write_many(sql, rows)
    }

    /// The app was deleted.
    pub(crate) fn forget(&mut self, app: AppId) {
        self.0.retain(|(of, ..)| *of != app);
    }
}
