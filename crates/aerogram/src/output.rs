//! The output of commands: results to standard output, remarks to standard error.

mod column;
mod tables;

use std::fmt;
use std::io::{self, Write};

use anyhow::Result;
use model::csv_cell::CsvFile;
use unicode_width::UnicodeWidthStr;

pub(crate) use column::{COUNT, Column, ID, MOMENT, NAME, TEXT};
pub(crate) use tables::{table, table_of};

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

/// Writes a line of comma-separated values, for spreadsheets.
pub(crate) fn csv(cells: &[String]) -> Result<()> {
    let cells: Vec<_> = cells.iter().map(|cell| CsvFile::ForPeople.cell(cell)).collect();
    line(format_args!("{}", cells.join(",")))
}

/// As much of the beginning of a text as fits into so many columns of a terminal.
fn beginning(text: &str, room: usize) -> &str {
    let ends = text.char_indices().map(|(start, c)| start + c.len_utf8());
    let end = ends.take_while(|end| text[..*end].width() <= room).last();
    &text[..end.unwrap_or(0)]
}

/// How wide a text in a line of a table may be.
const MOST_COLUMNS: usize = 40;

/// A text on one line.
pub(crate) fn shortened(text: &str) -> String {
    // What is cut off below is not looked at: a text may be long.
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(4 * MOST_COLUMNS).collect();
    if line.width() > MOST_COLUMNS { format!("{}…", beginning(&line, MOST_COLUMNS)) } else { line }
}

/// Writes JSON for people.
pub(crate) fn pretty(value: &serde_json::Value) -> Result<()> {
    line(format_args!("{value:#}"))
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
    fn a_text_in_a_table_is_short_and_on_one_line() {
        assert_eq!(shortened(&"東".repeat(21)), format!("{}…", "東".repeat(20)));
        assert_eq!(shortened("two\nlines"), "two lines");
    }
}
