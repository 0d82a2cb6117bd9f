//! Where in time somebody waits for a pipeline that can be canceled. Months of seconds may lie ahead, in each of which other
//! channels are due; the unions over spans of 256 and of 65,536 seconds tell in which of them a channel may be, so that only
//! those are looked at.
//!
//! A span may name channels that are not there any more, which costs a look in vain, but never misses one that is.

use std::time::Duration;

use audience::codec;
use model::ids::{AppId, PipelineId};
use model::pipeline::Pipeline;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::pipeline_spans::{self as rows, SpanKey, Width};
use store::{Tx, pipeline_timers};

use super::timers::Canceling;
use crate::{Error, Result};

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

/// Where some of the channels may wait that are due by an instant, and who. They are about to leave.
pub(super) fn with(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    last: UtcMillis,
    block: u16,
    channels: &RoaringBitmap,
) -> Result<Vec<(Instants, RoaringBitmap)>> {
    let mut found = Vec::new();
    for (wide, members) in rows::between(tx, app, pipeline, (block, WIDE), (UtcMillis(0), last))? {
        let (first, end) = wide.instants();
        if members.is_empty() {
            found.push(((first, end.min(last)), channels.clone()));
            continue;
        }
        let Some(channels) = leaving(tx, app, pipeline, (&wide, &members), last, channels)? else { continue };
        for (narrow, members) in rows::between(tx, app, pipeline, (block, NARROW), (first, end.min(last)))? {
            let (first, end) = narrow.instants();
            let channels = leaving(tx, app, pipeline, (&narrow, &members), last, &channels)?;
            found.extend(channels.map(|channels| ((first, end.min(last)), channels)));
        }
    }
    Ok(found)
}

/// Those of the channels who are in a span, if there are some. They are taken out of it, unless some of it is beyond the last
/// instant.
fn leaving(
    tx: &mut Tx<'_>,
    app: AppId,
    pipeline: PipelineId,
    (key, members): (&SpanKey, &[u8]),
    last: UtcMillis,
    channels: &RoaringBitmap,
) -> Result<Option<RoaringBitmap>> {
    let members = codec::decode(members).map_err(Error::internal)?;
    let leaving = &members & channels;
    if leaving.is_empty() {
        return Ok(None);
    }
    let left = members - &leaving;
    if key.instants().1 <= last {
        match left.is_empty() {
            true => rows::delete(tx, app, pipeline, key)?,
            false => rows::put(tx, app, pipeline, key, codec::encode(&left))?,
        }
    }
    Ok(Some(leaving))
}

/// Forgets the spans in which nobody is due any more.
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

/// After a pipeline was replaced for which channels may be waiting: those that could not be canceled before are not noted anywhere.
pub(super) fn keep_up(
    tx: &mut Tx<'_>,
    app: AppId,
    id: PipelineId,
    before: Option<&Pipeline>,
    after: &Pipeline,
) -> Result<()> {
    match (before.map(Canceling::of), Canceling::of(after)) {
        (_, Canceling::Never) => forget_all(tx, app, id),
        (Some(Canceling::Possible), Canceling::Possible) => Ok(()),
        (Some(Canceling::Never) | None, Canceling::Possible) => {
            forget_all(tx, app, id)?;
            Ok(rows::put_unknown(tx, app, id, WIDE)?)
        }
    }
}
