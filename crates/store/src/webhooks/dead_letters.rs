//! Events that a webhook did not take for too long, kept until the operator decides about them.

use model::event::{EventOffset, RecordKind};
use model::ids::{AppId, EventId, WebhookId};
use model::time::UtcMillis;

use crate::log::read_kind;
use crate::{Result, Tx};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    pub offset: EventOffset,
    pub event: EventId,
    pub kind: RecordKind,
    /// When it was given up.
    pub at: UtcMillis,
    pub attempts: u32,
    /// A sentence about the last attempt.
    pub reason: String,
    /// The event as it would have been sent.
    pub body: Vec<u8>,
}

/// Keeps events that are given up, except those kept before. Of more than `at_most` the first of the log go.
/// Returns how many are kept now.
pub fn keep_dead_letters(
    tx: &mut Tx<'_>,
    app: AppId,
    webhook: WebhookId,
    letters: &[DeadLetter],
    at_most: u32,
) -> Result<i64> {
    let n_new = tx.execute_many(
        "insert into webhook_dead_letter (app, webhook, event_offset, event, kind, at, attempts, reason, body)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (app, webhook, event_offset) do nothing",
        letters.iter().map(|letter| {
            [
                app.into(),
                webhook.into(),
                letter.offset.number().into(),
                letter.event.into(),
                letter.kind.number().into(),
                letter.at.into(),
                letter.attempts.into(),
                letter.reason.as_str().into(),
                letter.body.clone().into(),
            ]
        }),
    )?;
    let n_kept = count(tx, app, webhook, i64::try_from(n_new).unwrap_or(i64::MAX))?;
    let n_beyond = n_kept - i64::from(at_most);
    if n_beyond <= 0 {
        return Ok(n_kept);
    }
    let first_kept = "select event_offset from webhook_dead_letter where app = $1 and webhook = $2
                      order by event_offset limit 1 offset $3";
    let first_kept: Option<i64> =
        tx.query_opt(first_kept, &[app.into(), webhook.into(), n_beyond.into()], |row| row.get(0))?;
    let Some(first_kept) = first_kept else { return Ok(n_kept) };
    let sql = "delete from webhook_dead_letter
               where app = $1 and webhook = $2 and event_offset >= 0 and event_offset < $3";
    let n_gone = tx.execute(sql, &[app.into(), webhook.into(), first_kept.into()])?;
    count(tx, app, webhook, -i64::try_from(n_gone).unwrap_or(0))
}

/// In the order of the log, after an offset.
pub fn dead_letters(
    tx: &mut Tx<'_>,
    app: AppId,
    webhook: WebhookId,
    after: EventOffset,
    at_most: u32,
) -> Result<Vec<DeadLetter>> {
    tx.query(
        "select event_offset, event, kind, at, attempts, reason, body from webhook_dead_letter
         where app = $1 and webhook = $2 and event_offset > $3 order by event_offset limit $4",
        &[app.into(), webhook.into(), after.number().into(), at_most.into()],
        |row| {
            Ok(DeadLetter {
                offset: EventOffset::from_number(row.next()?),
                event: row.next()?,
                kind: read_kind(row.next()?)?,
                at: row.next()?,
                attempts: row.next()?,
                reason: row.next()?,
                body: row.next()?,
            })
        },
    )
}

/// Removes a dead letter that has been delivered after all. Returns how many are left.
pub fn remove_dead_letter(tx: &mut Tx<'_>, app: AppId, webhook: WebhookId, letter: EventOffset) -> Result<i64> {
    let sql = "delete from webhook_dead_letter where app = $1 and webhook = $2 and event_offset = $3";
    let n_gone = tx.execute(sql, &[app.into(), webhook.into(), letter.number().into()])?;
    count(tx, app, webhook, -i64::try_from(n_gone).unwrap_or(0))
}

/// Removes all dead letters of a webhook. Returns how many there were.
pub fn discard_dead_letters(tx: &mut Tx<'_>, app: AppId, webhook: WebhookId) -> Result<u64> {
    let key = [app.into(), webhook.into()];
    tx.write("update webhook set n_dead = 0 where app = $1 and id = $2", &key)?;
    tx.execute("delete from webhook_dead_letter where app = $1 and webhook = $2", &key)
}

fn count(tx: &mut Tx<'_>, app: AppId, webhook: WebhookId, change: i64) -> Result<i64> {
    let sql = "update webhook set n_dead = n_dead + $3 where app = $1 and id = $2 returning n_dead";
    Ok(tx.query_opt(sql, &[app.into(), webhook.into(), change.into()], |row| row.get(0))?.unwrap_or(0))
}
