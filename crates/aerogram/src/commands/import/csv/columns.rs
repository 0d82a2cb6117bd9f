//! What the first line of a CSV file tells: how its columns are separated, and whether it is the name of a column of tokens.

use anyhow::Result;
use model::csv_records::CsvRecord;

use crate::config::Unusable;

/// How the name of a column of tokens ends.
const TOKEN_NAMES: [&str; 4] = ["token", "tokens", "address", "registration_id"];
/// Tokens are longer.
const MOST_NAME_CHARS: usize = 40;

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
