//! Shows webhooks, their history and their dead letters to people.

use anyhow::Result;
use serde::Deserialize;

use crate::client::Reply;
use crate::output::{self, COUNT, ID, MOMENT, NAME, TEXT};

#[derive(Deserialize)]
struct One {
    webhook: Shown,
}

#[derive(Deserialize)]
struct All {
    webhooks: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    webhook_id: String,
    /// Absent, like the following fields, if the configuration cannot be read.
    #[serde(default)]
    name: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    types: Vec<String>,
    #[serde(default)]
    has_authorization: bool,
    #[serde(default)]
    headers: Vec<String>,
    batch_size: Option<u32>,
    state: String,
    reason: Option<String>,
    nothing_taken_since: Option<String>,
    offset: String,
    delivered: i64,
    failed_attempts: i64,
    dead_letters: i64,
    given_up: i64,
    missed_records: i64,
    last_delivered: Option<String>,
    records_behind: i64,
    seconds_behind: i64,
}

#[derive(Deserialize)]
struct History {
    attempts: Vec<Entry>,
}

/// A request, or a gap of some records, which has no event.
#[derive(Deserialize)]
struct Entry {
    at: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    offset: String,
    attempt: Option<u32>,
    milliseconds: Option<u32>,
    missed_records: Option<u64>,
    status: Option<u32>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Letters {
    dead_letters: Vec<Letter>,
    after: Option<String>,
}

#[derive(Deserialize)]
struct Letter {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    offset: String,
    given_up: String,
    attempts: u32,
    reason: String,
}

#[derive(Deserialize)]
struct Proof {
    status: u16,
    milliseconds: u64,
}

#[derive(Deserialize)]
struct Discarded {
    discarded: u64,
}

pub(super) fn list(reply: &Reply) -> Result<()> {
    let All { webhooks } = reply.read()?;
    let row = |shown: Shown| {
        let behind = format!("{} s", shown.seconds_behind);
        [shown.webhook_id, shown.state, behind, shown.dead_letters.to_string(), shown.name, shown.url]
    };
    let rows: Vec<_> = webhooks.into_iter().map(row).collect();
    let columns = [
        ("WEBHOOK", ID),
        ("STATE", NAME),
        ("BEHIND", COUNT),
        ("DEAD", COUNT),
        ("NAME", TEXT),
        ("URL", TEXT.left_out(1)),
    ];
    output::table(columns, &rows)
}

pub(super) fn one(reply: &Reply) -> Result<()> {
    let One { webhook } = reply.read()?;
    let authorization = if webhook.has_authorization { "set" } else { "none" };
    let lines = [
        ("webhook", webhook.webhook_id),
        ("name", webhook.name),
        ("url", webhook.url),
        ("types", webhook.types.join(", ")),
        ("authorization", authorization.to_owned()),
        ("headers", webhook.headers.join(", ")),
        ("batch size", webhook.batch_size.map(events).unwrap_or_default()),
        ("state", webhook.state),
        ("reason", webhook.reason.unwrap_or_default()),
        ("nothing taken", webhook.nothing_taken_since.map(|since| format!("since {since}")).unwrap_or_default()),
        ("offset", webhook.offset),
        ("delivered", webhook.delivered.to_string()),
        ("last delivered", webhook.last_delivered.unwrap_or_default()),
        ("failed attempts", webhook.failed_attempts.to_string()),
        ("dead letters", format!("{} now, {} in all", webhook.dead_letters, webhook.given_up)),
        ("missed", format!("{} log records", webhook.missed_records)),
        ("behind", format!("{} log records, {} s", webhook.records_behind, webhook.seconds_behind)),
    ];
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        output::line(format_args!("{name:<16} {value}"))?;
    }
    Ok(())
}

fn events(n_most: u32) -> String {
    if n_most == 1 { "1 event a request".to_owned() } else { format!("up to {n_most} events a request") }
}

pub(super) fn proof(reply: &Reply) -> Result<()> {
    let Proof { status, milliseconds } = reply.read()?;
    output::line(format_args!("The webhook answered {status} after {milliseconds} ms."))
}

pub(super) fn history(reply: &Reply) -> Result<()> {
    let History { attempts } = reply.read()?;
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let row = |entry: Entry| {
        let took = entry.milliseconds.map(|millis| format!("{millis} ms")).unwrap_or_default();
        let gap = entry.missed_records.map(|records| format!("{records} log records: ")).unwrap_or_default();
        let error = format!("{gap}{}", entry.error.unwrap_or_default());
        let kind = entry.kind.unwrap_or_default();
        [entry.at, kind, entry.offset, number(entry.attempt), took, number(entry.status), error]
    };
    let rows: Vec<_> = attempts.into_iter().map(row).collect();
    let columns = [
        ("AT", MOMENT),
        ("TYPE", NAME),
        ("OFFSET", COUNT.left_out(3)),
        ("ATTEMPT", COUNT.left_out(2)),
        ("TOOK", COUNT.left_out(1)),
        ("STATUS", COUNT),
        ("ERROR", TEXT),
    ];
    output::table(columns, &rows)
}

pub(super) fn dead(reply: &Reply) -> Result<()> {
    let Letters { dead_letters, after } = reply.read()?;
    let row = |letter: Letter| {
        [letter.offset, letter.id, letter.kind, letter.given_up, letter.attempts.to_string(), letter.reason]
    };
    let rows: Vec<_> = dead_letters.into_iter().map(row).collect();
    let columns = [
        ("OFFSET", COUNT),
        ("EVENT", ID),
        ("TYPE", NAME.left_out(3)),
        ("GIVEN UP", MOMENT.left_out(2)),
        ("ATTEMPTS", COUNT.left_out(1)),
        ("REASON", TEXT),
    ];
    output::table(columns, &rows)?;
    if let Some(after) = after {
        output::note(format_args!("There may be more: go on with --after {after}."));
    }
    Ok(())
}

pub(super) fn discarded(reply: &Reply) -> Result<()> {
    let Discarded { discarded } = reply.read()?;
    output::line(format_args!("{discarded} events were discarded."))
}
