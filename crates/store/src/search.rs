//! Searching a whole database for texts, to see that nothing of an erased person is left: every byte of a file, or every row of a
//! server.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::privacy::is_hexadecimal;
use uuid::Uuid;

use crate::db::copying::Table;
use crate::db::postgres::{PostgresConnection, server::Server};
use crate::db::{Access, Connection, sqlite};
use crate::error::{Cause, Error, Result};
use crate::{DatabaseUrl, Tx, Value};

const CHUNK: usize = 1 << 20;
const PAGE_ROWS: usize = 4_096;

/// Where one of the texts was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// A file with the place in it, or a table with a column.
    pub place: String,
    pub text: String,
}

/// A text as it may be stored: as it is, and an id also in bytes.
struct Needle {
    text: String,
    forms: Vec<Form>,
}

struct Form {
    bytes: Vec<u8>,
    /// Hexadecimal digits are written in either letter case.
    ignores_case: bool,
}

/// Searches a database that may be in use. Of a file, the write-ahead log is searched as well. The authorities of `ca_file` are
/// trusted as by [`crate::Store::open_with`].
pub async fn database(url: &DatabaseUrl, ca_file: Option<&Path>, texts: &[String]) -> Result<Vec<Hit>> {
    let (url, ca_file, needles) = (url.clone(), ca_file.map(Path::to_owned), needles(texts));
    let searched = tokio::task::spawn_blocking(move || match &url {
        DatabaseUrl::Sqlite(path) => in_files(&[path.clone(), sqlite::path_with(path, "-wal")], &needles),
        DatabaseUrl::Postgres(url) => in_rows(Server::for_maintenance(url, ca_file.as_deref())?, &needles),
    });
    searched.await.map_err(|error| Error::Unavailable(Cause::new("the search was interrupted", error)))?
}

/// Searches files, such as snapshots. Those that do not exist hold nothing.
pub async fn files(paths: Vec<PathBuf>, texts: &[String]) -> Result<Vec<Hit>> {
    let needles = needles(texts);
    let searched = tokio::task::spawn_blocking(move || in_files(&paths, &needles));
    searched.await.map_err(|error| Error::Unavailable(Cause::new("the search was interrupted", error)))?
}

fn needles(texts: &[String]) -> Vec<Needle> {
    let needle = |text: &String| {
        let mut forms = vec![Form { bytes: text.as_bytes().to_vec(), ignores_case: is_hexadecimal(text) }];
        let id = Uuid::try_parse(text).ok();
        forms.extend(id.map(|id| Form { bytes: id.as_bytes().to_vec(), ignores_case: false }));
        Needle { text: text.clone(), forms }
    };
    texts.iter().filter(|text| !text.is_empty()).map(needle).collect()
}

fn in_files(paths: &[PathBuf], needles: &[Needle]) -> Result<Vec<Hit>> {
    let mut hits = Vec::new();
    for path in paths {
        let failed = |error| Error::Unavailable(Cause::new(format!("{} cannot be read", path.display()), error));
        match File::open(path) {
            Ok(file) => in_file(path, file, needles, &mut hits).map_err(failed)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(hits)
}

/// Piece by piece, with as much of the piece before as the longest text may reach into.
fn in_file(path: &Path, mut file: File, needles: &[Needle], hits: &mut Vec<Hit>) -> io::Result<()> {
    let longest = needles.iter().flat_map(|needle| &needle.forms).map(|form| form.bytes.len()).max().unwrap_or(0);
    let (mut piece, mut start) = (Vec::with_capacity(CHUNK + longest), 0_usize);
    loop {
        let n_kept = piece.len();
        let n_read = (&mut file).take(CHUNK as u64).read_to_end(&mut piece)?;
        if n_read == 0 {
            return Ok(());
        }
        for needle in needles {
            // What lies in the kept part as a whole was found before.
            let found = needle.forms.iter().find_map(|form| {
                let from = n_kept.saturating_sub(form.bytes.len().saturating_sub(1));
                position(&piece[from..], form).map(|place| start + from + place)
            });
            if let Some(place) = found {
                hits.push(Hit { place: format!("{} at byte {place}", path.display()), text: needle.text.clone() });
            }
        }
        let n_gone = piece.len().saturating_sub(longest);
        piece.drain(..n_gone);
        start += n_gone;
    }
}

fn in_rows(server: Server, needles: &[Needle]) -> Result<Vec<Hit>> {
    let mut connection = Connection::Postgres(PostgresConnection::maintainer(Arc::new(server))?);
    let searched = connection.begin(Access::Snapshot).and_then(|mut tx| {
        let mut hits = Vec::new();
        for table in tx.tables()? {
            in_table(&mut tx, &table, needles, &mut hits)?;
        }
        Ok(hits)
    });
    connection.close();
    searched
}

/// Goes along the primary key, page by page.
fn in_table(tx: &mut Tx<'_>, table: &Table, needles: &[Needle], hits: &mut Vec<Hit>) -> Result<()> {
    let (columns, key) = (table.column_list(), table.key_list());
    let placeholders: Vec<String> = (1..=table.key.len()).map(|n| format!("${n}")).collect();
    let (from, then) =
        (format!("select {columns} from \"{}\"", table.name), format!("order by {key} limit {PAGE_ROWS}"));
    let next_page = format!("{from} where ({key}) > ({}) {then}", placeholders.join(", "));
    let (mut sql, mut after): (String, Vec<Value>) = (format!("{from} {then}"), Vec::new());
    loop {
        let (mut n_rows, mut last) = (0, Vec::new());
        tx.for_each(&sql, &after, |row| {
            let cells: Vec<Value> = (0..table.columns.len()).map(|index| row.get(index)).collect::<Result<_>>()?;
            for (column, cell) in table.columns.iter().zip(&cells) {
                let found = needles.iter().filter(|needle| is_in(cell, needle));
                let place = || format!("the column {} of the table {}", column.name, table.name);
                hits.extend(found.map(|needle| Hit { place: place(), text: needle.text.clone() }));
            }
            n_rows += 1;
            last = table.key.iter().map(|index| cells[*index].clone()).collect();
            Ok(())
        })?;
        if n_rows < PAGE_ROWS {
            return Ok(());
        }
        (sql, after) = (next_page.clone(), last);
    }
}

fn is_in(cell: &Value, needle: &Needle) -> bool {
    let bytes = match cell {
        Value::Null | Value::Int(_) | Value::Real(_) => return false,
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
    };
    needle.forms.iter().any(|form| position(bytes, form).is_some())
}

fn position(bytes: &[u8], Form { bytes: wanted, ignores_case }: &Form) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| match ignores_case {
        true => window.eq_ignore_ascii_case(wanted),
        false => window == wanted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_in_either_letter_case_and_names_as_they_are() {
        let token = "FE66489F304DC75B8D6E8200DFF8A456E8DAEACEC428B427E9518741C92C6660";
        let channel = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
        let stored = [token.to_lowercase(), channel.to_uppercase(), "To Ann@example.com".to_owned()];
        let cells: Vec<Value> = stored.iter().map(|text| Value::from(text.as_str())).collect();
        let texts = [token, channel, "Ann@example.com", "ann@example.com"].map(str::to_owned);
        let is_found: Vec<bool> =
            needles(&texts).iter().map(|needle| cells.iter().any(|cell| is_in(cell, needle))).collect();
        assert_eq!(is_found, [true, true, true, false]);
        let id = Value::from(Uuid::try_parse(channel).unwrap().as_bytes().to_vec());
        assert!(is_in(&id, &needles(&[channel.to_uppercase()])[0]), "in bytes, however it is asked for");
    }
}
