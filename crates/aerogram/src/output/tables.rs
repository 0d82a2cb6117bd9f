//! Tables. On a terminal that is narrower than the table texts are cut first, then times of day; then columns are left out, which a
//! note names.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io;

use anyhow::Result;
use unicode_width::UnicodeWidthStr;

use super::column::{Column, Content};
use super::{beginning, line, note};

const FEWEST_OF_TEXT: usize = 10;
/// What a moment is left with: its day.
const FEWEST_OF_MOMENT: usize = "2030-01-31".len() + 1;
const FEWEST_OF_NAME: usize = 16;
const FEWEST_OF_ID: usize = 8;
const GAP: &str = "  ";

/// Writes rows under headings, each column as wide as its widest cell.
pub(crate) fn table<const N: usize>(columns: [(&str, Column); N], rows: &[[String; N]]) -> Result<()> {
    table_of(&columns, rows)
}

/// The same for a number of columns that is not known beforehand.
pub(crate) fn table_of<Row: AsRef<[String]>>(columns: &[(impl AsRef<str>, Column)], rows: &[Row]) -> Result<()> {
    let room = terminal_width();
    let (mut shown, mut left_out) = (Shown::all(columns, rows), Vec::new());
    if let Some(room) = room {
        left_out = fit(&mut shown, room);
    }
    for text in drawn(&shown, rows) {
        line(format_args!("{}", within(text, room)))?;
    }
    for remark in [told_of(&left_out), told_of_cuts(&shown)].into_iter().flatten() {
        note(format_args!("{remark}"));
    }
    Ok(())
}

/// A column that is drawn.
#[derive(Clone, Copy)]
struct Shown<'a> {
    /// Which cell of each row is in it.
    at: usize,
    heading: &'a str,
    column: Column,
    /// In columns of the terminal: a Chinese character or an emoji takes two.
    width: usize,
    /// The width at which nothing in it is cut.
    whole: usize,
}

impl<'a> Shown<'a> {
    fn all<Row: AsRef<[String]>>(columns: &'a [(impl AsRef<str>, Column)], rows: &[Row]) -> Vec<Self> {
        let shown = columns.iter().enumerate().map(|(at, (heading, column))| {
            let heading = heading.as_ref();
            let cells = rows.iter().map(|row| cell(row, at).width());
            let whole = cells.max().unwrap_or(0).max(heading.width());
            Self { at, heading, column: *column, width: whole, whole }
        });
        shown.collect()
    }

    fn is_of(&self, content: Content) -> bool {
        self.column.content == content
    }

    /// How narrow it may become. A heading is never cut: some of its letters are another word.
    fn fewest(&self) -> usize {
        let fewest = match self.column.content {
            Content::Count => self.whole,
            Content::Name => FEWEST_OF_NAME,
            Content::Id => FEWEST_OF_ID,
            Content::Moment => FEWEST_OF_MOMENT,
            Content::Text => FEWEST_OF_TEXT,
        };
        fewest.max(self.heading.width()).min(self.whole)
    }

    /// How narrow it may become while another column can be left out instead.
    fn fewest_at_first(&self) -> usize {
        match self.column.content {
            Content::Text | Content::Moment => self.fewest(),
            Content::Name | Content::Count | Content::Id => self.whole,
        }
    }
}

fn cell<Row: AsRef<[String]>>(row: &Row, at: usize) -> &str {
    row.as_ref().get(at).map_or("", String::as_str)
}

/// Leaves columns out until the others fit, and makes those narrower: texts first, and ids last. What is too wide then is cut at
/// the ends of the lines. Returns the headings of what is left out.
fn fit<'a>(shown: &mut Vec<Shown<'a>>, room: usize) -> Vec<&'a str> {
    let mut removed = Vec::new();
    while is_too_wide(shown, room) {
        let optional = shown.iter().enumerate().filter_map(|(place, shown)| Some((shown.column.turn?, place)));
        let Some((_, place)) = optional.min() else { break };
        removed.push(shown.remove(place));
    }
    let mut left_out = Vec::new();
    // One that went late may have been so wide that some of the others have room without it.
    for column in removed.into_iter().rev() {
        let place = shown.partition_point(|other| other.at < column.at);
        shown.insert(place, column);
        if is_too_wide(shown, room) {
            left_out.push(shown.remove(place).heading);
        }
    }
    left_out.reverse();
    for content in [Content::Text, Content::Moment, Content::Name, Content::Id] {
        squeeze(shown, content, room);
    }
    left_out
}

/// Whether a column would be left out before the others become any narrower.
fn is_too_wide(shown: &[Shown<'_>], room: usize) -> bool {
    breadth(shown, Shown::fewest_at_first) > room
}

/// Makes columns of one kind narrower until all columns fit.
fn squeeze(shown: &mut [Shown<'_>], content: Content, room: usize) {
    let excess = breadth(shown, |shown| shown.width).saturating_sub(room);
    for _ in 0..excess {
        let wider = shown.iter_mut().filter(|shown| shown.is_of(content) && shown.width > shown.fewest());
        // The first of those that are equally wide: names and texts stand last.
        let Some(widest) = wider.min_by_key(|shown| Reverse(shown.width)) else { break };
        widest.width -= 1;
    }
}

/// How wide a line is.
fn breadth<'a>(shown: &[Shown<'a>], width: impl Fn(&Shown<'a>) -> usize) -> usize {
    let wide: usize = shown.iter().map(|shown| width(shown) + GAP.len()).sum();
    wide.saturating_sub(GAP.len())
}

/// The lines of the table.
fn drawn<Row: AsRef<[String]>>(shown: &[Shown<'_>], rows: &[Row]) -> impl Iterator<Item = String> {
    let headings = aligned(shown, shown.iter().map(|shown| shown.heading));
    let lines = rows.iter().map(move |row| aligned(shown, shown.iter().map(|shown| cell(row, shown.at))));
    std::iter::once(headings).chain(lines)
}

fn aligned<'a>(shown: &[Shown<'_>], cells: impl Iterator<Item = &'a str>) -> String {
    let padded = shown.iter().zip(cells).map(|(shown, cell)| {
        let cell = cut(cell, shown.width);
        let blanks = " ".repeat(shown.width.saturating_sub(cell.width()));
        if shown.is_of(Content::Count) { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
    });
    padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}

/// A line that would go on in the next one is cut.
fn within(line: String, room: Option<usize>) -> String {
    match room {
        Some(room) => cut(&line, room).into_owned(),
        None => line,
    }
}

fn cut(text: &str, room: usize) -> Cow<'_, str> {
    if text.width() > room { format!("{}…", beginning(text, room.saturating_sub(1))).into() } else { text.into() }
}

fn told_of(left_out: &[&str]) -> Option<String> {
    let remedy = "make the terminal wider or use --json";
    match left_out {
        [] => None,
        [one] => Some(format!("1 column is left out: {one}; {remedy}.")),
        all => Some(format!("{} columns are left out: {}; {remedy}.", all.len(), all.join(", "))),
    }
}

fn told_of_cuts(shown: &[Shown<'_>]) -> Option<String> {
    let is_cut = |content| shown.iter().any(|shown| shown.is_of(content) && shown.width < shown.whole);
    let what = match (is_cut(Content::Id), is_cut(Content::Name)) {
        (true, true) => "Ids and names",
        (true, false) => "Ids",
        (false, true) => "Names",
        (false, false) => return None,
    };
    Some(format!("{what} are cut to fit the terminal; in a pipe and with --json they are whole."))
}

/// How wide the terminal is that standard output is, if it is one.
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

#[cfg(test)]
mod tests;
