//! The rows of a report, for people and for spreadsheets.

use anyhow::Result;

use crate::output::{self, Column};

pub(super) struct Sheet {
    pub(super) columns: Vec<(String, Column)>,
    pub(super) rows: Vec<Vec<String>>,
    /// The row below the table.
    pub(super) totals: Option<Vec<String>>,
}

impl Sheet {
    pub(super) fn print(self, is_csv: bool) -> Result<()> {
        let Self { columns, mut rows, totals } = self;
        if is_csv {
            let heading: Vec<String> = columns.iter().map(|(name, _)| name.to_lowercase().replace(' ', "_")).collect();
            output::csv(&heading)?;
            return rows.iter().try_for_each(|row| output::csv(row));
        }
        rows.extend(totals);
        for cell in rows.iter_mut().flatten() {
            *cell = output::shortened(cell);
        }
        output::table_of(&columns, &rows)
    }
}
