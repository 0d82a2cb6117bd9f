//! The history of a webhook: its latest requests.

use model::event::{EventOffset, RecordKind};
use model::ids::{AppId, EventId, WebhookId};
use model::time::UtcMillis;

use crate::{Error, Result, Row, Tx};

/// So many are kept of each webhook.
const KEPT: i64 = 1000;

/// One request and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAttempt {
    pub at: UtcMillis,
    pub event: EventId,
    pub kind: RecordKind,
    pub offset: EventOffset,
    /// Counted from 1 for each event.
    pub attempt: u32,
    pub millis: u32,
    /// If there was an answer.
    pub status: Option<u32>,
    /// If it failed.
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Grows from one to the next.
    pub number: i64,
    pub what: NewAttempt,
}

/// Adds to the history, and forgets what is too old for it.
pub fn note(tx: &mut Tx<'_>, app: AppId, webhook: WebhookId, attempts: &[NewAttempt]) -> Result<()> {
    if attempts.is_empty() {
        return Ok(());
    }
    let n_new = i64::try_from(attempts.len()).unwrap_or(i64::MAX);
    let sql = "update webhook set n_noted = n_noted + $3 where app = $1 and id = $2 returning n_noted";
    let last = tx.query_opt(sql, &[app.into(), webhook.into(), n_new.into()], |row| row.get::<i64>(0))?;
    let Some(last) = last else { return Ok(()) };
    tx.execute_many(
        "insert into webhook_attempt (app, webhook, n, at, event, kind, event_offset, attempt, millis, status, error)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        attempts.iter().zip(last - n_new + 1..).map(|(new, n)| {
            [
                app.into(),
                webhook.into(),
                n.into(),
                new.at.into(),
                new.event.into(),
                new.kind.number().into(),
                new.offset.number().into(),
                new.attempt.into(),
                new.millis.into(),
                new.status.into(),
                new.error.as_deref().into(),
            ]
        }),
    )?;
    let forget = "delete from webhook_attempt where app = $1 and webhook = $2 and n <= $3";
    tx.execute(forget, &[app.into(), webhook.into(), (last - KEPT).into()])?;
    Ok(())
}

/// The latest attempts, the last one first.
pub fn attempts(tx: &mut Tx<'_>, app: AppId, webhook: WebhookId, at_most: u32) -> Result<Vec<Attempt>> {
    tx.query(
        "select n, at, event, kind, event_offset, attempt, millis, status, error from webhook_attempt
         where app = $1 and webhook = $2 order by n desc limit $3",
        &[app.into(), webhook.into(), at_most.into()],
        read_attempt,
    )
}

fn read_attempt(row: &Row<'_>) -> Result<Attempt> {
    let what = NewAttempt {
        at: row.get(1)?,
        event: row.get(2)?,
        kind: read_kind(row.get(3)?)?,
        offset: EventOffset::from_number(row.get(4)?),
        attempt: row.get(5)?,
        millis: row.get(6)?,
        status: row.get(7)?,
        error: row.get(8)?,
    };
    Ok(Attempt { number: row.get(0)?, what })
}

pub(super) fn read_kind(number: i64) -> Result<RecordKind> {
    RecordKind::from_number(number).ok_or_else(|| Error::corrupt(format!("event kind {number}")))
}
