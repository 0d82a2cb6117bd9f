//! Blocks: the part of a push's audience on one platform within 65,536 consecutive ordinals, and its
//! progress. The sets are serialized bitmaps, opaque to the store.

use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::push_outcome::PushOutcome;
use model::time::UtcMillis;

use crate::{Result, Tx};

/// Identifies a block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockKey {
    pub push: PushId,
    pub device_type: DeviceType,
    pub number: u32,
}

/// The progress of sending a block. The four sets are disjoint and together are its recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockProgress {
    /// Nothing is left to do.
    pub settled: bool,
    /// How often the block was gone through and left something to try again.
    pub tries: u32,
    pub pending: Vec<u8>,
    pub delivered: Vec<u8>,
    pub gone: Vec<u8>,
    pub failed: Vec<u8>,
}

pub fn insert(tx: &mut Tx<'_>, app: AppId, key: &BlockKey, progress: BlockProgress) -> Result<()> {
    tx.write(
        "insert into push_block (app, push, platform, block, settled, tries, pending, delivered, gone, failed)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &values(app, key, progress),
    )?;
    Ok(())
}

pub fn save(tx: &mut Tx<'_>, app: AppId, key: &BlockKey, progress: BlockProgress) -> Result<()> {
    tx.write(
        "update push_block set settled = $5, tries = $6, pending = $7, delivered = $8, gone = $9, failed = $10
         where app = $1 and push = $2 and platform = $3 and block = $4",
        &values(app, key, progress),
    )?;
    Ok(())
}

const BY_KEY: &str = "select settled, tries, pending, delivered, gone, failed from push_block
     where app = $1 and push = $2 and platform = $3 and block = $4";

pub fn get(tx: &mut Tx<'_>, app: AppId, key: &BlockKey) -> Result<Option<BlockProgress>> {
    tx.query_opt(BY_KEY, &place(app, key), |row| {
        Ok(BlockProgress {
            settled: row.next()?,
            tries: row.next()?,
            pending: row.next()?,
            delivered: row.next()?,
            gone: row.next()?,
            failed: row.next()?,
        })
    })
}

/// Announces a call of [`get`] or [`reached_in`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, key: &BlockKey) {
    tx.foresee(BY_KEY, [place(app, key)]);
}

/// The recipients of a push, as serialized sets that together are all of them.
pub fn recipients(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Vec<Vec<u8>>> {
    let sql = "select pending, delivered, gone, failed from push_block where app = $1 and push = $2";
    let sets =
        tx.query(sql, &[app.into(), push.into()], |row| Ok([row.next()?, row.next()?, row.next()?, row.next()?]))?;
    Ok(sets.into_iter().flatten().collect())
}

/// The sets of a push by their outcome, or without one as long as it is not known. Those who came too late are among the failed.
pub fn sets(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Vec<(Option<PushOutcome>, Vec<u8>)>> {
    let sql = "select pending, delivered, gone, failed from push_block where app = $1 and push = $2";
    let outcomes = [None, Some(PushOutcome::Delivered), Some(PushOutcome::Gone), Some(PushOutcome::Failed)];
    let mut sets = Vec::new();
    tx.for_each(sql, &[app.into(), push.into()], |row| {
        for outcome in outcomes {
            sets.push((outcome, row.next()?));
        }
        Ok(())
    })?;
    Ok(sets)
}

/// Who of one block may have got a push, as serialized sets: it was delivered to them, or its outcome is not known yet.
pub fn reached_in(tx: &mut Tx<'_>, app: AppId, key: &BlockKey) -> Result<Vec<Vec<u8>>> {
    let progress = get(tx, app, key)?;
    Ok(progress.map_or_else(Vec::new, |sets| vec![sets.delivered, sets.pending]))
}

/// Whether the progress of any block of a push is kept.
pub fn any(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<bool> {
    let sql = "select block from push_block where app = $1 and push = $2 limit 1";
    let found: Option<i64> = tx.query_opt(sql, &[app.into(), push.into()], |row| row.get(0))?;
    Ok(found.is_some())
}

/// The first block of a device type from one on.
pub fn next(tx: &mut Tx<'_>, app: AppId, push: PushId, device_type: &DeviceType, from: u32) -> Result<Option<u32>> {
    let sql = "select block from push_block where app = $1 and push = $2 and platform = $3 and block >= $4
               order by block limit 1";
    tx.query_opt(sql, &[app.into(), push.into(), device_type.into(), from.into()], |row| row.get(0))
}

/// How many blocks of a push still have work to do.
pub fn unsettled(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<i64> {
    let sql = "select count(*) from push_block where app = $1 and push = $2 and settled = 0";
    tx.query_one(sql, &[app.into(), push.into()], |row| row.get(0))
}

/// Deletes up to `at_most` settled blocks of pushes that were accepted before an instant, and returns how
/// many. The id of a push can be older than the push, because scheduling assigns it, but is never younger.
pub fn delete_settled_before(tx: &mut Tx<'_>, app: AppId, first_kept: UtcMillis, at_most: u32) -> Result<u64> {
    tx.execute(
        "delete from push_block where app = $1 and (push, platform, block) in
         (select b.push, b.platform, b.block from push_block b join push p on p.app = b.app and p.id = b.push
          where b.app = $1 and b.push < $2 and b.settled = 1 and p.created < $3
          order by b.push, b.platform, b.block limit $4)",
        &[app.into(), PushId::first_at(first_kept).into(), first_kept.into(), at_most.into()],
    )
}

fn place(app: AppId, key: &BlockKey) -> [crate::Value; 4] {
    [app.into(), key.push.into(), (&key.device_type).into(), key.number.into()]
}

fn values(app: AppId, key: &BlockKey, progress: BlockProgress) -> [crate::Value; 10] {
    [
        app.into(),
        key.push.into(),
        (&key.device_type).into(),
        key.number.into(),
        progress.settled.into(),
        progress.tries.into(),
        progress.pending.into(),
        progress.delivered.into(),
        progress.gone.into(),
        progress.failed.into(),
    ]
}
