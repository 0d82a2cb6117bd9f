//! The output: lines with goals, tables, and numbers that are easy to read; or the same as JSON, for programs that compare runs.

use std::cell::RefCell;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Text,
    Json,
}

/// Where the next figure belongs.
#[derive(Default)]
struct Place {
    form: Form,
    bench: &'static str,
    part: String,
}

thread_local! {
    // Results are printed by the first thread.
    static PLACE: RefCell<Place> = RefCell::default();
}

pub(crate) fn choose(form: Form) {
    PLACE.with_borrow_mut(|place| place.form = form);
}

/// The figures from here on are of this measurement.
pub(crate) fn begin(bench: &'static str) {
    PLACE.with_borrow_mut(|place| {
        place.bench = bench;
        place.part.clear();
    });
}

pub(crate) fn heading(text: Arguments<'_>) -> Result<()> {
    PLACE.with_borrow_mut(|place| place.part = text.to_string());
    if is_json() { Ok(()) } else { print(format_args!("\n{text}\n")) }
}

pub(crate) fn line(name: &str, value: &str) -> Result<()> {
    if is_json() {
        return figure(name, json!({"value": value}));
    }
    print(format_args!("  {name:<76}{value:>18}"))
}

/// A line whose value should be on one side of a goal.
pub(crate) fn goal(name: &str, value: &str, goal: &str, is_met: bool) -> Result<()> {
    if is_json() {
        return figure(name, json!({"value": value, "goal": goal, "is_met": is_met}));
    }
    let verdict = if is_met { "met" } else { "MISSED" };
    print(format_args!("  {name:<76}{value:>18}   goal {goal}: {verdict}"))
}

fn is_json() -> bool {
    PLACE.with_borrow(|place| place.form == Form::Json)
}

/// One line of JSON, with the place of the figure.
fn figure(name: &str, mut of: Value) -> Result<()> {
    PLACE.with_borrow(|place| {
        of["bench"] = json!(place.bench);
        of["part"] = json!(place.part);
    });
    of["name"] = json!(name);
    print(format_args!("{of}"))
}

/// Shows progress; not part of the results.
pub(crate) fn progress(text: &str) {
    drop(writeln!(io::stderr(), "… {text}"));
}

/// Rows under a heading. The first column is text, the others are numbers.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> Result<()> {
    if is_json() {
        let columns = distinct(heading);
        return rows.iter().try_for_each(|row| {
            let cells = columns.iter().zip(row).skip(1).map(|(column, cell)| (column.clone(), json!(cell)));
            figure(row.first().map_or("", String::as_str), json!({"values": cells.collect::<Map<_, _>>()}))
        });
    }
    let heading: Vec<String> = heading.iter().map(|&cell| cell.to_owned()).collect();
    let widest = |column: usize| {
        let cells = rows.iter().chain([&heading]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(widest).collect();
    for row in [&heading].into_iter().chain(rows) {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        print(format_args!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end()))?;
    }
    Ok(())
}

/// The names of columns: one that comes again says which column it stands beside.
fn distinct(heading: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for &column in heading {
        let beside = names.last().filter(|_| names.iter().any(|name| name == column));
        names.push(beside.map_or_else(|| column.to_owned(), |beside| format!("{beside}, {column}")));
    }
    names
}

pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds >= 1.0 => format!("{seconds:.2} s"),
        _ if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.1} µs", seconds * 1e6),
    }
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}

/// A whole number in groups of three digits.
pub(crate) fn number(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

pub(crate) fn ratio(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}×") } else { format!("{}×", number(value)) }
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
fn print(text: Arguments<'_>) -> Result<()> {
    println!("{text}");
    Ok(io::stdout().flush()?)
}
