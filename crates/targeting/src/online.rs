//! The channels that have a live connection, on whichever node.

use audience::codec;
use base::{Error, Result};
use model::ids::AppId;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, live_presence};

/// As the nodes have said lately: a connection counts a second after it was opened, and up to six after it was closed.
pub fn connected(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<RoaringBitmap> {
    let mut all = RoaringBitmap::new();
    for set in live_presence::connected(tx, app, now)? {
        all |= codec::decode(&set).map_err(Error::internal)?;
    }
    Ok(all)
}
