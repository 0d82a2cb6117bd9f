//! The log of an app, read once from its beginning for the records about a person.

use std::collections::{BTreeMap, BTreeSet};

use base::Result;
use devices::{empty_body, is_about_only, push_to_one_of, redact_many};
use model::event::RecordKind;
use model::ids::{AppId, EventId, NamedUserId, Offset, Ordinal};
use model::privacy::Redaction;
use model::time::UtcMillis;
use serde::Deserialize;
use serde_json::{Value, json};
use store::counters::hour;
use store::log::{self, Record, Rewritten};
use store::privacy::{Found, Person};
use store::{Tx, seen_events, seen_uploads};

/// What one transaction reads.
const RECORDS: usize = 2_000;
const BYTES: i64 = 4 << 20;
/// An event is remembered by the time that it names itself, from which the one that it has got differs a little.
const HOURS_AROUND: i64 = 1;

/// Some records that were exported.
pub(super) struct ExportedRecords {
    pub(super) n_found: u64,
    /// Records that cannot be read, and were passed over.
    pub(super) n_unreadable: u64,
    /// `None` at the end.
    pub(super) next: Option<Offset>,
}

/// The names to look for.
pub(super) struct Names {
    /// In records of any kind.
    pub(super) everywhere: Redaction,
    /// In records of pushes to the person's channels.
    pub(super) of_theirs: Redaction,
}

/// What a record is to the person.
enum Relation {
    /// It is about the person: nothing of it stays.
    Theirs,
    /// It names the person, and is about something else. This is the body without the name.
    Naming(Vec<u8>),
    None,
}

/// The offsets of records about the person among some after an offset and up to another.
pub(super) fn search(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    names: &Names,
    range: (Offset, Offset),
) -> Result<Found> {
    let portion = log::portion(tx, app, range, (RECORDS, BYTES))?;
    let is_found = |record: &&Record| !matches!(relation(person, names, record), Relation::None);
    let keys = portion.records.iter().filter(is_found).map(|record| vec![record.offset.into()]).collect();
    Ok(Found { is_by_id: false, keys, next: portion.next.map(|next| vec![next.into()]) })
}

/// Empties and cleans records, as they are by now, and returns how many. A record that was emptied is about nobody, so that it is
/// not found again.
pub(super) fn erase(tx: &mut Tx<'_>, app: AppId, person: &Person, names: &Names, offsets: &[Offset]) -> Result<u64> {
    let (mut rewritten, mut seen) = (Vec::new(), Vec::new());
    let mut uploads: BTreeMap<Ordinal, BTreeSet<(i64, EventId)>> = BTreeMap::new();
    for record in log::all_at_offsets(tx, app, offsets)? {
        let (offset, n_bytes_before) = (record.offset, record.body.len());
        match relation(person, names, &record) {
            Relation::Theirs => {
                let seen_as = seen_as(&record);
                if let Some(channel) = record.ordinal {
                    uploads.entry(channel).or_default().extend(seen_as.iter().copied());
                    // Of an hour in which the channel has sent hundreds.
                    let channel = person.channels.iter().find(|of| of.ordinal == channel);
                    seen.extend(channel.iter().flat_map(|of| seen_as.iter().map(|(hour, id)| (*hour, id.on(of.id)))));
                }
                seen.extend(seen_as);
                let (emptied, body) = (Some(RecordKind::Terms), empty_body()?);
                rewritten.push(Rewritten { offset, emptied, n_bytes_before, body });
            }
            Relation::Naming(body) => rewritten.push(Rewritten { offset, emptied: None, n_bytes_before, body }),
            Relation::None => {}
        }
    }
    let n_found = rewritten.len() as u64;
    log::rewrite(tx, app, rewritten)?;
    seen_events::forget(tx, app, &seen)?;
    for (channel, events) in uploads {
        seen_uploads::forget(tx, app, channel, &events)?;
    }
    Ok(n_found)
}

/// Writes some records about the person as lines of JSON.
pub(super) fn export_some(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    names: &Names,
    after: Offset,
    lines: &mut Vec<String>,
) -> Result<ExportedRecords> {
    let portion = log::portion(tx, app, (after, person.head), (RECORDS, BYTES))?;
    let ordinals = ordinals(person);
    let (n_before, mut n_unreadable) = (lines.len(), portion.n_unknown);
    for record in &portion.records {
        let pushed = if record.kind.is_of_many() { push_to_one_of(&record.body, &ordinals) } else { Ok(None) };
        let told = match (relation(person, names, record), pushed) {
            (_, Err(_)) => {
                n_unreadable += 1;
                continue;
            }
            (_, Ok(Some(push))) => json!({"push_id": push.push_id}),
            (Relation::Theirs, _) => {
                json!({"event": serde_json::from_slice::<Value>(&record.body).unwrap_or_default()})
            }
            (Relation::Naming(_), _) => json!({"named_in": ["body"]}),
            (Relation::None, _) => continue,
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
    Ok(ExportedRecords { n_found: (lines.len() - n_before) as u64, n_unreadable, next: portion.next })
}

fn ordinals(person: &Person) -> Vec<Ordinal> {
    person.channels.iter().map(|channel| channel.ordinal).collect()
}

fn relation(person: &Person, names: &Names, record: &Record) -> Relation {
    if record.ordinal.is_some_and(|ordinal| person.owns(ordinal, record.offset)) {
        return Relation::Theirs;
    }
    // It holds ordinals and numbers.
    if record.kind == RecordKind::Terms {
        return Relation::None;
    }
    // A message over live connections may have been filled in for the person.
    if record.kind == RecordKind::Live && is_about_only(&record.body, &ordinals(person)).unwrap_or(false) {
        return Relation::Theirs;
    }
    if record.kind.is_of_many() {
        return relation_of_many(person, names, record);
    }
    match names.everywhere.bytes(&record.body) {
        // An event about a named user who had no channel.
        Some(_) if record.ordinal.is_none() && is_about_user(person, record) => Relation::Theirs,
        Some(body) => Relation::Naming(body),
        None if is_unreadable(record) && names.everywhere.is_in(&record.body) => Relation::Theirs,
        None => Relation::None,
    }
}

/// Whether a record has a form that another version gave it.
fn is_unreadable(record: &Record) -> bool {
    record.kind == RecordKind::Unrecognized && std::str::from_utf8(&record.body).is_err()
}

fn relation_of_many(person: &Person, names: &Names, record: &Record) -> Relation {
    let (kind, body) = (record.kind, record.body.as_slice());
    // Both sets of names are the same, or the first is empty.
    if !names.of_theirs.may_be_in(body) {
        return Relation::None;
    }
    let is_theirs = push_to_one_of(body, &ordinals(person)).map(|push| push.is_some());
    let redaction = if is_theirs.unwrap_or(true) { &names.of_theirs } else { &names.everywhere };
    match redact_many(kind, body, redaction) {
        Ok(cleaned) => cleaned.map_or(Relation::None, Relation::Naming),
        // Nobody can read it, but a search of the bytes finds the name.
        Err(_) if redaction.is_in(body) => Relation::Theirs,
        Err(_) => Relation::None,
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
    // That of a device without a time of its own is remembered under a span.
    let hours = (hour - HOURS_AROUND..=hour + HOURS_AROUND).chain([seen_events::span(hour)]);
    hours.map(|hour| (hour, id)).collect()
}

fn name(kind: RecordKind) -> String {
    kind.public_name().map_or_else(|| format!("{kind:?}").to_uppercase(), str::to_owned)
}
