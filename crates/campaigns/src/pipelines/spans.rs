//! When channels wait for a pipeline that can be canceled. Months of seconds may lie ahead, in each of which other channels are
//! due; the unions over spans of 256 and of 65,536 seconds show in which of them a channel may be, so that only those are looked
//! at.
//!
//! A span may name channels that are no longer there, which costs a useless look, but it never misses one that is.

use std::collections::BTreeMap;
use std::time::Duration;

use audience::codec;
use base::{Error, Result};
use model::ids::{AppId, PipelineId};
use model::pipeline::Pipeline;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::pipeline_spans::{self as rows, SpanKey, Width};
use store::{Tx, pipeline_timers};

use super::timers::Canceling;

/// About 18 hours: there are fewer than 500 of them within the longest delay. The schema knows this number, too.
const WIDE: Width = Width(Duration::from_secs(65_536));
/// About four minutes: 256 of them are in a wide one, and 256 seconds are in each.
const NARROW: Width = Width(Duration::from_secs(256));

type Instants = (UtcMillis, UtcMillis);

/// Notes that channels wait for an instant.
pub(super) fn add(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    due: UtcMillis,
    block: u16,
    channels: &RoaringBitmap,
) -> Result<()> {
    for width in [WIDE, NARROW] {
        let key = SpanKey { block, width, number: width.number(due) };
        let members = match rows::get(tx, app, pipeline, &key)?.as_deref() {
            None => RoaringBitmap::new(),
            Some([]) => continue,
            Some(members) => codec::decode(members).map_err(Error::internal)?,
        };
        if !channels.is_subset(&members) {
            rows::put(tx, app, pipeline, &key, codec::encode(&(members | channels)))?;
        }
    }
    Ok(())
}

/// Lets channels of a block stop waiting for what is due by an instant. `take_out` removes them from what waits within a span, and
/// returns who is left there: a channel that waits because of several entrances of a journey may stay.
pub(super) fn leave(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    last: UtcMillis,
    (block, channels): (u16, &RoaringBitmap),
    mut take_out: impl FnMut(&mut Tx<'_>, Instants) -> Result<RoaringBitmap>,
) -> Result<()> {
    for (wide, members) in rows::between(tx, app, pipeline, (block, WIDE), (UtcMillis(0), last))? {
        let (first, end) = wide.instants();
        let members = if members.is_empty() { learn(tx, app, pipeline, &wide)? } else { members };
        let members = codec::decode(&members).map_err(Error::internal)?;
        let mut gone = &members & channels;
        if gone.is_empty() {
            continue;
        }
        for (narrow, members) in rows::between(tx, app, pipeline, (block, NARROW), (first, end.min(last)))? {
            let (first, end) = narrow.instants();
            let members = codec::decode(&members).map_err(Error::internal)?;
            let meant = &members & channels;
            if !meant.is_empty() {
                let left = take_out(tx, (first, end.min(last)))?;
                gone -= &left;
                forget(tx, app, pipeline, (&narrow, members), last, &(meant - left))?;
            }
        }
        forget(tx, app, pipeline, (&wide, members), last, &gone)?;
    }
    Ok(())
}

/// Removes channels that wait no longer within a span, unless some of it is beyond the last instant.
fn forget(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    (key, members): (&SpanKey, RoaringBitmap),
    last: UtcMillis,
    gone: &RoaringBitmap,
) -> Result<()> {
    if key.instants().1 > last || gone.is_empty() {
        return Ok(());
    }
    let left = members - gone;
    match left.is_empty() {
        true => rows::delete(tx, app, pipeline, key)?,
        false => rows::put(tx, app, pipeline, key, codec::encode(&left))?,
    }
    Ok(())
}

/// Looks up which channels wait in a wide span and in the narrow ones within it, and keeps that, so that it is looked up once.
fn learn(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId, wide: &SpanKey) -> Result<Vec<u8>> {
    let mut all = RoaringBitmap::new();
    let mut narrow: BTreeMap<i64, RoaringBitmap> = BTreeMap::new();
    for part in pipeline_timers::between(tx, app, pipeline, wide.block, wide.instants())? {
        let members = codec::decode(&part.members).map_err(Error::internal)?;
        all |= &members;
        *narrow.entry(NARROW.number(part.due)).or_default() |= members;
    }
    for (number, members) in narrow {
        let key = SpanKey { block: wide.block, width: NARROW, number };
        rows::put(tx, app, pipeline, &key, codec::encode(&members))?;
    }
    let members = codec::encode(&all);
    rows::put(tx, app, pipeline, wide, members.clone())?;
    Ok(members)
}

/// Forgets the spans in which no channel is due any more.
pub(super) fn forget_past(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId) -> Result<()> {
    let Some(first) = pipeline_timers::first_due(tx, app, pipeline)? else { return forget_all(tx, app, pipeline) };
    for width in [WIDE, NARROW] {
        rows::forget_before(tx, app, pipeline, width, first)?;
    }
    Ok(())
}

pub(super) fn forget_all(tx: &mut Tx<'_>, app: AppId, pipeline: PipelineId) -> Result<()> {
    rows::delete_some(tx, app, pipeline, u32::MAX)?;
    Ok(())
}

/// After a pipeline was replaced for which channels may be waiting: channels that could not be canceled before are in no span.
pub(super) fn keep_up(tx: &mut Tx<'_>, app: AppId, id: PipelineId, before: &Pipeline, after: &Pipeline) -> Result<()> {
    match (Canceling::of(before), Canceling::of(after)) {
        (_, Canceling::Never) => forget_all(tx, app, id),
        (Canceling::Possible, Canceling::Possible) => Ok(()),
        (Canceling::Never, Canceling::Possible) => {
            forget_all(tx, app, id)?;
            Ok(rows::put_unknown(tx, app, id, WIDE)?)
        }
    }
}
