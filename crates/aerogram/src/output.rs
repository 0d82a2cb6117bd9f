//! The output of commands: results to standard output, remarks to standard error.

use std::fmt;
use std::io::{self, Write};

use anyhow::Result;

/// Writes one line. A reader that went away (`aerogram sandbox --follow | head`) ends the command, see `main`.
pub(crate) fn line(text: fmt::Arguments<'_>) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Writes text that came in pieces as it is.
pub(crate) fn bytes(text: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text)?;
    Ok(out.flush()?)
}

/// Writes one line to standard error, for the person at the terminal.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    // A note that cannot be written is no reason to stop.
    drop(writeln!(io::stderr(), "{text}"));
}

/// An error with its causes. A cause whose text is already there is skipped: drivers like to repeat their own sources.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        for part in cause.split(": ") {
            if !text.contains(part) {
                text = format!("{text}: {part}");
            }
        }
    }
    text
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
    fn what_has_been_said_is_not_said_again() {
        let error =
            anyhow::anyhow!("Error code 26: not a database").context("not a database").context("bad: not a database");
        assert_eq!(format!("{error:#}").matches("not a database").count(), 3);
        assert_eq!(explained(&error), "bad: not a database: Error code 26");
        let error = anyhow::anyhow!("no room").context("no room").context("It cannot be opened");
        assert_eq!(explained(&error), "It cannot be opened: no room");
    }

    #[test]
    fn columns_line_up_and_lines_have_no_trailing_blanks() {
        assert_eq!(aligned(&["KEY", "NAME"], &[5, 9]), "KEY    NAME");
        assert_eq!(aligned(&["grün", "x", ""], &[5, 1, 4]), "grün   x");
    }
}
