//! The history of a webhook: its latest requests, and gaps of records that were deleted before they could be
//! sent.

use model::event::{EventOffset, RecordKind};
use model::ids::{AppId, EventId, WebhookId};
use model::time::UtcMillis;

use crate::log::read_kind;
use crate::{Result, Row, Tx};

/// The number of entries kept of each webhook.
const KEPT: i64 = 1000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub at: UtcMillis,
    /// Of the event, or where the webhook continues after a gap.
    pub offset: EventOffset,
    pub kind: EntryKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// One request and its outcome.
    Request(Attempt),
    /// Log records that were deleted before they could be sent.
    Gap { n_missed: u64 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub event: EventId,
    pub kind: RecordKind,
    /// Counted from 1 for each event.
    pub number: u32,
    pub millis: u32,
    /// If there was an answer.
    pub status: Option<u32>,
    /// If it failed.
    pub error: Option<String>,
}

/// Adds to the history, and forgets the oldest entries.
pub fn note(tx: &mut Tx<'_>, app: AppId, webhook: WebhookId, entries: &[Entry]) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let n_new = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    let sql = "update webhook set n_noted = n_noted + $3 where app = $1 and id = $2 returning n_noted";
    let last = tx.query_opt(sql, &[app.into(), webhook.into(), n_new.into()], |row| row.get::<i64>(0))?;
    let Some(last) = last else { return Ok(()) };
    tx.write_many(
        "insert into webhook_history
           (app, webhook, n, at, event_offset, event, kind, attempt, millis, status, error, missed)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        entries.iter().zip(last - n_new + 1..).map(|(entry, n)| {
            let (request, missed) = match &entry.kind {
                EntryKind::Request(request) => (Some(request), None),
                EntryKind::Gap { n_missed } => (None, Some(i64::try_from(*n_missed).unwrap_or(i64::MAX))),
            };
            [
                app.into(),
                webhook.into(),
                n.into(),
                entry.at.into(),
                entry.offset.number().into(),
                request.map(|request| request.event).into(),
                request.map(|request| request.kind.number()).into(),
                request.map(|request| request.number).into(),
                request.map(|request| request.millis).into(),
                request.and_then(|request| request.status).into(),
                request.and_then(|request| request.error.as_deref()).into(),
                missed.into(),
            ]
        }),
    )?;
    let forget = "delete from webhook_history where app = $1 and webhook = $2 and n <= $3";
    tx.write(forget, &[app.into(), webhook.into(), (last - KEPT).into()])?;
    Ok(())
}

/// The latest entries, the last one first.
pub fn history(tx: &mut Tx<'_>, app: AppId, webhook: WebhookId, at_most: u32) -> Result<Vec<Entry>> {
    tx.query(
        "select at, event_offset, missed, event, kind, attempt, millis, status, error from webhook_history
         where app = $1 and webhook = $2 order by n desc limit $3",
        &[app.into(), webhook.into(), at_most.into()],
        read_entry,
    )
}

fn read_entry(row: &Row<'_>) -> Result<Entry> {
    let (at, offset) = (row.next()?, EventOffset::from_number(row.next()?));
    let kind = match row.next()? {
        Some(n_missed) => EntryKind::Gap { n_missed },
        None => EntryKind::Request(Attempt {
            event: row.next()?,
            kind: read_kind(row.next()?)?,
            number: row.next()?,
            millis: row.next()?,
            status: row.next()?,
            error: row.next()?,
        }),
    };
    Ok(Entry { at, offset, kind })
}
