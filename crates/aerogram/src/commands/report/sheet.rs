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
        let n_rows = rows.len();
        rows.retain(|row| !has_only_zeros(row));
        let n_left_out = n_rows - rows.len();
        rows.extend(totals);
        for cell in rows.iter_mut().flatten() {
            *cell = output::shortened(cell);
        }
        output::table_of(&columns, &rows)?;
        if n_left_out > 0 {
            output::note(format_args!("{n_left_out} rows without any count are left out; --csv and --json have them."));
        }
        Ok(())
    }
}

/// After the first cell, which says when.
fn has_only_zeros(row: &[String]) -> bool {
    row.iter().skip(1).all(|cell| cell.parse::<f64>().is_ok_and(|figure| figure == 0.0))
}
