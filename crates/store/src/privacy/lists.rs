//! The rows of uploaded lists that name the person. The key of the table begins with the list, so every upload is asked for them.

use model::ids::AppId;
use model::privacy::Identifier;
use model::static_list::Member;
use serde_json::json;

use super::{After, Person, PersonUpload, RequestKind, Work};
use crate::lists::{Member as Row, Upload, UploadNumber, among};
use crate::{Error, Result, Tx, Value};

/// Uploads in one transaction.
const UPLOADS: usize = 100;

/// Deletes the rows that mean the person from all uploads. There are few uploads, and each is asked by the keys of such rows.
pub fn delete_list_rows(tx: &mut Tx<'_>, app: AppId, person: &Person) -> Result<u64> {
    let (mut n_deleted, mut after) = (0, None);
    loop {
        let (keys, next) = search(tx, app, person, after.as_ref())?;
        n_deleted += delete(tx, app, &keys)?;
        after = next;
        if after.is_none() {
            return Ok(n_deleted);
        }
    }
}

/// The rows of an upload without those that mean a person who is being erased, if the upload had begun before the person was looked
/// up: it comes from a file of that time. An upload that begins later may name the person, who starts afresh.
pub fn without_erased(tx: &mut Tx<'_>, app: AppId, upload: Upload<'_>, mut rows: Vec<Row>) -> Result<Vec<Row>> {
    for request in super::all(tx, app)? {
        let is_running = request.kind == RequestKind::Erase && request.ended.is_none();
        let Some(person) = request.person.filter(|_| is_running) else { continue };
        let person: Person = serde_json::from_str(&person).map_err(|_| Error::corrupt("a person who is erased"))?;
        let is_older = |begun: &PersonUpload| begun.list == upload.list && begun.number == upload.number;
        if person.uploads.iter().any(is_older) {
            let erased = rows_of(&person);
            rows.retain(|row| !erased.contains(row));
        }
    }
    Ok(rows)
}

/// The keys of rows that mean the person.
pub(super) fn search(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    after: Option<&After>,
) -> Result<(Vec<After>, Option<After>)> {
    let mut found = Vec::new();
    let next = for_some(tx, app, person, after, |upload, rows| {
        let start = [Value::from(upload.list), Value::from(upload.number.0)];
        found.extend(rows.into_iter().map(|row| {
            let [list, number] = start.clone();
            vec![list, number, Value::from(row.kind), Value::from(row.identifier)]
        }));
    })?;
    Ok((found, next))
}

pub(super) fn delete(tx: &mut Tx<'_>, app: AppId, keys: &[After]) -> Result<u64> {
    let sql =
        "delete from list_member where app = $1 and list = $2 and generation = $3 and kind = $4 and identifier = $5";
    tx.execute_many(sql, keys.iter().map(|key| [std::slice::from_ref(&app.into()), key].concat()))
}

pub(super) fn export_some(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    after: Option<&After>,
    lines: &mut Vec<String>,
) -> Result<Option<After>> {
    for_some(tx, work.app, work.person, after, |upload, rows| {
        let line = |row: &Row| {
            let (list, number) = (upload.list, upload.number.0);
            json!({"table": "list_member", "list": list, "generation": number, "type": row.kind, "identifier": row.identifier})
        };
        lines.extend(rows.iter().map(|row| line(row).to_string()));
    })
}

/// Visits the rows of the person in some uploads.
fn for_some(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    after: Option<&After>,
    mut visit: impl FnMut(Upload<'_>, Vec<Row>),
) -> Result<Option<After>> {
    let wanted = rows_of(person);
    // No list has an empty name.
    let mut after = after.cloned().unwrap_or_else(|| vec![Value::from(""), Value::from(0)]);
    for _ in 0..UPLOADS {
        let sql = "select list, generation from list_member
                   where app = $1 and (list, generation) > ($2, $3) order by list, generation limit 1";
        let [list, number] = [after[0].clone(), after[1].clone()];
        let next = tx.query_opt(sql, &[app.into(), list, number], |row| Ok((row.next()?, row.next()?)))?;
        let Some((list, number)): Option<(String, i64)> = next else { return Ok(None) };
        let upload = Upload { list: &list, number: UploadNumber(number) };
        visit(upload, among(tx, app, upload, &wanted)?);
        after = vec![Value::from(list.as_str()), Value::from(number)];
    }
    Ok(Some(after))
}

/// The rows that mean the person, of whichever type.
fn rows_of(person: &Person) -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Member::TYPES {
        let identifiers: Vec<String> = match kind {
            "named_user" => person.named_user.iter().map(|user| user.as_str().to_owned()).collect(),
            "alias" => person.identifiers.iter().map(Identifier::as_str).map(str::to_owned).collect(),
            _ => person.channels.iter().map(|channel| channel.id.to_string()).collect(),
        };
        rows.extend(identifiers.into_iter().map(|identifier| Row { kind: kind.to_owned(), identifier }));
    }
    rows
}
