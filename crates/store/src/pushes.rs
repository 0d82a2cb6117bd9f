//! Accepted pushes and what became of them, per platform.

use model::ids::{AppId, Offset, OperationId, PushId};
use model::time::UtcMillis;

use crate::{Error, Result, Tx};

/// Where a push is on its way. The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushState {
    /// Durable; nobody has been chosen yet.
    Accepted,
    /// The audience is fixed and cut into blocks.
    Sending,
    /// Every block is settled.
    Done,
}

impl PushState {
    const NAMED: [(&'static str, PushState); 3] =
        [("accepted", PushState::Accepted), ("sending", PushState::Sending), ("done", PushState::Done)];

    pub const fn name(self) -> &'static str {
        match self {
            PushState::Accepted => "accepted",
            PushState::Sending => "sending",
            PushState::Done => "done",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRow {
    pub id: PushId,
    pub operation: OperationId,
    pub created: UtcMillis,
    /// After this instant nothing is sent any more.
    pub expires: Option<UtcMillis>,
    pub push_type: String,
    pub state: PushState,
    /// The log offset at which the push was accepted: its audience is resolved by an index that has reached it.
    pub accepted_at: Offset,
    /// Whether the payload must not be kept for longer than sending takes.
    pub redact: bool,
    /// The push as submitted, as JSON; `None` once it is redacted.
    pub payload: Option<String>,
}

const COLUMNS: &str = "id, operation, created, expires, push_type, state, accepted_at, redact, payload";

pub fn insert(tx: &mut Tx<'_>, app: AppId, push: &PushRow) -> Result<()> {
    let sql = format!("insert into push (app, {COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)");
    tx.execute(
        &sql,
        &[
            app.into(),
            push.id.into(),
            push.operation.into(),
            push.created.into(),
            push.expires.into(),
            push.push_type.as_str().into(),
            push.state.name().into(),
            push.accepted_at.into(),
            push.redact.into(),
            push.payload.clone().into(),
        ],
    )?;
    Ok(())
}

pub fn by_id(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<PushRow>> {
    let sql = format!("select {COLUMNS} from push where app = $1 and id = $2");
    tx.query_opt(&sql, &[app.into(), push.into()], |row| {
        let state: String = row.get(5)?;
        let state = PushState::NAMED.into_iter().find(|(name, _)| *name == state).map(|(_, state)| state);
        Ok(PushRow {
            id: row.get(0)?,
            operation: row.get(1)?,
            created: row.get(2)?,
            expires: row.get(3)?,
            push_type: row.get(4)?,
            state: state.ok_or_else(|| Error::corrupt("push state"))?,
            accepted_at: row.get(6)?,
            redact: row.get(7)?,
            payload: row.get(8)?,
        })
    })
}

/// A push that is done loses the payload that it was not to keep.
pub fn set_state(tx: &mut Tx<'_>, app: AppId, push: PushId, state: PushState) -> Result<()> {
    let sql = "update push set state = $3 where app = $1 and id = $2";
    tx.execute(sql, &[app.into(), push.into(), state.name().into()])?;
    match state {
        PushState::Accepted | PushState::Sending => Ok(()),
        PushState::Done => redact(tx, app, push),
    }
}

fn redact(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<()> {
    let sql = "update push set payload = null where app = $1 and id = $2 and redact = 1";
    tx.execute(sql, &[app.into(), push.into()])?;
    Ok(())
}

/// What became of a push on one platform.
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
pub fn add_tally(tx: &mut Tx<'_>, app: AppId, push: PushId, platform: &str, more: &Tally) -> Result<()> {
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).into();
    tx.execute(
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
            platform.into(),
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

/// The counts of each platform, by name.
pub fn tallies(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Vec<(String, Tally)>> {
    tx.query(
        "select platform, targeted, delivered, gone, failed, expired, reason from push_tally
         where app = $1 and push = $2 order by platform",
        &[app.into(), push.into()],
        |row| {
            let count = |column| row.get::<i64>(column).map(|n| u64::try_from(n).unwrap_or(0));
            let tally = Tally {
                targeted: count(1)?,
                delivered: count(2)?,
                gone: count(3)?,
                failed: count(4)?,
                expired: count(5)?,
                reason: row.get(6)?,
            };
            Ok((row.get(0)?, tally))
        },
    )
}
