//! Webhooks: their configuration, their positions in the log, and the outcomes of their requests.

mod dead_letters;
mod history;

use model::app::AppKey;
use model::event::EventOffset;
use model::ids::{AppId, WebhookId};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};

use crate::apps::read_key;
use crate::{Part, Result, Row, Tx};

pub use dead_letters::{DeadLetter, dead_letters, discard_dead_letters, keep_dead_letters, remove_dead_letter};
pub use history::{Attempt, Entry, EntryKind, history, note};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub created: UtcMillis,
    pub modified: UtcMillis,
    pub enabled: bool,
    /// Why the service itself disabled it.
    pub disabled_why: Option<String>,
    /// Encrypted.
    pub config: String,
    /// Raised by every change of the configuration.
    pub changes: i64,
    pub position: Position,
    pub tally: Tally,
    /// Since when and why deliveries fail.
    pub failing: Option<(UtcMillis, String)>,
}

/// The position of a webhook in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Raised whenever any of this changes. A run that began with an older version cannot save its progress.
    pub version: i64,
    /// Everything up to here is delivered.
    pub done: EventOffset,
    /// The undelivered events beyond it, encoded by the caller. `None`: nothing beyond it was sent.
    pub held: Option<Vec<u8>>,
}

/// Counts since the webhook was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub n_delivered: i64,
    /// Attempts that failed.
    pub n_failed: i64,
    /// Dead letters that are kept now.
    pub n_dead: i64,
    /// Events that became dead letters, including those deleted since.
    pub n_given_up: i64,
    /// Log records that were deleted before they could be sent.
    pub n_missed: i64,
    pub last_delivered: Option<UtcMillis>,
}

/// The result of a stretch of deliveries.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    pub done: EventOffset,
    pub held: Option<Vec<u8>>,
    pub n_delivered: i64,
    pub n_failed: i64,
    pub n_given_up: i64,
    pub n_missed: i64,
    pub last_delivered: Option<UtcMillis>,
    pub failing: Option<(UtcMillis, String)>,
}

const COLUMNS: &str = "id, created, modified, enabled, disabled_why, config, changes, version, done, held,
                       n_delivered, n_failed, n_dead, n_given_up, n_missed, last_delivered, failing_since, failure";

/// A new webhook, which starts after an offset.
pub fn insert(tx: &mut Tx<'_>, app: AppId, new: &Webhook) -> Result<()> {
    tx.write(
        "insert into webhook (app, id, created, modified, enabled, config, changes, version, done,
                              n_delivered, n_failed, n_given_up, n_missed, n_dead, n_noted)
         values ($1, $2, $3, $4, $5, $6, 0, 0, $7, 0, 0, 0, 0, 0, 0)",
        &[
            app.into(),
            new.id.into(),
            new.created.into(),
            new.modified.into(),
            new.enabled.into(),
            new.config.as_str().into(),
            new.position.done.number().into(),
        ],
    )?;
    tx.note_object("webhook_id", new.id);
    Ok(())
}

pub fn get(tx: &mut Tx<'_>, app: AppId, id: WebhookId) -> Result<Option<Webhook>> {
    let sql = format!("select {COLUMNS} from webhook where app = $1 and id = $2");
    tx.query_opt(&sql, &[app.into(), id.into()], read_webhook)
}

/// In the order in which they were made.
pub fn list(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<Webhook>> {
    let sql = format!("select {COLUMNS} from webhook where app = $1 order by created, id");
    tx.query(&sql, &[app.into()], read_webhook)
}

/// The webhooks of every app that still exists.
pub fn of_all_apps(tx: &mut Tx<'_>, part: &Part) -> Result<Vec<(AppId, AppKey, Webhook)>> {
    if let Some(keys) = part.keys(tx)? {
        let mut found = Vec::new();
        for (app, key) in keys {
            found.extend(list(tx, app)?.into_iter().map(|webhook| (app, key.clone(), webhook)));
        }
        return Ok(found);
    }
    let columns: Vec<String> = COLUMNS.split(',').map(|column| format!("webhook.{}", column.trim())).collect();
    let sql = format!(
        "select app.id, app.key, {} from app join webhook on webhook.app = app.id order by app.id, webhook.id",
        columns.join(", ")
    );
    tx.query(&sql, &[], |row| Ok((row.next()?, read_key(row.next()?)?, read_webhook(row)?)))
}

pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<i64> {
    tx.query_one("select count(*) from webhook where app = $1", &[app.into()], |row| row.get(0))
}

/// Removes a webhook with its history and its dead letters. Whether there was one.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: WebhookId) -> Result<bool> {
    let key = [app.into(), id.into()];
    tx.write("delete from webhook_history where app = $1 and webhook = $2", &key)?;
    tx.write("delete from webhook_dead_letter where app = $1 and webhook = $2", &key)?;
    Ok(tx.execute("delete from webhook where app = $1 and id = $2", &key)? > 0)
}

/// Replaces the configuration.
pub fn configure(tx: &mut Tx<'_>, app: AppId, id: WebhookId, config: &str, now: UtcMillis) -> Result<()> {
    let sql = "update webhook set config = $3, modified = $4, changes = changes + 1 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), id.into(), config.into(), now.into()])?;
    Ok(())
}

pub fn enable(tx: &mut Tx<'_>, app: AppId, id: WebhookId) -> Result<()> {
    let sql = "update webhook set enabled = 1, disabled_why = null, changes = changes + 1 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), id.into()])?;
    Ok(())
}

/// Disables a webhook; `why` is for one that the service itself disables.
pub fn disable(tx: &mut Tx<'_>, app: AppId, id: WebhookId, why: Option<&str>) -> Result<()> {
    let sql = "update webhook set enabled = 0, disabled_why = $3, changes = changes + 1 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), id.into(), why.into()])?;
    Ok(())
}

/// Lets a webhook start again after an offset, whatever it was doing.
pub fn move_to(tx: &mut Tx<'_>, app: AppId, id: WebhookId, done: EventOffset, held: Option<&[u8]>) -> Result<()> {
    let sql = "update webhook set done = $3, held = $4, version = version + 1, failing_since = null, failure = null
               where app = $1 and id = $2";
    tx.write(sql, &[app.into(), id.into(), done.number().into(), held.map(<[u8]>::to_vec).into()])?;
    Ok(())
}

/// Makes runs that are under way fail, so that they read their events again: some may have been erased.
pub fn restart_all(tx: &mut Tx<'_>, app: AppId) -> Result<()> {
    tx.execute("update webhook set version = version + 1 where app = $1", &[app.into()]).map(drop)
}

/// Saves a stretch of deliveries that began at version `version`. Returns how often the configuration has
/// changed; `None` if the webhook was moved or deleted since, and nothing is saved.
pub fn remember(tx: &mut Tx<'_>, app: AppId, id: WebhookId, version: i64, stretch: &Stretch) -> Result<Option<i64>> {
    let (since, why) = stretch.failing.as_ref().map_or((None, None), |(since, why)| (Some(*since), Some(why.as_str())));
    tx.query_opt(
        "update webhook set done = $4, held = $5, version = version + 1,
                n_delivered = n_delivered + $6, n_failed = n_failed + $7, n_given_up = n_given_up + $8,
                n_missed = n_missed + $9,
                last_delivered = coalesce($10, last_delivered), failing_since = $11, failure = $12
         where app = $1 and id = $2 and version = $3 returning changes",
        &[
            app.into(),
            id.into(),
            version.into(),
            stretch.done.number().into(),
            stretch.held.clone().into(),
            stretch.n_delivered.into(),
            stretch.n_failed.into(),
            stretch.n_given_up.into(),
            stretch.n_missed.into(),
            stretch.last_delivered.into(),
            since.into(),
            why.into(),
        ],
        |row| row.get(0),
    )
}

fn read_webhook(row: &Row<'_>) -> Result<Webhook> {
    Ok(Webhook {
        id: row.next()?,
        created: row.next()?,
        modified: row.next()?,
        enabled: row.next()?,
        disabled_why: row.next()?,
        config: row.next()?,
        changes: row.next()?,
        position: Position { version: row.next()?, done: EventOffset::from_number(row.next()?), held: row.next()? },
        tally: Tally {
            n_delivered: row.next()?,
            n_failed: row.next()?,
            n_dead: row.next()?,
            n_given_up: row.next()?,
            n_missed: row.next()?,
            last_delivered: row.next()?,
        },
        failing: row.next::<Option<UtcMillis>>()?.zip(row.next()?),
    })
}
