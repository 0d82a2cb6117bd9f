//! The channels that wait for a pipeline, by the instant at which they are due and by block. The members are
//! serialized bitmaps, opaque to the store.

use model::ids::{AppId, PipelineId};
use model::time::UtcMillis;

use crate::{Result, Row, Tx};

/// The waiting channels of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerPart {
    pub due: UtcMillis,
    pub block: u16,
    pub members: Vec<u8>,
    /// Their causes, where events show them.
    pub causes: Option<Vec<u8>>,
}

pub fn get(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, due: UtcMillis, block: u16) -> Result<Option<TimerPart>> {
    let found = between(tx, app, pipeline, block, (due, due))?;
    Ok(found.into_iter().next())
}

pub fn put(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, part: &TimerPart) -> Result<()> {
    tx.write(
        "insert into pipeline_timer (app, pipeline, due, block, members, causes) values ($1, $2, $3, $4, $5, $6)
         on conflict (app, pipeline, due, block) do update set members = excluded.members, causes = excluded.causes",
        &[
            app.into(),
            pipeline.into(),
            part.due.into(),
            u32::from(part.block).into(),
            part.members.clone().into(),
            part.causes.clone().into(),
        ],
    )?;
    Ok(())
}

/// Takes all parts of a timer out, in the order of their blocks.
pub fn take(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, due: UtcMillis) -> Result<Vec<TimerPart>> {
    let parts = at(tx, app, pipeline, due)?;
    let sql = "delete from pipeline_timer where app = $1 and pipeline = $2 and due = $3";
    tx.write(sql, &[app.into(), pipeline.into(), due.into()])?;
    Ok(parts)
}

/// All parts of an instant, in the order of their blocks.
pub fn at(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, due: UtcMillis) -> Result<Vec<TimerPart>> {
    let sql = "select due, block, members, causes from pipeline_timer
               where app = $1 and pipeline = $2 and due = $3 order by block";
    tx.query(sql, &[app.into(), pipeline.into(), due.into()], read_part)
}

/// Everything of a pipeline that waits within a block and is due from one instant to another, both included.
pub fn between(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    block: u16,
    (first, last): (UtcMillis, UtcMillis),
) -> Result<Vec<TimerPart>> {
    let sql = "select due, block, members, causes from pipeline_timer
               where app = $1 and pipeline = $2 and block = $3 and due >= $4 and due <= $5 order by due";
    let params = [app.into(), pipeline.into(), u32::from(block).into(), first.into(), last.into()];
    tx.query(sql, &params, read_part)
}

fn read_part(row: &Row<'_>) -> Result<TimerPart> {
    Ok(TimerPart { due: row.next()?, block: row.next()?, members: row.next()?, causes: row.next()? })
}

/// When the first who waits for a pipeline is due.
pub fn first_due(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId) -> Result<Option<UtcMillis>> {
    let sql = "select min(due) from pipeline_timer where app = $1 and pipeline = $2";
    tx.query_one(sql, &[app.into(), pipeline.into()], |row| row.get(0))
}

pub fn delete_part(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, due: UtcMillis, block: u16) -> Result<()> {
    let sql = "delete from pipeline_timer where app = $1 and pipeline = $2 and due = $3 and block = $4";
    tx.write(sql, &[app.into(), pipeline.into(), due.into(), u32::from(block).into()])?;
    Ok(())
}

/// Deletes up to `at_most` parts of what waits for a pipeline, and says when each of them was due.
pub fn delete_some(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, at_most: u32) -> Result<Vec<UtcMillis>> {
    let sql = "select due, block from pipeline_timer where app = $1 and pipeline = $2 order by due, block limit $3";
    let parts: Vec<(UtcMillis, i64)> =
        tx.query(sql, &[app.into(), pipeline.into(), at_most.into()], |row| Ok((row.next()?, row.next()?)))?;
    if !parts.is_empty() {
        tx.write_many(
            "delete from pipeline_timer where app = $1 and pipeline = $2 and due = $3 and block = $4",
            parts.iter().map(|(due, block)| [app.into(), pipeline.into(), (*due).into(), (*block).into()]),
        )?;
    }
    Ok(parts.into_iter().map(|(due, _)| due).collect())
}
