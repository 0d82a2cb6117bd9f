//! Tables. Every column is there, also on a terminal that is narrower than the table: what is missed least is cut first.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io;

use anyhow::Result;
use unicode_width::UnicodeWidthStr;

use super::{beginning, line, note};

/// What a heading or a text is left with.
const FEWEST: usize = 6;
/// What a moment is left with: its day.
const FEWEST_OF_MOMENT: usize = "2030-01-31".len() + 1;

/// Writes rows under a heading, each column as wide as its widest cell.
pub(crate) fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> Result<()> {
    columns(&heading, rows)
}

/// The same for a number of columns that is not known beforehand.
pub(crate) fn columns<Row: AsRef<[String]>>(heading: &[impl AsRef<str>], rows: &[Row]) -> Result<()> {
    let room = terminal_width();
    let mut shape: Vec<Column> = (0..heading.len()).map(|column| Column::of(column, heading, rows)).collect();
    if let Some(room) = room {
        squeeze(&mut shape, room);
    }
    line(format_args!("{}", fitting(aligned(heading, &shape), room)))?;
    rows.iter().try_for_each(|row| line(format_args!("{}", fitting(aligned(row.as_ref(), &shape), room))))?;
    if shape.iter().any(|column| column.content == Content::Ids && column.width < column.widest_cell) {
        note(format_args!("Ids are cut to fit the terminal; in a pipe and with --json they are whole."));
    }
    Ok(())
}

/// How the cells of a column are drawn.
#[derive(Clone, Copy)]
struct Column {
    /// In columns of the terminal: a Chinese character or an emoji takes two.
    width: usize,
    widest_cell: usize,
    content: Content,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// They end below each other, and are never cut: some digits of a number are another number.
    Numbers,
    /// They are copied, which takes all of them.
    Ids,
    Moments,
    Texts,
}

impl Column {
    fn of<Row: AsRef<[String]>>(column: usize, heading: &[impl AsRef<str>], rows: &[Row]) -> Self {
        let cells = || rows.iter().filter_map(|row| row.as_ref().get(column));
        let widest_cell = cells().map(|cell| cell.width()).max().unwrap_or(0);
        let is_number = |cell: &String| cell == "-" || cell.parse::<f64>().is_ok_and(f64::is_finite);
        let content = if !rows.is_empty() && cells().all(is_number) {
            Content::Numbers
        } else if cells().any(|cell| is_id(cell)) {
            Content::Ids
        } else if cells().any(|cell| is_moment(cell)) {
            Content::Moments
        } else {
            Content::Texts
        };
        Self { width: widest_cell.max(heading[column].as_ref().width()), widest_cell, content }
    }

    /// How narrow a stage that is about one kind of content makes the column.
    fn kept_unless(&self, content: Content, fewest: usize) -> usize {
        if self.content == content { fewest } else { self.width }
    }
}

fn is_id(cell: &str) -> bool {
    cell.len() == "00000000-0000-4000-8000-000000000001".len()
        && cell.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// With a time of day or without.
fn is_moment(cell: &str) -> bool {
    let day = cell.as_bytes().get(.."2030-01-31".len());
    day.is_some_and(|day| {
        day.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    })
}

/// Makes columns narrower until they fit, in stages: headings that are wider than all cells below them, texts, moments, and ids
/// last. What is too wide then is cut at the ends of the lines.
fn squeeze(shape: &mut [Column], room: usize) {
    let stages: [fn(&Column) -> usize; 4] = [
        |column| column.widest_cell.max(FEWEST),
        |column| column.kept_unless(Content::Texts, FEWEST),
        |column| column.kept_unless(Content::Moments, FEWEST_OF_MOMENT),
        |column| column.kept_unless(Content::Ids, FEWEST),
    ];
    let wide = shape.iter().map(|column| column.width + GAP.len()).sum::<usize>();
    let mut excess = wide.saturating_sub(GAP.len()).saturating_sub(room);
    for fewest in stages {
        while excess > 0 {
            let wider = shape.iter_mut().filter(|column| column.width > fewest(column));
            // The first of those that are equally wide: names and texts stand last.
            let Some(widest) = wider.min_by_key(|column| Reverse(column.width)) else { break };
            widest.width -= 1;
            excess -= 1;
        }
    }
}

const GAP: &str = "  ";

fn aligned(cells: &[impl AsRef<str>], shape: &[Column]) -> String {
    let padded = cells.iter().zip(shape).map(|(cell, &Column { width, content, .. })| {
        let cell = cut(cell.as_ref(), width);
        let blanks = " ".repeat(width.saturating_sub(cell.width()));
        if content == Content::Numbers { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
    });
    padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}

/// A line that would go on in the next one is cut.
fn fitting(line: String, room: Option<usize>) -> String {
    match room {
        Some(room) => cut(&line, room).into_owned(),
        None => line,
    }
}

fn cut(text: &str, room: usize) -> Cow<'_, str> {
    if text.width() > room { format!("{}…", beginning(text, room.saturating_sub(1))).into() } else { text.into() }
}

/// How wide the terminal is that standard output is, if it is one.
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(width: usize) -> Column {
        Column { width, widest_cell: width, content: Content::Texts }
    }

    /// The lines of a table on a terminal that is so wide.
    fn drawn<const N: usize>(heading: [&str; N], rows: &[[&str; N]], room: usize) -> Vec<String> {
        let rows: Vec<[String; N]> = rows.iter().map(|row| row.map(str::to_owned)).collect();
        let mut shape: Vec<Column> = (0..N).map(|column| Column::of(column, &heading, &rows)).collect();
        squeeze(&mut shape, room);
        let heading = aligned(&heading, &shape);
        [heading].into_iter().chain(rows.iter().map(|row| aligned(row, &shape))).collect()
    }

    #[test]
    fn columns_line_up_and_lines_have_no_trailing_blanks() {
        assert_eq!(aligned(&["KEY", "NAME"], &[column(5), column(9)]), "KEY    NAME");
        assert_eq!(aligned(&["grün", "x", ""], &[column(5), column(1), column(4)]), "grün   x");
        assert_eq!(aligned(&["東京", "x"], &[column(5), column(1)]), "東京   x", "four columns and one blank");
        let names = [["東京".to_owned()], ["🎉".to_owned()], ["e\u{301}".to_owned()]];
        assert_eq!(Column::of(0, &["N"], &names).width, 4);
    }

    #[test]
    fn numbers_end_below_each_other() {
        let rows = [["7", "a"], ["1200", "7"], ["-", ""]];
        assert_eq!(drawn(["N", "NAME"], &rows, 100), ["   N  NAME", "   7  a", "1200  7", "   -"]);
    }

    const ID: &str = "0190a000-0000-4000-8000-000000000001";
    const MOMENT: &str = "2030-01-31T12:00:00";

    #[test]
    fn headings_give_way_first_and_then_the_widest_texts() {
        let heading = ["PUSH", "TIME", "DIRECT RESPONSES", "AUTHOR", "NAME"];
        let rows = [[ID, MOMENT, "12345678", "master secret 0f", "Sale today"], ["", "TOTAL", "12345678", "", ""]];
        let whole = drawn(heading, &rows, 106);
        assert_eq!(whole[0], format!("{:36}  {:19}  DIRECT RESPONSES  {:16}  NAME", "PUSH", "TIME", "AUTHOR"));
        assert_eq!(
            drawn(heading, &rows, 97)[0],
            format!("{:36}  {:19}  DIRECT …  {:16}  NAME", "PUSH", "TIME", "AUTHOR")
        );
        let narrower = drawn(heading, &rows, 89);
        assert_eq!(narrower[1], format!("{ID}  {MOMENT}  12345678  master s…  Sale tod…"));
        assert_eq!(narrower[2], format!("{:36}  TOTAL                12345678", ""));
        assert_eq!(drawn(heading, &rows, 83)[1], format!("{ID}  {MOMENT}  12345678  maste…  Sale …"));
    }

    #[test]
    fn moments_give_way_before_ids_and_numbers_never_do() {
        let (heading, rows) = (["PUSH", "TIME", "N"], [[ID, MOMENT, "12345678"]]);
        assert_eq!(drawn(heading, &rows, 59)[1], format!("{ID}  2030-01-31…  12345678"));
        assert_eq!(drawn(heading, &rows, 50)[1], "0190a000-0000-4000-8000-00…  2030-01-31…  12345678");
        assert_eq!(drawn(heading, &rows, 10)[1], "0190a…  2030-01-31…  12345678");
        assert_eq!(fitting("0190a…  2030".to_owned(), Some(10)), "0190a…  2…");
    }

    #[test]
    fn a_line_fits_the_terminal() {
        assert_eq!(fitting("abcdef".to_owned(), Some(4)), "abc…");
        assert_eq!(fitting("abcdef".to_owned(), Some(6)), "abcdef");
        assert_eq!(fitting("abcdef".to_owned(), None), "abcdef");
        assert_eq!(fitting("東京東京".to_owned(), Some(8)), "東京東京");
        assert_eq!(fitting("東京東京".to_owned(), Some(6)), "東京…");
        let towns = [["東京東京東京".to_owned()]];
        let mut shape = [Column::of(0, &["TOWN"], &towns)];
        squeeze(&mut shape, 8);
        assert_eq!(aligned(&towns[0], &shape), "東京東…");
    }
}
