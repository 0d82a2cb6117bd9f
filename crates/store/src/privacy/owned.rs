//! Rows that are found by an id of the person: deleting them, and writing them as lines of JSON.

use model::ids::AppId;
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use super::plan::{By, Finder};
use super::{Person, RequestKind, Work};
use crate::db::copying::Table;
use crate::{Result, Row, Tx, Value, terms};

pub(super) const BY_ORDINAL: &[Finder] = &[Finder { by: By::Ordinal, condition: "ordinal = $2" }];
pub(super) const SANDBOX: &[Finder] = &[Finder { by: By::Channel, condition: "channel = $2" }];
pub(super) const INBOXES: &[Finder] = &[Finder { by: By::InboxUser, condition: "id = $2" }];

pub(super) fn delete(tx: &mut Tx<'_>, work: &Work<'_>, table: &str, finders: &[Finder]) -> Result<u64> {
    let mut n_deleted = 0;
    for (condition, value) in wanted(work.person, finders) {
        let sql = format!("delete from {table} where app = $1 and {condition}");
        n_deleted += tx.execute(&sql, &[work.app.into(), value])?;
    }
    Ok(n_deleted)
}

/// As [`delete`], by one kind of value only.
pub(super) fn delete_by(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    by: By,
    table: &str,
    finders: &[Finder],
) -> Result<()> {
    for finder in finders.iter().filter(|finder| finder.by == by) {
        for value in person.values(by) {
            let sql = format!("delete from {table} where app = $1 and {}", finder.condition);
            tx.execute(&sql, &[app.into(), value])?;
        }
    }
    Ok(())
}

pub(super) fn count(tx: &mut Tx<'_>, app: AppId, person: &Person, table: &str, finders: &[Finder]) -> Result<u64> {
    let mut n_rows = 0;
    for (condition, value) in wanted(person, finders) {
        let sql = format!("select count(*) from {table} where app = $1 and {condition}");
        n_rows += tx.query_one::<u64>(&sql, &[app.into(), value], |row| row.get(0))?;
    }
    Ok(n_rows)
}

pub(super) fn export(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    table: &str,
    finders: &[Finder],
    lines: &mut Vec<String>,
) -> Result<()> {
    let table = work.catalog.table(table)?;
    for (condition, value) in wanted(work.person, finders) {
        let sql = format!("select {} from {} where app = $1 and {condition}", table.column_list(), table.name);
        let rows = tx.query(&sql, &[work.app.into(), value], |row| cells(table, row))?;
        for row in rows {
            lines.push(line(tx, work.app, table, row)?);
        }
    }
    Ok(())
}

/// Deletes exports that were made of the person, and lets those that are under way end.
pub(super) fn delete_exports(tx: &mut Tx<'_>, work: &Work<'_>) -> Result<u64> {
    let mut n_deleted = 0;
    for request in super::all(tx, work.app)? {
        let names = |text: &Option<String>| text.as_deref().is_some_and(|text| work.redaction.json(text).is_some());
        if request.kind == RequestKind::Export && (names(&request.subject) || names(&request.person)) {
            super::delete(tx, work.app, request.id)?;
            n_deleted += 1;
        }
    }
    Ok(n_deleted)
}

fn wanted<'f>(person: &Person, finders: &'f [Finder]) -> Vec<(&'f str, Value)> {
    let values = |finder: &'f Finder| person.values(finder.by).into_iter().map(|value| (finder.condition, value));
    finders.iter().flat_map(values).collect()
}

pub(super) fn cells(table: &Table, row: &Row<'_>) -> Result<Vec<Value>> {
    (0..table.columns.len()).map(|column| row.get(column)).collect()
}

/// A row as a line of JSON, with the names of its columns.
pub(super) fn line(tx: &mut Tx<'_>, app: AppId, table: &Table, row: Vec<Value>) -> Result<String> {
    let mut fields = Map::new();
    fields.insert("table".to_owned(), Json::from(table.name.as_str()));
    for (column, cell) in table.columns.iter().zip(row) {
        let shown = match (column.name.as_str(), &cell) {
            ("app", _) => continue,
            ("terms", Value::Bytes(held)) => tags(tx, app, held)?,
            _ => shown(&cell),
        };
        fields.insert(column.name.clone(), shown);
    }
    Ok(Json::Object(fields).to_string())
}

/// The terms that a row holds, by their groups and names.
fn tags(tx: &mut Tx<'_>, app: AppId, held: &[u8]) -> Result<Json> {
    let mut named = Vec::new();
    for id in terms::decode(held)? {
        if let Some(term) = terms::find_name(tx, app, id)? {
            let (group, tag) = term.key();
            named.push(json!({"group": group, "tag": tag}));
        }
    }
    Ok(Json::Array(named))
}

/// Bytes are ids, JSON, or something that only this program reads, which is written in hexadecimal digits.
pub(super) fn shown(cell: &Value) -> Json {
    match cell {
        Value::Null => Json::Null,
        Value::Int(number) => Json::from(*number),
        Value::Real(number) => Json::from(*number),
        Value::Text(text) => nested(text.as_bytes()).unwrap_or_else(|| Json::from(text.as_str())),
        Value::Bytes(bytes) => match Uuid::from_slice(bytes) {
            Ok(id) => Json::from(id.to_string()),
            Err(_) => nested(bytes)
                .or_else(|| std::str::from_utf8(bytes).ok().map(Json::from))
                .unwrap_or_else(|| Json::from(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())),
        },
    }
}

fn nested(bytes: &[u8]) -> Option<Json> {
    let is_nested = matches!(bytes.first(), Some(b'{' | b'['));
    is_nested.then(|| serde_json::from_slice(bytes).ok()).flatten()
}
