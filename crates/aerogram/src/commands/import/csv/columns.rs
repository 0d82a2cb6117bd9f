//! What the first line of a CSV file tells: how its columns are separated, whether it is the name of a column of tokens, and which
//! columns are no part of a channel.

use std::collections::BTreeMap;

use anyhow::Result;
use model::csv_records::CsvRecord;

use super::Field;
use crate::config::Unusable;
use crate::output;

/// How the name of a column of tokens ends.
const TOKEN_NAMES: [&str; 4] = ["token", "tokens", "address", "registration_id"];
/// Tokens are longer.
const MOST_NAME_CHARS: usize = 40;
/// So many changes make a mistyped name of another, fewer of a short one.
const MOST_MISTYPED: usize = 2;

/// Refuses a file whose first line has one cell with another separator in it: it would be taken for a list of tokens.
pub(super) fn are_between_commas(first: &CsvRecord) -> Result<()> {
    let [only] = first.cells.as_slice() else { return Ok(()) };
    let others = [(b';', "';'"), (b'\t', "a tab")];
    match others.into_iter().find(|(byte, _)| only.contains(byte)) {
        Some((_, name)) => {
            let text =
                format!("The columns of the file are separated by {name}, not ','. Save it with commas instead.");
            Err(Unusable::new(text).into())
        }
        None => Ok(()),
    }
}

/// Whether a record is the name of the column and no token.
pub(super) fn is_token_header(record: &CsvRecord) -> bool {
    let cell = record.cells.first().map(Vec::as_slice).unwrap_or_default();
    let name = String::from_utf8_lossy(cell).trim().to_ascii_lowercase().replace([' ', '-'], "_");
    let is_name = name.len() <= MOST_NAME_CHARS && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    record.line == 1 && is_name && TOKEN_NAMES.iter().any(|ending| name.ends_with(ending))
}

/// The columns that are no part of a channel.
pub(super) fn passed_over(header: &[String], fields: &BTreeMap<String, Field>) -> Vec<String> {
    header.iter().filter(|column| !column.is_empty() && !fields.contains_key(*column)).cloned().collect()
}

/// Tells of columns that are passed over, and what may be meant by them.
pub(super) fn note(passed_over: &[String], fields: &BTreeMap<String, Field>) {
    if passed_over.is_empty() {
        return;
    }
    let told = passed_over.iter().map(|column| match meant(column, fields) {
        Some(name) => format!("{column} (did you mean {name}?)"),
        None => column.clone(),
    });
    let told: Vec<String> = told.collect();
    output::note(format_args!("Columns that are not imported: {}; --map says what a column is.", told.join(", ")));
}

/// A part of a channel that no column is, and whose name is like that of this one.
fn meant(column: &str, fields: &BTreeMap<String, Field>) -> Option<&'static str> {
    let column = column.to_ascii_lowercase();
    let (ending, most) = (format!("_{column}"), (column.len() / 3).min(MOST_MISTYPED));
    let is_like = |name: &str| name.ends_with(&ending) || strsim::osa_distance(name, &column) <= most;
    let is_free = |name: &str| Field::of(name).is_some_and(|field| !fields.values().any(|known| *known == field));
    Field::names().find(|name| is_like(name) && is_free(name))
}
