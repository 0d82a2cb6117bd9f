//! The outcomes of a push: sets of channels by block, device type, outcome and reason, opaque to the store.

use std::ops::RangeInclusive;

use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::push_outcome::PushOutcome;
use model::time::UtcMillis;

use crate::{Error, Result, Row, Tx};

/// Channels of one block that share an outcome, which they had within a minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeSet {
    pub block: u32,
    pub device_type: DeviceType,
    pub outcome: PushOutcome,
    /// A name of ours, or the words of a provider; empty where there is nothing to say.
    pub reason: String,
    /// When the first of them had it.
    pub since: UtcMillis,
    pub members: Vec<u8>,
}

/// Writes a set, or a larger one over it.
pub fn put(tx: &mut Tx<'_>, app: AppId, push: PushId, set: OutcomeSet) -> Result<()> {
    tx.write(
        "insert into push_outcome (app, push, block, platform, outcome, reason, since, members)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (app, push, block, platform, outcome, reason, since) do update set members = excluded.members",
        &[
            app.into(),
            push.into(),
            set.block.into(),
            (&set.device_type).into(),
            set.outcome.number().into(),
            set.reason.into(),
            set.since.into(),
            set.members.into(),
        ],
    )
}

pub fn in_block(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u32) -> Result<Vec<OutcomeSet>> {
    let sql = "select block, platform, outcome, reason, since, members from push_outcome
               where app = $1 and push = $2 and block = $3 order by platform, outcome, reason, since";
    tx.query(sql, &[app.into(), push.into(), block.into()], read)
}

/// The first block from one on that has a set.
pub fn next_block(tx: &mut Tx<'_>, app: AppId, push: PushId, from: u32) -> Result<Option<u32>> {
    let sql = "select block from push_outcome where app = $1 and push = $2 and block >= $3 order by block limit 1";
    tx.query_opt(sql, &[app.into(), push.into(), from.into()], |row| row.get(0))
}

/// The sets of a push whose outcomes have the numbers of a range.
pub fn members(
    tx: &mut Tx<'_>,
    app: AppId,
    push: PushId,
    wanted: RangeInclusive<PushOutcome>,
) -> Result<Vec<(PushOutcome, Vec<u8>)>> {
    let sql = "select outcome, members from push_outcome
               where app = $1 and push = $2 and outcome >= $3 and outcome <= $4";
    let (first, last) = (wanted.start().number(), wanted.end().number());
    let params = [app.into(), push.into(), first.into(), last.into()];
    tx.query(sql, &params, |row| Ok((read_outcome(row.next()?)?, row.next()?)))
}

fn read(row: &Row<'_>) -> Result<OutcomeSet> {
    Ok(OutcomeSet {
        block: row.next()?,
        device_type: row.next()?,
        outcome: read_outcome(row.next()?)?,
        reason: row.next()?,
        since: row.next()?,
        members: row.next()?,
    })
}

fn read_outcome(number: i64) -> Result<PushOutcome> {
    PushOutcome::from_number(number).ok_or_else(|| Error::corrupt(format!("outcome of a push {number}")))
}
