//! The output of commands: results to standard output, remarks to standard error.

use std::fmt;
use std::io::{self, Write};

use anyhow::Result;
use unicode_width::UnicodeWidthStr;

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
    let shape: Vec<Column> = (0..heading.len()).map(|column| Column::of(column, heading, rows)).collect();
    let room = terminal_width();
    line(format_args!("{}", fitting(aligned(heading, &shape), room)))?;
    rows.iter().try_for_each(|row| line(format_args!("{}", fitting(aligned(row.as_ref(), &shape), room))))
}

/// Writes a line of comma-separated values.
pub(crate) fn csv(cells: &[String]) -> Result<()> {
    line(format_args!("{}", cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",")))
}

/// In quotes if it would be taken for more than one cell otherwise. A text that a spreadsheet would take for a formula begins with
/// an apostrophe, which it does not show.
fn quoted(cell: &str) -> String {
    let is_formula = cell.len() > 1 && cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
    let cell = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

/// How the cells of a column are drawn.
#[derive(Clone, Copy)]
struct Column {
    /// In columns of the terminal: a Chinese character or an emoji takes two.
    width: usize,
    /// Numbers end below each other.
    is_numbers: bool,
}

impl Column {
    fn of<Row: AsRef<[String]>>(column: usize, heading: &[impl AsRef<str>], rows: &[Row]) -> Self {
        let cells = || rows.iter().filter_map(|row| row.as_ref().get(column));
        let widths = cells().map(|cell| cell.width());
        let width = widths.chain([heading[column].as_ref().width()]).max().unwrap_or(0);
        let is_number = |cell: &String| cell == "-" || cell.parse::<f64>().is_ok_and(f64::is_finite);
        Self { width, is_numbers: !rows.is_empty() && cells().all(is_number) }
    }
}

fn aligned(cells: &[impl AsRef<str>], shape: &[Column]) -> String {
    let padded = cells.iter().zip(shape).map(|(cell, &Column { width, is_numbers })| {
        let cell = cell.as_ref();
        let blanks = " ".repeat(width.saturating_sub(cell.width()));
        if is_numbers { blanks + cell } else { format!("{cell}{blanks}") }
    });
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// How wide the terminal is that standard output is, if it is one.
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// A line that would go on in the next one is cut: the columns that tell most come first.
fn fitting(line: String, room: Option<usize>) -> String {
    match room {
        Some(room) if line.width() > room => format!("{}…", beginning(&line, room.saturating_sub(1))),
        _ => line,
    }
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
    fn columns_line_up_and_lines_have_no_trailing_blanks() {
        let column = |width| Column { width, is_numbers: false };
        assert_eq!(aligned(&["KEY", "NAME"], &[column(5), column(9)]), "KEY    NAME");
        assert_eq!(aligned(&["grün", "x", ""], &[column(5), column(1), column(4)]), "grün   x");
        assert_eq!(aligned(&["東京", "x"], &[column(5), column(1)]), "東京   x", "four columns and one blank");
        let names = [["東京".to_owned()], ["🎉".to_owned()], ["e\u{301}".to_owned()]];
        assert_eq!(Column::of(0, &["N"], &names).width, 4);
    }

    #[test]
    fn numbers_end_below_each_other() {
        let rows =
            [["7".to_owned(), "a".to_owned()], ["1200".to_owned(), "7".to_owned()], ["-".to_owned(), String::new()]];
        let shape = [0, 1].map(|column| Column::of(column, &["N", "NAME"], &rows));
        assert_eq!(aligned(&["N", "NAME"], &shape), "   N  NAME");
        assert_eq!(rows.each_ref().map(|row| aligned(row, &shape)), ["   7  a", "1200  7", "   -"]);
    }

    #[test]
    fn cells_with_commas_are_quoted() {
        assert_eq!(
            ["a b", "a,b", "say \"hi\"", "a\nb", "=1+1", "-7", "-"].map(quoted),
            ["a b", "\"a,b\"", "\"say \"\"hi\"\"\"", "\"a\nb\"", "'=1+1", "-7", "-"]
        );
    }

    #[test]
    fn a_line_fits_the_terminal() {
        assert_eq!(fitting("abcdef".to_owned(), Some(4)), "abc…");
        assert_eq!(fitting("abcdef".to_owned(), Some(6)), "abcdef");
        assert_eq!(fitting("abcdef".to_owned(), None), "abcdef");
        assert_eq!(fitting("東京東京".to_owned(), Some(8)), "東京東京");
        assert_eq!(fitting("東京東京".to_owned(), Some(6)), "東京…");
        assert_eq!(shortened(&"東".repeat(21)), format!("{}…", "東".repeat(20)));
        assert_eq!(shortened("two\nlines"), "two lines");
    }
}
