//! The source of a copy, which is only read.

use std::path::Path;
use std::sync::mpsc::SyncSender;

use super::endpoint::{Endpoint, Role};
use super::{CopyError, Portion};
use crate::db::copying::Table;
use crate::db::{Row, Tx, Value};
use crate::error::{Error, Result};
use crate::migrate::{self, History};
use crate::url::DatabaseUrl;

/// Rows that one statement reads: many enough that finding the first of them costs nothing, and few enough
/// that neither database sorts instead of going along the key.
const PAGE_ROWS: usize = 16_384;
/// Where a portion ends. Two of them are in memory, the one being written and the next, and a third is being
/// read.
const PORTION_ROWS: usize = 8192;
const PORTION_BYTES: usize = 8 << 20;

pub(super) fn open(url: &DatabaseUrl, ca_file: Option<&Path>) -> Result<Endpoint, CopyError> {
    // Opening a file makes it.
    if let DatabaseUrl::Sqlite(path) = url
        && !path.exists()
    {
        return Err(CopyError::Missing(url.clone()));
    }
    let mut source = Endpoint::open(url, ca_file, Role::Source)?;
    let history = source.read(|tx| {
        let is_ours = tx.tables()?.iter().any(|table| table.name == migrate::TABLE);
        if is_ours { migrate::history(tx).map(Some) } else { Ok(None) }
    })?;
    match history {
        Some(History::NEWEST) => Ok(source),
        Some(History::Unfinished) => Err(CopyError::Unfinished(source.url)),
        Some(History::Steps(_)) => Err(CopyError::Outdated(source.url)),
        None => Err(CopyError::NotOurs(source.url)),
    }
}

/// Makes sure that the source has the tables to be copied. The same migrations have created them, unless
/// somebody has interfered.
pub(super) fn check(source: &mut Endpoint, tables: &[Table]) -> Result<(), CopyError> {
    source.read(|tx| {
        let found = tx.tables()?;
        match tables.iter().find(|table| !found.contains(table)) {
            Some(odd) => Err(Error::corrupt(format!("the table {} is not as our migrations make it", odd.name))),
            None => Ok(()),
        }
    })
}

/// Reads every table, all from the same state, and hands over the rows.
pub(super) fn read_all(
    source: &mut Endpoint,
    tables: &[Table],
    portions: &SyncSender<Portion>,
) -> Result<(), CopyError> {
    let mut nul = None;
    let read = source.read(|tx| {
        for (index, table) in tables.iter().enumerate() {
            let mut reader = Reader { table, index, portions, cells: Vec::new(), n_bytes: 0, nul: None };
            let read = reader.read(tx);
            nul = reader.nul;
            read?;
        }
        Ok(())
    });
    match nul {
        Some((table, key)) => Err(CopyError::Nul { table, key }),
        None => read,
    }
}

struct Reader<'a> {
    table: &'a Table,
    index: usize,
    portions: &'a SyncSender<Portion>,
    /// The portion that is being filled.
    cells: Vec<Value>,
    n_bytes: usize,
    /// The table and the key of a row that cannot be copied.
    nul: Option<(String, String)>,
}

impl Reader<'_> {
    /// Goes along the primary key, page by page.
    fn read(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let Table { name, key, .. } = self.table;
        let (columns, key_list) = (self.table.column_list(), self.table.key_list());
        let (from, then) =
            (format!("select {columns} from \"{name}\""), format!("order by {key_list} limit {PAGE_ROWS}"));
        let placeholders: Vec<String> = (1..=key.len()).map(|n| format!("${n}")).collect();
        let next_page = format!("{from} where ({key_list}) > ({}) {then}", placeholders.join(", "));
        let mut sql = format!("{from} {then}");
        let mut after: Vec<Value> = Vec::new();
        loop {
            let (mut n_read, mut last) = (0, Vec::new());
            tx.for_each(&sql, &after, |row| {
                n_read += 1;
                if n_read == PAGE_ROWS {
                    last = key.iter().map(|column| row.get(*column)).collect::<Result<_>>()?;
                }
                self.take(row)
            })?;
            if n_read < PAGE_ROWS {
                return self.hand_over(true);
            }
            (sql, after) = (next_page.clone(), last);
        }
    }

    fn take(&mut self, row: &Row<'_>) -> Result<()> {
        let first = self.cells.len();
        for column in 0..self.table.columns.len() {
            let cell: Value = row.get(column)?;
            self.n_bytes += size_of::<Value>();
            match &cell {
                Value::Text(text) => self.n_bytes += text.len(),
                Value::Bytes(bytes) => self.n_bytes += bytes.len(),
                Value::Null | Value::Int(_) | Value::Real(_) => {}
            }
            self.cells.push(cell);
        }
        let row = &self.cells[first..];
        if row.iter().any(|cell| matches!(cell, Value::Text(text) if text.contains('\0'))) {
            self.nul = Some((self.table.name.clone(), key_of(self.table, row)));
            return Err(Error::corrupt("a text holds the character NUL"));
        }
        if self.n_bytes >= PORTION_BYTES || self.cells.len() >= PORTION_ROWS * self.table.columns.len() {
            self.hand_over(false)?;
        }
        Ok(())
    }

    fn hand_over(&mut self, is_last: bool) -> Result<()> {
        let cells = std::mem::take(&mut self.cells);
        self.n_bytes = 0;
        let sent = self.portions.send(Portion { table: self.index, cells, is_last });
        sent.map_err(|_| Error::unavailable("what was read could not be written"))
    }
}

/// The key by which a person finds the row.
fn key_of(table: &Table, row: &[Value]) -> String {
    let show = |cell: &Value| match cell {
        Value::Null => "null".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let cells = table.key.iter().map(|index| format!("{} = {}", table.columns[*index].name, show(&row[*index])));
    cells.collect::<Vec<_>>().join(", ")
}
