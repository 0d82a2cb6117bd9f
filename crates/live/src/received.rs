//! What devices have received, and its counts: each device counts once, whichever way it has told.

use audience::block::Block;
use audience::codec;
use base::{Error, Result};
use model::device_type::DeviceType;
use model::ids::{AppId, Ordinal, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::counters::{self, Metric};
use store::push_marks::{self, ResponseKind};
use store::{Tx, push_received, pushes};

/// Devices of a block that have acknowledged a push.
#[derive(Clone, Copy)]
pub(crate) struct Received<'d> {
    pub(crate) push: PushId,
    pub(crate) block: u32,
    pub(crate) devices: &'d RoaringBitmap,
    pub(crate) at: UtcMillis,
}

/// Counts devices among those that have received a push: those that were not among them are told apart by `types`. A push that is
/// not kept any more gets no rows.
pub(crate) fn mark_received(
    tx: &mut Tx<'_>,
    app: AppId,
    received: Received<'_>,
    types: impl FnOnce(&RoaringBitmap) -> Vec<(DeviceType, RoaringBitmap)>,
) -> Result<()> {
    let Received { push, block, devices, at } = received;
    if pushes::sending_state(tx, app, push)?.is_none() {
        return Ok(());
    }
    let before = set(tx, app, push, block)?;
    let mut new = devices - &before;
    if let (Some(first), Some(last)) = (new.min(), new.max()) {
        let told = push_marks::between(tx, app, push, ResponseKind::Received, Ordinal(first), Ordinal(last))?;
        new -= told.into_iter().map(|channel| channel.0).collect::<RoaringBitmap>();
    }
    if new.is_empty() {
        return Ok(());
    }
    for (device_type, new) in types(&new) {
        counters::add(tx, app, Metric::Received, at, &device_type, new.len())?;
        counters::add_of_push(tx, app, push, Metric::Received, at, &device_type, new.len())?;
    }
    Ok(push_received::put(tx, app, push, block, codec::encode(&(before | new)))?)
}

/// Announces a call of [`mark_receipt`].
pub fn foresee_receipt(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) {
    push_received::foresee(tx, app, push, u32::from(Block::of(channel).0), channel);
}

/// Notes that a channel to which a push was sent says that it has received it. Returns whether that is new.
pub fn mark_receipt(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) -> Result<bool> {
    if push_received::has_row(tx, app, push, channel)?
        || set(tx, app, push, u32::from(Block::of(channel).0))?.contains(channel.0)
    {
        return Ok(false);
    }
    push_received::add_row(tx, app, push, channel)?;
    Ok(true)
}

fn set(tx: &mut Tx<'_>, app: AppId, push: PushId, block: u32) -> Result<RoaringBitmap> {
    let set = push_received::set(tx, app, push, block)?;
    set.map_or_else(|| Ok(RoaringBitmap::new()), |set| codec::decode(&set)).map_err(Error::internal)
}
