//! The log of an app, read once from its beginning for the records about a person.

use base::Result;
use devices::{empty_body, push_to_one_of};
use model::event::RecordKind;
use model::ids::{AppId, EventId, NamedUserId, Offset, Ordinal};
use model::privacy::Redaction;
use model::time::UtcMillis;
use serde::Deserialize;
use serde_json::{Value, json};
use store::counters::hour;
use store::log::{self, Record, Rewritten};
use store::privacy::Person;
use store::{Tx, seen_events};

/// Records in one transaction.
const RECORDS: u32 = 2_000;
/// An event without a time of its own is remembered in an hour around the one it has got.
const HOURS_AROUND: i64 = 1;

/// How far the log was read, and what was found.
pub(super) struct LogPortion {
    pub(super) n_found: u64,
    /// `None` at the end.
    pub(super) next: Option<Offset>,
}

/// What a record is to the person.
enum Relation {
    /// It is about the person: nothing of it stays.
    Theirs,
    /// It names the person, and is about something else. This is the body without the name.
    Naming(Vec<u8>),
    None,
}

/// Empties and cleans some records after an offset and up to another. A record that was emptied is about nobody, so that it is not
/// found again.
pub(super) fn erase_some(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    redaction: &Redaction,
    (after, until): (Offset, Offset),
) -> Result<LogPortion> {
    let records = log::after(tx, app, after, RECORDS)?;
    let (mut rewritten, mut seen) = (Vec::new(), Vec::new());
    for record in records.iter().filter(|record| record.offset <= until) {
        let (offset, n_bytes_before) = (record.offset, record.body.len());
        match relation(person, redaction, record) {
            Relation::Theirs => {
                seen.extend(seen_as(record));
                let (kind, body) = (RecordKind::Terms, empty_body()?);
                rewritten.push(Rewritten { offset, kind, is_emptied: true, n_bytes_before, body });
            }
            Relation::Naming(body) => {
                rewritten.push(Rewritten { offset, kind: record.kind, is_emptied: false, n_bytes_before, body });
            }
            Relation::None => {}
        }
    }
    let n_found = rewritten.len() as u64;
    log::rewrite(tx, app, rewritten)?;
    seen_events::forget(tx, app, &seen)?;
    Ok(LogPortion { n_found, next: next(&records, until) })
}

/// Writes some records about the person as lines of JSON.
pub(super) fn export_some(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    redaction: &Redaction,
    after: Offset,
    lines: &mut Vec<String>,
) -> Result<LogPortion> {
    let records = log::after(tx, app, after, RECORDS)?;
    let ordinals: Vec<Ordinal> = person.channels.iter().map(|channel| channel.ordinal).collect();
    let n_before = lines.len();
    for record in records.iter().filter(|record| record.offset <= person.head) {
        let told = match relation(person, redaction, record) {
            Relation::Theirs => json!({"event": serde_json::from_slice::<Value>(&record.body).unwrap_or_default()}),
            Relation::Naming(_) => json!({"named_in": ["body"]}),
            Relation::None if record.kind.is_of_many() => match push_to_one_of(&record.body, &ordinals)? {
                Some(push) => json!({"push_id": push.push_id}),
                None => continue,
            },
            Relation::None => continue,
        };
        let channel = person.channels.iter().find(|channel| Some(channel.ordinal) == record.ordinal);
        let mut line = json!({
            "table": "log", "position": record.offset.0, "at": record.at.to_api(), "type": name(record.kind),
            "channel_id": channel.map(|channel| channel.id.to_string()),
        });
        if let (Some(line), Value::Object(told)) = (line.as_object_mut(), told) {
            line.extend(told);
        }
        lines.push(line.to_string());
    }
    Ok(LogPortion { n_found: (lines.len() - n_before) as u64, next: next(&records, person.head) })
}

fn next(records: &[Record], until: Offset) -> Option<Offset> {
    let last = records.last().filter(|last| records.len() == RECORDS as usize && last.offset < until);
    last.map(|last| last.offset)
}

fn relation(person: &Person, redaction: &Redaction, record: &Record) -> Relation {
    if record.ordinal.is_some_and(|ordinal| person.owns(ordinal, record.offset)) {
        return Relation::Theirs;
    }
    // The others hold ordinals and numbers.
    if record.kind == RecordKind::Terms || record.kind.is_of_many() {
        return Relation::None;
    }
    match redaction.bytes(&record.body) {
        // An event about a named user who had no channel.
        Some(_) if record.ordinal.is_none() && is_about_user(person, record) => Relation::Theirs,
        Some(body) => Relation::Naming(body),
        None => Relation::None,
    }
}

/// Whether an event of a server is about the named user, and does not only mention them.
fn is_about_user(person: &Person, record: &Record) -> bool {
    #[derive(Deserialize)]
    struct OfCustomer {
        body: Customer,
    }
    #[derive(Deserialize)]
    struct Customer {
        customer_id: Option<String>,
    }
    let Ok(OfCustomer { body }) = serde_json::from_slice(&record.body) else { return false };
    record.kind == RecordKind::Custom
        && body.customer_id.is_some()
        && body.customer_id.as_deref() == person.named_user.as_ref().map(NamedUserId::as_str)
}

/// Where the event of a record is remembered, so that it can be recognized when it comes again.
fn seen_as(record: &Record) -> Vec<(i64, EventId)> {
    #[derive(Deserialize)]
    struct Identity {
        id: EventId,
        occurred: UtcMillis,
    }
    let Ok(Identity { id, occurred }) = serde_json::from_slice(&record.body) else { return Vec::new() };
    let hour = hour(occurred);
    (hour - HOURS_AROUND..=hour + HOURS_AROUND).map(|hour| (hour, id)).collect()
}

fn name(kind: RecordKind) -> String {
    kind.public_name().map_or_else(|| format!("{kind:?}").to_uppercase(), str::to_owned)
}
