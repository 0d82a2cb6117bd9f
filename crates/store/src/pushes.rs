//! Accepted pushes and their results per device type.

mod aging;
mod listing;
mod unfinished;

use std::ops::Range;

use model::device_type::DeviceType;
use model::ids::{AppId, Offset, OperationId, PushId};
use model::origin::Origin;
use model::payload::push_type::PushType;
use model::time::UtcMillis;
use uuid::Uuid;

pub use aging::{Aged, age_from, aged, forget};
pub use listing::{PushEntry, entries, name, names, payloads, reasons};
pub use unfinished::{Unfinished, Which, app_of, unfinished};

use crate::{Error, Result, Row, Tx, Value, origins};

/// Where a push is on its way. The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushState {
    /// Durable; no recipients have been chosen yet.
    Accepted,
    /// The audience is fixed and cut into blocks.
    Sending,
    /// Every block is settled.
    Done,
    /// Canceled before it was done; the rest is never sent.
    Canceled,
}

impl PushState {
    const ALL: [PushState; 4] = [PushState::Accepted, PushState::Sending, PushState::Done, PushState::Canceled];

    pub const fn name(self) -> &'static str {
        match self {
            PushState::Accepted => "accepted",
            PushState::Sending => "sending",
            PushState::Done => "done",
            PushState::Canceled => "canceled",
        }
    }

    /// Whether nothing will change any more.
    pub const fn is_final(self) -> bool {
        match self {
            PushState::Accepted | PushState::Sending => false,
            PushState::Done | PushState::Canceled => true,
        }
    }

    fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|state| state.name() == name);
        found.ok_or_else(|| Error::corrupt(format!("push state {name:?}")))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRow {
    pub id: PushId,
    pub operation: OperationId,
    pub created: UtcMillis,
    /// After this instant nothing is sent any more.
    pub expires: Option<UtcMillis>,
    pub push_type: PushType,
    pub state: PushState,
    /// Waits until it is resumed. Meaningless for a push that is done or canceled.
    pub paused: bool,
    /// The log offset at which the push was accepted: its audience is resolved by an index that has reached
    /// it.
    pub accepted_at: Offset,
    /// Whether the payload must not be kept for longer than sending takes.
    pub redact: bool,
    /// The push as submitted, as JSON; `None` once it is redacted.
    pub payload: Option<String>,
}

/// What a listing shows of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushTexts {
    pub name: Option<String>,
    pub title: Option<String>,
    pub alert: Option<String>,
}

/// The author is the credential of the request that the transaction is run for.
pub fn insert(tx: &mut Tx<'_>, app: AppId, push: &PushRow, texts: &PushTexts) -> Result<()> {
    insert_by(tx, app, push, texts, None)
}

/// As [`insert`], for a push that somebody has asked for before.
pub fn insert_by(tx: &mut Tx<'_>, app: AppId, push: &PushRow, texts: &PushTexts, author: Option<&str>) -> Result<()> {
    let author = author.or(tx.requested_by()).map(str::to_owned);
    tx.write(
        "insert into push (app, id, operation, created, expires, push_type, state, paused, accepted_at, redact, payload,
                           aging_since, name, title, alert, author)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $4, $12, $13, $14, $15)",
        &[
            app.into(),
            push.id.into(),
            push.operation.into(),
            push.created.into(),
            push.expires.into(),
            push.push_type.name().into(),
            push.state.name().into(),
            push.paused.into(),
            push.accepted_at.into(),
            push.redact.into(),
            push.payload.clone().into(),
            texts.name.clone().into(),
            texts.title.clone().into(),
            texts.alert.clone().into(),
            author.into(),
        ],
    )?;
    tx.note_object("push_id", push.id);
    Ok(())
}

const BY_ID: &str = "select id, operation, created, expires, push_type, state, paused, accepted_at, redact,
       coalesce(payload, (select other.payload from push other
         where other.app = $1 and other.id = push.payload_of))
     from push where app = $1 and id = $2";

/// Announces a call of [`by_id`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, push: PushId) {
    tx.foresee(BY_ID, [[app.into(), push.into()]]);
}

pub fn by_id(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<PushRow>> {
    tx.query_opt(BY_ID, &[app.into(), push.into()], read_push)
}

/// Those of the pushes that there are.
pub fn by_ids(tx: &mut Tx<'_>, app: AppId, pushes: impl IntoIterator<Item = PushId>) -> Result<Vec<PushRow>> {
    tx.query_many(BY_ID, pushes.into_iter().map(|push| [app.into(), push.into()]), read_push)
}

fn read_push(row: &Row<'_>) -> Result<PushRow> {
    Ok(PushRow {
        id: row.next()?,
        operation: row.next()?,
        created: row.next()?,
        expires: row.next()?,
        push_type: read_type(row.next()?)?,
        state: PushState::from_name(row.next()?)?,
        paused: row.next()?,
        accepted_at: row.next()?,
        redact: row.next()?,
        payload: row.next()?,
    })
}

/// A push in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: PushId,
    pub created: UtcMillis,
    pub push_type: PushType,
    /// Where it comes from, if not from the API.
    pub origin: Option<Origin>,
}

/// Up to `at_most` pushes that were accepted within a time, the newest first, beginning with the one named by
/// `start`.
pub fn newest(
    tx: &mut Tx<'_>,
    app: AppId,
    accepted: &Range<UtcMillis>,
    start: Option<PushId>,
    at_most: u32,
) -> Result<Vec<Listed>> {
    // The last that may be listed: the start, or all that were accepted in the millisecond before the end.
    let (created, id) = match start {
        None => (UtcMillis(accepted.end.0.saturating_sub(1)), PushId::from_uuid(Uuid::max())),
        Some(id) => match by_id(tx, app, id)? {
            Some(push) if push.created < accepted.end => (push.created, id),
            Some(_) | None => return Ok(Vec::new()),
        },
    };
    let sql = "select p.id, p.created, p.push_type, o.kind, o.origin from push p
               left join push_origin o on o.app = p.app and o.push = p.id
               where p.app = $1 and p.created >= $2 and p.created <= $3 and (p.created < $3 or p.id <= $4)
               order by p.created desc, p.id desc limit $5";
    let params = [app.into(), accepted.start.into(), created.into(), id.into(), at_most.into()];
    tx.query(sql, &params, read_listed)
}

pub fn listed(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<Listed>> {
    let sql = "select p.id, p.created, p.push_type, o.kind, o.origin from push p
               left join push_origin o on o.app = p.app and o.push = p.id where p.app = $1 and p.id = $2";
    tx.query_opt(sql, &[app.into(), push.into()], read_listed)
}

/// Up to `at_most` pushes after one whose audience is still to be chosen, in the order of their ids.
pub fn accepted(tx: &mut Tx<'_>, app: AppId, after: PushId, at_most: u32) -> Result<Vec<Listed>> {
    let sql = "select p.id, p.created, p.push_type, o.kind, o.origin from push p
               left join push_origin o on o.app = p.app and o.push = p.id
               where p.app = $1 and p.state = 'accepted' and p.id > $2 order by p.id limit $3";
    tx.query(sql, &[app.into(), after.into(), at_most.into()], read_listed)
}

fn read_listed(row: &Row<'_>) -> Result<Listed> {
    Ok(Listed {
        id: row.next()?,
        created: row.next()?,
        push_type: read_type(row.next()?)?,
        origin: origins::read_joined(row)?,
    })
}

fn read_type(name: &str) -> Result<PushType> {
    PushType::from_name(name).ok_or_else(|| Error::corrupt(format!("push type {name:?}")))
}

/// Whether a push is still to be sent, and whether it is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendingState {
    pub state: PushState,
    pub is_paused: bool,
}

/// Read by the senders of a push between deliveries; `None` when there is no such push.
pub fn sending_state(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<SendingState>> {
    let sql = "select state, paused from push where app = $1 and id = $2";
    let read = |row: &Row<'_>| Ok(SendingState { state: PushState::from_name(row.next()?)?, is_paused: row.next()? });
    tx.query_opt(sql, &[app.into(), push.into()], read)
}

pub fn set_paused(tx: &mut Tx<'_>, app: AppId, push: PushId, paused: bool) -> Result<()> {
    let sql = "update push set paused = $3 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), push.into(), paused.into()])?;
    Ok(())
}

/// A push of which nothing is left to do begins to age, and loses the payload that it was not to keep, with its texts.
pub fn set_state(tx: &mut Tx<'_>, app: AppId, push: PushId, state: PushState, now: UtcMillis) -> Result<()> {
    match state {
        PushState::Accepted | PushState::Sending => {
            let sql = "update push set state = $3 where app = $1 and id = $2";
            tx.write(sql, &[app.into(), push.into(), state.name().into()])
        }
        PushState::Done | PushState::Canceled => {
            let sql = "update push set state = $3, aging_since = $4,
                         payload = case when redact = 1 then null else payload end,
                         name = case when redact = 1 then null else name end,
                         title = case when redact = 1 then null else title end,
                         alert = case when redact = 1 then null else alert end
                       where app = $1 and id = $2";
            tx.write(sql, &[app.into(), push.into(), state.name().into(), now.into()])
        }
    }
}

/// The recipients of a push are chosen now, by an index that has reached a position.
pub fn begin_sending(tx: &mut Tx<'_>, app: AppId, push: PushId, position: Offset, now: UtcMillis) -> Result<()> {
    let sql = "update push set state = $3, resolved_at = $4, resolved = $5 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), push.into(), PushState::Sending.name().into(), position.into(), now.into()])
}

/// As [`begin_sending`], of a push that goes to nobody, for a reason that is kept: it is done.
pub fn end_unsent(
    tx: &mut Tx<'_>,
    app: AppId,
    push: PushId,
    position: Offset,
    reason: &str,
    now: UtcMillis,
) -> Result<()> {
    let sql = "update push set state = $3, aging_since = $4, resolved = $4, resolved_at = $5, reason = $6,
                 payload = case when redact = 1 then null else payload end,
                 name = case when redact = 1 then null else name end,
                 title = case when redact = 1 then null else title end,
                 alert = case when redact = 1 then null else alert end
               where app = $1 and id = $2";
    let state = PushState::Done.name();
    tx.write(sql, &[app.into(), push.into(), state.into(), now.into(), position.into(), reason.into()])
}

/// Why a push went to nobody; `None` if it went to somebody, or that is not known yet.
pub fn reason(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<String>> {
    let sql = "select reason from push where app = $1 and id = $2 and reason is not null";
    tx.query_opt(sql, &[app.into(), push.into()], |row| row.get(0))
}

/// Which state of the audience index chose the recipients, and when; `None` before that, and for pushes that an earlier version
/// sent.
pub fn resolved(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<(Offset, UtcMillis)>> {
    let sql = "select resolved_at, resolved from push
               where app = $1 and id = $2 and resolved_at is not null and resolved is not null";
    tx.query_opt(sql, &[app.into(), push.into()], |row| Ok((row.next()?, row.next()?)))
}

/// Keeps the payload of a push with an earlier one that has the same. Neither may be one that is to be
/// redacted.
pub fn share_payload(tx: &mut Tx<'_>, app: AppId, push: PushId, earlier: PushId) -> Result<()> {
    let sql = "update push set payload = null, name = null, title = null, alert = null, payload_of =
                 (select coalesce(other.payload_of, other.id) from push other where other.app = $1 and other.id = $3)
               where app = $1 and id = $2";
    tx.write(sql, &[app.into(), push.into(), earlier.into()])?;
    Ok(())
}

/// The results of a push on one platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub targeted: u64,
    pub delivered: u64,
    pub gone: u64,
    pub failed: u64,
    pub expired: u64,
    /// The last reason given for a failure.
    pub reason: Option<String>,
}

/// Adds to the counts of a platform.
pub fn add_tally(tx: &mut Tx<'_>, app: AppId, push: PushId, device_type: &DeviceType, more: &Tally) -> Result<()> {
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).into();
    tx.write(
        "insert into push_tally (app, push, platform, targeted, delivered, gone, failed, expired, reason)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (app, push, platform) do update set
           targeted = push_tally.targeted + excluded.targeted,
           delivered = push_tally.delivered + excluded.delivered,
           gone = push_tally.gone + excluded.gone,
           failed = push_tally.failed + excluded.failed,
           expired = push_tally.expired + excluded.expired,
           reason = coalesce(excluded.reason, push_tally.reason)",
        &[
            app.into(),
            push.into(),
            device_type.into(),
            count(more.targeted),
            count(more.delivered),
            count(more.gone),
            count(more.failed),
            count(more.expired),
            more.reason.clone().into(),
        ],
    )?;
    Ok(())
}

/// The counts of each device type, by name.
pub fn tallies(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Vec<(DeviceType, Tally)>> {
    let found = tallies_of(tx, app, &[push])?;
    Ok(found.into_iter().map(|(_, device_type, tally)| (device_type, tally)).collect())
}

/// The counts of some pushes, in their order, for each device type, by name.
pub fn tallies_of(tx: &mut Tx<'_>, app: AppId, pushes: &[PushId]) -> Result<Vec<(PushId, DeviceType, Tally)>> {
    let sql = "select push, platform, targeted, delivered, gone, failed, expired, reason from push_tally
               where app = $1 and push = $2 order by platform";
    tx.query_many(sql, pushes.iter().map(|push| [app.into(), Value::from(*push)]), |row| {
        let (push, device_type) = (row.next()?, row.next()?);
        let tally = Tally {
            targeted: row.next()?,
            delivered: row.next()?,
            gone: row.next()?,
            failed: row.next()?,
            expired: row.next()?,
            reason: row.next()?,
        };
        Ok((push, device_type, tally))
    })
}
