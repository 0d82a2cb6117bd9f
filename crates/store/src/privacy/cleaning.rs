//! Rows that may name the person among others: all rows of a table are read along its key, and the names in them replaced.

use serde_json::json;

use super::owned::shown;
use super::plan::{Cleaned, Written};
use super::{After, Portion, Work};
use crate::db::copying::Table;
use crate::{Result, Tx, Value};

/// Faces, of which those up to the end of the log are meant.
pub(super) const FACES: Cleaned = Cleaned { columns: &["body"], written: Written::UpTo("until") };

/// Deliveries to others.
pub(super) const SANDBOX: Cleaned = Cleaned { columns: &["request"], written: Written::At("at") };

/// Some columns are large.
const ROWS: usize = 500;

pub(super) fn clean_some(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    table: &str,
    cleaned: Cleaned,
    after: Option<&After>,
) -> Result<Portion> {
    let walked = Walked::read(tx, work, table, cleaned, after)?;
    let mut n_found = 0;
    for row in &walked.rows {
        let (key, cells) = row.split_at(walked.n_key);
        let clean: Vec<Option<Value>> = cells.iter().map(|cell| clean_cell(work, cell)).collect();
        if clean.iter().all(Option::is_none) {
            continue;
        }
        n_found += 1;
        let mut params = vec![work.app.into()];
        params.extend(key.iter().cloned());
        let mut changes = Vec::new();
        for (column, cell) in cleaned.columns.iter().zip(clean) {
            if let Some(cell) = cell {
                params.push(cell);
                changes.push(format!("{column} = ${}", params.len()));
            }
        }
        let sql = format!("update {table} set {} where app = $1 and {}", changes.join(", "), walked.key_condition);
        tx.execute(&sql, &params)?;
    }
    Ok(Portion { n_found, next: walked.next() })
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
    Ok(walked.next())
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
    key_condition: String,
}

impl Walked {
    pub(super) fn read(
        tx: &mut Tx<'_>,
        work: &Work<'_>,
        table: &str,
        cleaned: Cleaned,
        after: Option<&After>,
    ) -> Result<Self> {
        let keys = key_after_app(work.catalog.table(table)?);
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
        let sql = format!("select {key}, {columns} from {table} where app = $1 {narrow} order by {key} limit {ROWS}");
        let n_cells = keys.len() + cleaned.columns.len();
        let rows = tx.query(&sql, &params, |row| (0..n_cells).map(|index| row.get(index)).collect())?;
        let conditions: Vec<String> = keys.iter().zip(2..).map(|(key, n)| format!("{key} = ${n}")).collect();
        Ok(Self { rows, n_key: keys.len(), key_condition: conditions.join(" and ") })
    }

    /// The key of the last row, if there may be more.
    pub(super) fn next(&self) -> Option<After> {
        let last = self.rows.last().filter(|_| self.rows.len() == ROWS)?;
        Some(last[..self.n_key].to_vec())
    }
}

/// The columns of the primary key after the app.
fn key_after_app(table: &Table) -> Vec<&str> {
    let names = table.key.iter().map(|index| table.columns[*index].name.as_str());
    names.filter(|name| *name != "app").collect()
}
