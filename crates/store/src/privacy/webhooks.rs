//! Dead letters and requests of webhooks that are about the person.

use std::collections::BTreeSet;

use model::event::EventOffset;
use model::ids::{Offset, WebhookId};

use super::cleaning::Walked;
use super::owned::{cells, line};
use super::plan::{Cleaned, Written};
use super::{After, Work};
use crate::{Result, Tx, Value, log, webhooks};

const LETTERS: &str = "webhook_dead_letter";
const HISTORY: &str = "webhook_history";
const LETTER_COLUMNS: Cleaned = Cleaned { columns: &["body"], written: Written::Unknown };
const HISTORY_COLUMNS: Cleaned = Cleaned { columns: &["event_offset", "error"], written: Written::Unknown };

pub(super) fn search_letters(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    after: Option<&After>,
) -> Result<(Vec<After>, Option<After>)> {
    let walked = Walked::read(tx, work, LETTERS, LETTER_COLUMNS, after)?;
    Ok((letters(tx, work, &walked)?, walked.next))
}

/// Deletes those of some letters that are still about the person.
pub(super) fn delete_letters(tx: &mut Tx<'_>, work: &Work<'_>, keys: &[After]) -> Result<u64> {
    let walked = Walked::at(tx, work, LETTERS, LETTER_COLUMNS, keys)?;
    let found = letters(tx, work, &walked)?;
    for key in &found {
        if let [Value::Bytes(webhook), Value::Int(offset)] = key.as_slice()
            && let Ok(webhook) = uuid::Uuid::from_slice(webhook)
        {
            let offset = EventOffset::from_number(*offset);
            webhooks::remove_dead_letter(tx, work.app, WebhookId::from_uuid(webhook), offset)?;
        }
    }
    Ok(found.len() as u64)
}

pub(super) fn export_some_letters(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    after: Option<&After>,
    lines: &mut Vec<String>,
) -> Result<Option<After>> {
    let (found, next) = search_letters(tx, work, after)?;
    export(tx, work, LETTERS, "webhook = $2 and event_offset = $3", found, lines)?;
    Ok(next)
}

/// The keys of letters about the person's channels, and of others that name the person, of events up to where the log was: an event
/// is shown with its channel and user.
fn letters(tx: &mut Tx<'_>, work: &Work<'_>, walked: &Walked) -> Result<Vec<After>> {
    let record = |row: &Vec<Value>| match row.as_slice() {
        [_, Value::Int(offset), ..] => Some(EventOffset::from_number(*offset).record()),
        _ => None,
    };
    let theirs = theirs(tx, work, walked.rows.iter().filter_map(record).collect())?;
    let is_named = |row: &Vec<Value>| match row.as_slice() {
        [_, _, Value::Bytes(body)] => work.redaction.bytes(body).is_some(),
        _ => false,
    };
    let is_found = |row: &&Vec<Value>| {
        record(row).is_some_and(|record| theirs.contains(&record) || record <= work.person.head && is_named(row))
    };
    Ok(walked.rows.iter().filter(is_found).map(|row| row[..walked.n_key].to_vec()).collect())
}

pub(super) fn search_history(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    after: Option<&After>,
) -> Result<(Vec<After>, Option<After>)> {
    let walked = Walked::read(tx, work, HISTORY, HISTORY_COLUMNS, after)?;
    Ok((history(tx, work, &walked)?, walked.next))
}

/// Deletes those of some requests that are still about the person.
pub(super) fn delete_history(tx: &mut Tx<'_>, work: &Work<'_>, keys: &[After]) -> Result<u64> {
    let walked = Walked::at(tx, work, HISTORY, HISTORY_COLUMNS, keys)?;
    let found = history(tx, work, &walked)?;
    let sql = "delete from webhook_history where app = $1 and webhook = $2 and n = $3";
    tx.execute_many(sql, found.into_iter().map(|key| [vec![work.app.into()], key].concat()))
}

pub(super) fn export_some_history(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    after: Option<&After>,
    lines: &mut Vec<String>,
) -> Result<Option<After>> {
    let (found, next) = search_history(tx, work, after)?;
    export(tx, work, HISTORY, "webhook = $2 and n = $3", found, lines)?;
    Ok(next)
}

/// The keys of requests whose event is in a record about the person, or whose error names the person.
fn history(tx: &mut Tx<'_>, work: &Work<'_>, walked: &Walked) -> Result<Vec<After>> {
    let record = |row: &[Value]| match row[walked.n_key] {
        Value::Int(offset) => Some(EventOffset::from_number(offset).record()),
        _ => None,
    };
    let theirs = theirs(tx, work, walked.rows.iter().filter_map(|row| record(row)).collect())?;
    let is_named = |row: &[Value]| match row.last() {
        Some(Value::Text(error)) => work.redaction.text(error).is_some(),
        Some(_) | None => false,
    };
    let is_theirs = |row: &[Value]| record(row).is_some_and(|record| theirs.contains(&record)) || is_named(row);
    Ok(walked.rows.iter().filter(|row| is_theirs(row)).map(|row| row[..walked.n_key].to_vec()).collect())
}

/// Those of some records of the log that are about the person's channels.
fn theirs(tx: &mut Tx<'_>, work: &Work<'_>, records: BTreeSet<Offset>) -> Result<BTreeSet<Offset>> {
    let found = log::ordinals_at(tx, work.app, records)?.into_iter();
    let theirs = found.filter(|(at, ordinal)| ordinal.is_some_and(|ordinal| work.person.owns(ordinal, *at)));
    Ok(theirs.map(|(at, _)| at).collect())
}

fn export(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    table: &str,
    condition: &str,
    keys: Vec<After>,
    lines: &mut Vec<String>,
) -> Result<()> {
    let table = work.catalog.table(table)?;
    let sql = format!("select {} from {} where app = $1 and {condition}", table.column_list(), table.name);
    let keys = keys.into_iter().map(|key| [vec![work.app.into()], key].concat());
    for row in tx.query_many(&sql, keys, |row| cells(table, row))? {
        lines.push(line(tx, work.app, table, row)?);
    }
    Ok(())
}
