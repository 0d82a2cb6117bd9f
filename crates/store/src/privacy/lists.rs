//! The rows of uploaded lists that name the person. The key of the table begins with the list, so every upload is asked for them.

use model::privacy::Identifier;
use model::static_list::Member;
use serde_json::json;

use super::{After, Portion, Work};
use crate::lists::{Member as Row, Upload, UploadNumber, among, delete};
use crate::{Result, Tx, Value};

/// Uploads in one transaction.
const UPLOADS: usize = 100;

pub(super) fn delete_some(tx: &mut Tx<'_>, work: &Work<'_>, after: Option<&After>) -> Result<Portion> {
    let mut n_found = 0;
    let next = for_some(tx, work, after, |tx, upload, rows| {
        n_found += rows.len() as u64;
        delete(tx, work.app, upload, &rows)
    })?;
    Ok(Portion { n_found, next })
}

pub(super) fn export_some(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    after: Option<&After>,
    lines: &mut Vec<String>,
) -> Result<Option<After>> {
    for_some(tx, work, after, |_, upload, rows| {
        let line = |row: &Row| {
            let (list, number) = (upload.list, upload.number.0);
            json!({"table": "list_member", "list": list, "generation": number, "type": row.kind, "identifier": row.identifier})
        };
        lines.extend(rows.iter().map(|row| line(row).to_string()));
        Ok(())
    })
}

/// Visits the rows of the person in some uploads.
fn for_some(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    after: Option<&After>,
    mut visit: impl FnMut(&mut Tx<'_>, Upload<'_>, Vec<Row>) -> Result<()>,
) -> Result<Option<After>> {
    let wanted = rows_of(work);
    // No list has an empty name.
    let mut after = after.cloned().unwrap_or_else(|| vec![Value::from(""), Value::from(0)]);
    for _ in 0..UPLOADS {
        let sql = "select list, generation from list_member
                   where app = $1 and (list, generation) > ($2, $3) order by list, generation limit 1";
        let [list, number] = [after[0].clone(), after[1].clone()];
        let next = tx.query_opt(sql, &[work.app.into(), list, number], |row| Ok((row.next()?, row.next()?)))?;
        let Some((list, number)): Option<(String, i64)> = next else { return Ok(None) };
        let upload = Upload { list: &list, number: UploadNumber(number) };
        let found = among(tx, work.app, upload, &wanted)?;
        visit(tx, upload, found)?;
        after = vec![Value::from(list.as_str()), Value::from(number)];
    }
    Ok(Some(after))
}

/// The rows that mean the person, of whichever type.
fn rows_of(work: &Work<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Member::TYPES {
        let identifiers: Vec<String> = match kind {
            "named_user" => work.person.named_user.iter().map(|user| user.as_str().to_owned()).collect(),
            "alias" => work.person.identifiers.iter().map(Identifier::as_str).map(str::to_owned).collect(),
            _ => work.person.channels.iter().map(|channel| channel.id.to_string()).collect(),
        };
        rows.extend(identifiers.into_iter().map(|identifier| Row { kind: kind.to_owned(), identifier }));
    }
    rows
}
