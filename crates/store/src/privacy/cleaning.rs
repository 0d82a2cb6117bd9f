//! Rows that may name the person among others: all rows of a table are read along its key, and the names in them replaced.

use serde_json::json;

use super::owned::shown;
use super::plan::{Cleaned, Written};
use super::{After, Work};
use crate::db::copying::{ColumnKind, Table, TableColumn};
use crate::{Result, Tx, Value};

/// Faces, of which those up to the end of the log are meant.
pub(super) const FACES: Cleaned = Cleaned { columns: &["body"], written: Written::UpTo("until") };

/// Configuration objects.
pub(super) const DOCUMENTS: Cleaned = Cleaned { columns: &["body"], written: Written::Unknown };

/// Deliveries to others.
pub(super) const SANDBOX: Cleaned = Cleaned { columns: &["request"], written: Written::At("at") };

/// What one transaction reads: some columns are large. The first row is read however large it is.
const ROWS: usize = 500;
const BYTES: i64 = 4 << 20;

/// The keys of rows that name the person.
pub(super) fn search(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    table: &str,
    cleaned: Cleaned,
    after: Option<&After>,
) -> Result<(Vec<After>, Option<After>)> {
    let walked = Walked::read(tx, work, table, cleaned, after)?;
    let (n_key, mut found) = (walked.n_key, walked.rows);
    found.retain(|row| row[n_key..].iter().any(|cell| clean_cell(work, cell).is_some()));
    found.iter_mut().for_each(|row| row.truncate(n_key));
    Ok((found, walked.next))
}

/// Replaces the names in rows, as the rows are by now. Returns how many still had one.
pub(super) fn clean(tx: &mut Tx<'_>, work: &Work<'_>, table: &str, cleaned: Cleaned, keys: &[After]) -> Result<u64> {
    Ok(clean_rows(tx, work, table, cleaned, keys)?.len() as u64)
}

/// As [`clean`], with the keys of these rows.
pub(super) fn clean_rows(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    table: &str,
    cleaned: Cleaned,
    keys: &[After],
) -> Result<Vec<After>> {
    let walked = Walked::at(tx, work, table, cleaned, keys)?;
    let mut found = Vec::new();
    for row in &walked.rows {
        let (key, cells) = row.split_at(walked.n_key);
        let clean: Vec<Option<Value>> = cells.iter().map(|cell| clean_cell(work, cell)).collect();
        if clean.iter().all(Option::is_none) {
            continue;
        }
        found.push(key.to_vec());
        let mut params = vec![work.app.into()];
        params.extend(key.iter().cloned());
        let mut changes = Vec::new();
        for (column, cell) in cleaned.columns.iter().zip(clean) {
            if let Some(cell) = cell {
                params.push(cell);
                changes.push(format!("{column} = ${}", params.len()));
            }
        }
        let condition = condition(&key_after_app(work.catalog.table(table)?));
        let sql = format!("update {table} set {} where app = $1 and {condition}", changes.join(", "));
        tx.execute(&sql, &params)?;
    }
    Ok(found)
}

/// Tells which rows name the person, by their keys and columns. What else such a row holds may be about others.
pub(super) fn tell_some(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    table: &str,
    cleaned: Cleaned,
    after: Option<&After>,
    lines: &mut Vec<String>,
) -> Result<Option<After>> {
    let walked = Walked::read(tx, work, table, cleaned, after)?;
    for row in &walked.rows {
        let (key, cells) = row.split_at(walked.n_key);
        let named_in = cleaned.columns.iter().zip(cells).filter(|(_, cell)| clean_cell(work, cell).is_some());
        let named_in: Vec<&str> = named_in.map(|(column, _)| *column).collect();
        if !named_in.is_empty() {
            let key: Vec<_> = key.iter().map(shown).collect();
            lines.push(json!({"table": table, "key": key, "named_in": named_in}).to_string());
        }
    }
    Ok(walked.next)
}

fn clean_cell(work: &Work<'_>, cell: &Value) -> Option<Value> {
    match cell {
        Value::Null | Value::Int(_) | Value::Real(_) => None,
        Value::Text(text) => work.redaction.json(text).map(Value::from),
        Value::Bytes(bytes) => work.redaction.bytes(bytes).map(Value::from),
    }
}

/// Some rows in the order of their key, each with its key first.
pub(super) struct Walked {
    pub(super) rows: Vec<Vec<Value>>,
    pub(super) n_key: usize,
    /// The key of the last row, if there may be more.
    pub(super) next: Option<After>,
}

impl Walked {
    pub(super) fn read(
        tx: &mut Tx<'_>,
        work: &Work<'_>,
        table: &str,
        cleaned: Cleaned,
        after: Option<&After>,
    ) -> Result<Self> {
        let known = work.catalog.table(table)?;
        let keys = key_after_app(known);
        let mut params = vec![work.app.into()];
        let mut narrow = String::new();
        if let Some(after) = after {
            params.extend(after.iter().cloned());
            let placeholders: Vec<String> = (2..=params.len()).map(|n| format!("${n}")).collect();
            narrow = format!("and ({}) > ({})", keys.join(", "), placeholders.join(", "));
        }
        let newest = match cleaned.written {
            Written::At(column) => Some((column, work.person.asked.into())),
            Written::UpTo(column) => Some((column, work.person.head.into())),
            Written::Unknown => None,
        };
        if let Some((column, newest)) = newest {
            params.push(newest);
            narrow += &format!(" and {column} <= ${}", params.len());
        }
        let (key, columns) = (keys.join(", "), cleaned.columns.join(", "));
        let rest = format!("from {table} where app = $1 {narrow} order by {key}");
        let sizes = format!("select {} {rest} limit {ROWS}", size(known, cleaned));
        let sizes: Vec<i64> = tx.query(&sizes, &params, |row| row.get(0))?;
        let n_rows = rows_within(&sizes, BYTES);
        let n_cells = keys.len() + cleaned.columns.len();
        let sql = format!("select {key}, {columns} {rest} limit {n_rows}");
        let rows: Vec<Vec<Value>> =
            tx.query(&sql, &params, |row| (0..n_cells).map(|index| row.get(index)).collect())?;
        let is_more = sizes.len() == ROWS || n_rows < sizes.len();
        let next = rows.last().filter(|_| is_more).map(|last| last[..keys.len()].to_vec());
        Ok(Self { rows, n_key: keys.len(), next })
    }

    /// The rows with some keys, as far as they are still there.
    pub(super) fn at(
        tx: &mut Tx<'_>,
        work: &Work<'_>,
        table: &str,
        cleaned: Cleaned,
        wanted: &[After],
    ) -> Result<Self> {
        let keys = key_after_app(work.catalog.table(table)?);
        let (key, columns, condition) = (keys.join(", "), cleaned.columns.join(", "), condition(&keys));
        let sql = format!("select {key}, {columns} from {table} where app = $1 and {condition}");
        let n_cells = keys.len() + cleaned.columns.len();
        let params = wanted.iter().map(|key| [std::slice::from_ref(&work.app.into()), key].concat());
        let rows = tx.query_many(&sql, params, |row| (0..n_cells).map(|index| row.get(index)).collect())?;
        Ok(Self { rows, n_key: keys.len(), next: None })
    }
}

/// How many of the first rows have a size together.
pub(crate) fn rows_within(sizes: &[i64], most: i64) -> usize {
    let mut total = 0_i64;
    let fits = |size: &&i64| {
        total = total.saturating_add(**size);
        total <= most
    };
    sizes.iter().take_while(fits).count().max(1)
}

/// The size of the texts and bytes in some columns, which both databases know without reading them.
fn size(table: &Table, cleaned: Cleaned) -> String {
    let is_read = |column: &&TableColumn| cleaned.columns.contains(&column.name.as_str());
    let is_large = |column: &&TableColumn| matches!(column.kind, ColumnKind::Text | ColumnKind::Bytes);
    let large = table.columns.iter().filter(is_read).filter(is_large);
    let sizes: Vec<String> = large.map(|column| format!("coalesce(octet_length({}), 0)", column.name)).collect();
    format!("cast({} as bigint)", if sizes.is_empty() { "0".to_owned() } else { sizes.join(" + ") })
}

/// Where a row has a key.
fn condition(keys: &[&str]) -> String {
    let conditions: Vec<String> = keys.iter().zip(2..).map(|(key, n)| format!("{key} = ${n}")).collect();
    conditions.join(" and ")
}

/// The columns of the primary key after the app.
fn key_after_app(table: &Table) -> Vec<&str> {
    let names = table.key.iter().map(|index| table.columns[*index].name.as_str());
    names.filter(|name| *name != "app").collect()
}
