//! When channels wait for a pipeline, roughly: for each block the union of the channels that are due within a
//! span of time. The members are serialized bitmaps, opaque to the store, or nothing where they are not
//! known.

use std::time::Duration;

use model::ids::{AppId, PipelineId};
use model::time::UtcMillis;

use crate::{Result, Tx, Value};

/// How long spans are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(pub Duration);

/// One span of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanKey {
    pub block: u16,
    pub width: Width,
    /// How many spans come before it, from 1970 on.
    pub number: i64,
}

impl Width {
    fn millis(self) -> i64 {
        i64::try_from(self.0.as_millis()).unwrap_or(i64::MAX).max(1)
    }

    /// The number of the span that an instant is in.
    pub fn number(self, instant: UtcMillis) -> i64 {
        instant.0.div_euclid(self.millis())
    }
}

impl SpanKey {
    /// Its first and its last instant.
    pub fn instants(&self) -> (UtcMillis, UtcMillis) {
        let first = self.number.saturating_mul(self.width.millis());
        (UtcMillis(first), UtcMillis(first.saturating_add(self.width.millis() - 1)))
    }
}

pub fn get(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, key: &SpanKey) -> Result<Option<Vec<u8>>> {
    let sql = "select members from pipeline_span
               where app = $1 and pipeline = $2 and block = $3 and width = $4 and span = $5";
    tx.query_opt(sql, &row(app, pipeline, key), |row| row.get(0))
}

pub fn put(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, key: &SpanKey, members: Vec<u8>) -> Result<()> {
    let [app, pipeline, block, width, number] = row(app, pipeline, key);
    tx.write(
        "insert into pipeline_span (app, pipeline, block, width, span, members) values ($1, $2, $3, $4, $5, $6)
         on conflict (app, pipeline, block, width, span) do update set members = excluded.members",
        &[app, pipeline, block, width, number, members.into()],
    )?;
    Ok(())
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, key: &SpanKey) -> Result<()> {
    let sql = "delete from pipeline_span
               where app = $1 and pipeline = $2 and block = $3 and width = $4 and span = $5";
    tx.write(sql, &row(app, pipeline, key))?;
    Ok(())
}

/// The spans of a width within a block from the one of an instant to the one of another, with their members.
pub fn between(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    (block, width): (u16, Width),
    (first, last): (UtcMillis, UtcMillis),
) -> Result<Vec<(SpanKey, Vec<u8>)>> {
    let sql = "select span, members from pipeline_span
               where app = $1 and pipeline = $2 and block = $3 and width = $4 and span >= $5 and span <= $6
               order by span";
    let [app, pipeline, of_block, of_width, first] =
        row(app, pipeline, &SpanKey { block, width, number: width.number(first) });
    tx.query(sql, &[app, pipeline, of_block, of_width, first, width.number(last).into()], |row| {
        Ok((SpanKey { block, width, number: row.next()? }, row.next()?))
    })
}

/// Marks the members of all spans of a width as not known.
pub fn put_unknown(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, width: Width) -> Result<()> {
    tx.write(
        "insert into pipeline_span (app, pipeline, block, width, span, members)
         select distinct app, pipeline, block, cast($3 as bigint), due / cast($3 as bigint), cast('' as blob)
           from pipeline_timer where app = $1 and pipeline = $2
         on conflict (app, pipeline, block, width, span) do update set members = excluded.members",
        &[app.into(), pipeline.into(), width.millis().into()],
    )?;
    Ok(())
}

/// Forgets the spans of a width that are over at an instant.
pub fn forget_before(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    width: Width,
    instant: UtcMillis,
) -> Result<()> {
    let sql = "delete from pipeline_span where app = $1 and pipeline = $2 and width = $3 and span < $4";
    tx.write(sql, &[app.into(), pipeline.into(), width.millis().into(), width.number(instant).into()])?;
    Ok(())
}

/// Deletes up to `at_most` spans of a pipeline, and says how many there were.
pub fn delete_some(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, at_most: u32) -> Result<u64> {
    let sql = "delete from pipeline_span where app = $1 and pipeline = $2 and (block, width, span) in
               (select block, width, span from pipeline_span where app = $1 and pipeline = $2
                order by block, width, span limit $3)";
    tx.execute(sql, &[app.into(), pipeline.into(), at_most.into()])
}

fn row(app: AppId, pipeline: PipelineId, key: &SpanKey) -> [Value; 5] {
    [app.into(), pipeline.into(), u32::from(key.block).into(), key.width.millis().into(), key.number.into()]
}
