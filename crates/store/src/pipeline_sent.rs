//! The channels that pipelines have sent messages to, and how often: layers of serialized bitmaps per slice
//! of time. Slices may be put together to wider ones, which have the number of the first of them.

use model::ids::{AppId, PipelineId};

use crate::{Result, Tx};

/// One layer of a slice of time, within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentKey {
    pub pipeline: PipelineId,
    pub slice: i64,
    /// 0 for channels that got at least one message, 1 for those that got at least two, and so on.
    pub layer: u32,
    pub block: u16,
}

pub fn get(tx: &mut Tx<'_>, app: AppId, key: &SentKey) -> Result<Option<Vec<u8>>> {
    let sql = "select members from pipeline_sent
               where app = $1 and pipeline = $2 and slice = $3 and layer = $4 and block = $5";
    let SentKey { pipeline, slice, layer, block } = *key;
    let params = [app.into(), pipeline.into(), slice.into(), layer.into(), u32::from(block).into()];
    tx.query_opt(sql, &params, |row| row.get(0))
}

pub fn put(tx: &mut Tx<'_>, app: AppId, key: &SentKey, members: Vec<u8>) -> Result<()> {
    let SentKey { pipeline, slice, layer, block } = *key;
    tx.write(
        "insert into pipeline_sent (app, pipeline, slice, layer, block, members) values ($1, $2, $3, $4, $5, $6)
         on conflict (app, pipeline, block, slice, layer) do update set members = excluded.members",
        &[app.into(), pipeline.into(), slice.into(), layer.into(), u32::from(block).into(), members.into()],
    )?;
    Ok(())
}

/// Visits all layers of the slices from one to another, both included, within a block: slice and members. There
/// may be hundreds of them.
pub fn visit(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    (first, last): (i64, i64),
    block: u16,
    mut visit: impl FnMut(i64, &[u8]) -> Result<()>,
) -> Result<()> {
    let sql = "select slice, members from pipeline_sent
               where app = $1 and pipeline = $2 and slice >= $3 and slice <= $4 and block = $5";
    let params = [app.into(), pipeline.into(), first.into(), last.into(), u32::from(block).into()];
    tx.for_each(sql, &params, |row| visit(row.get(0)?, row.get(1)?))
}

/// The first slice within a block, of those from one to another, the last one not included, that is no first part
/// of a wider slice of so many.
pub fn first_between(
    tx: &mut Tx<'_>,
    app: AppId,
    (pipeline, block): (PipelineId, u16),
    (first, end): (i64, i64),
    width: i64,
) -> Result<Option<i64>> {
    let sql = "select slice from pipeline_sent
               where app = $1 and pipeline = $2 and block = $3 and slice >= $4 and slice < $5 and slice % $6 <> 0
               order by slice limit 1";
    let block = u32::from(block).into();
    let params = [app.into(), pipeline.into(), block, first.into(), end.into(), width.into()];
    tx.query_opt(sql, &params, |row| row.get(0))
}

/// Forgets what a pipeline has sent within a block in the slices from one to another, the last one not
/// included.
pub fn forget_in_block(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    block: u16,
    (first, end): (i64, i64),
) -> Result<u64> {
    let sql = "delete from pipeline_sent
               where app = $1 and pipeline = $2 and block = $3 and slice >= $4 and slice < $5";
    tx.execute(sql, &[app.into(), pipeline.into(), u32::from(block).into(), first.into(), end.into()])
}

/// Forgets up to `at_most` parts of what all pipelines have sent in the slices from one to another, the last
/// one not included, and returns how many.
pub fn forget_slices(tx: &mut Tx<'_>, app: AppId, (first, end): (i64, i64), at_most: u32) -> Result<u64> {
    let sql = "delete from pipeline_sent where app = $1 and (pipeline, block, slice, layer) in
               (select pipeline, block, slice, layer from pipeline_sent
                where app = $1 and slice >= $2 and slice < $3 order by slice limit $4)";
    tx.execute(sql, &[app.into(), first.into(), end.into(), at_most.into()])
}

/// Forgets up to `at_most` parts of a pipeline's history of sends, and returns how many.
pub fn forget_some(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, at_most: u32) -> Result<u64> {
    let sql = "delete from pipeline_sent where app = $1 and pipeline = $2 and (block, slice, layer) in
               (select block, slice, layer from pipeline_sent where app = $1 and pipeline = $2
                order by block, slice, layer limit $3)";
    tx.execute(sql, &[app.into(), pipeline.into(), at_most.into()])
}
