//! What devices have received: sets by push and block, and their counts.

use audience::codec;
use base::{Error, Result};
use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::counters::{self, Metric};
use store::{Tx, push_received, pushes};

/// Devices of a block that have received a push.
#[derive(Clone, Copy)]
pub struct Received<'d> {
    pub push: PushId,
    pub block: u32,
    pub devices: &'d RoaringBitmap,
    pub at: UtcMillis,
}

/// Counts devices among those that have received a push, each once: those that were not among them are told apart by `types`. A push
/// that is not kept any more gets no rows.
pub fn mark_received(
    tx: &mut Tx<'_>,
    app: AppId,
    received: Received<'_>,
    types: impl FnOnce(&RoaringBitmap) -> Vec<(DeviceType, RoaringBitmap)>,
) -> Result<()> {
    let Received { push, block, devices, at } = received;
    if pushes::sending_state(tx, app, push)?.is_none() {
        return Ok(());
    }
    let before = push_received::set(tx, app, push, block)?;
    let before = before.map_or_else(|| Ok(RoaringBitmap::new()), |set| codec::decode(&set)).map_err(Error::internal)?;
    let new = devices - &before;
    if new.is_empty() {
        return Ok(());
    }
    for (device_type, new) in types(&new) {
        counters::add(tx, app, Metric::Received, at, &device_type, new.len())?;
        counters::add_of_push(tx, app, push, Metric::Received, at, &device_type, new.len())?;
    }
    Ok(push_received::put(tx, app, push, block, codec::encode(&(before | devices)))?)
}
