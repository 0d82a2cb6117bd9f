//! What commands print: what they were asked for to standard output, remarks to standard error.

use std::fmt;
use std::io::{self, Write};

use anyhow::Result;

/// Writes one line. A reader that went away (`aerogram sandbox --follow | head`) ends the command, see `main`.
pub(crate) fn line(text: fmt::Arguments<'_>) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Writes one line beside the output, for the person who waits for it.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    // A note that nobody can read is no reason to stop.
    drop(writeln!(io::stderr(), "{text}"));
}

/// Writes rows under a heading, each column as wide as its widest cell.
pub(crate) fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> Result<()> {
    columns(&heading, rows)
}

/// The same for a number of columns that is not known beforehand.
pub(crate) fn columns<Row: AsRef<[String]>>(heading: &[impl AsRef<str>], rows: &[Row]) -> Result<()> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column)).map(|cell| cell.chars().count());
        cells.chain([heading[column].as_ref().chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    line(format_args!("{}", aligned(heading, &widths)))?;
    for row in rows {
        line(format_args!("{}", aligned(row.as_ref(), &widths)))?;
    }
    Ok(())
}

fn aligned(cells: &[impl AsRef<str>], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{:<width$}", cell.as_ref()));
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_have_no_trailing_blanks() {
        assert_eq!(aligned(&["KEY", "NAME"], &[5, 9]), "KEY    NAME");
        assert_eq!(aligned(&["grün", "x", ""], &[5, 1, 4]), "grün   x");
    }
}
