//! What devices have acknowledged, until it is written: sets by push and block, so that a broadcast to many is a few rows.

use std::collections::HashMap;
use std::sync::Arc;

use audience::block::Block;
use base::{Error, Result};
use boxed::boxed;
use model::ids::{Offset, Ordinal, PushId};
use roaring::RoaringBitmap;
use store::Tx;
use targeting::types_of;

use crate::Live;
use crate::hub::Hub;
use crate::received::{Received, mark_received};

/// Devices whose last acknowledgement is remembered; when there are more, all are forgotten, and repeats are written again.
const MOST_REMEMBERED: usize = 200_000;
/// Rows written in one transaction.
const AT_ONCE: usize = 256;

#[derive(Default)]
pub(crate) struct Acks {
    /// How far each device has acknowledged.
    up_to: HashMap<u32, Offset>,
    /// What is not written yet.
    received: HashMap<(PushId, u32), RoaringBitmap>,
}

impl Acks {
    fn take_some(&mut self) -> Vec<((PushId, u32), RoaringBitmap)> {
        let keys: Vec<_> = self.received.keys().take(AT_ONCE).copied().collect();
        keys.into_iter().filter_map(|key| self.received.remove_entry(&key)).collect()
    }

    /// What could not be written, beside what has come since.
    fn put_back(&mut self, some: &[((PushId, u32), RoaringBitmap)]) {
        for (key, devices) in some {
            *self.received.entry(*key).or_default() |= devices;
        }
    }
}

impl Hub {
    /// A device has everything up to an offset.
    pub(crate) fn acknowledge(&self, ordinal: Ordinal, up_to: Offset) {
        let backlog = self.backlog.read();
        let up_to = up_to.min(backlog.seen());
        let mut acks = self.acks.lock();
        if acks.up_to.len() >= MOST_REMEMBERED {
            acks.up_to.clear();
        }
        let before = acks.up_to.get(&ordinal.0).copied().unwrap_or_default();
        if up_to <= before {
            return;
        }
        acks.up_to.insert(ordinal.0, up_to);
        let block = u32::from(Block::of(ordinal).0);
        for message in backlog.to(ordinal, before).take_while(|message| message.at <= up_to) {
            acks.received.entry((message.push, block)).or_default().insert(ordinal.0);
        }
    }
}

#[boxed]
impl Live {
    /// Writes what was acknowledged. What is lost with a node is acknowledged again by devices that come back.
    pub(crate) async fn write_acks(&self, hub: &Hub) -> Result<()> {
        while !hub.acks.lock().received.is_empty() {
            let (app, now) = (hub.app, self.0.clock.now());
            let index = self.0.index.current(app).await?;
            let some = Arc::new(hub.acks.lock().take_some());
            let written = some.clone();
            let write = move |tx: &mut Tx<'_>| {
                for ((push, block), more) in &*written {
                    let received = Received { push: *push, block: *block, devices: more, at: now };
                    mark_received(tx, app, received, |new| types_of(&index, new))?;
                }
                Ok::<_, Error>(())
            };
            if let Err(error) = self.0.store.write(app, write).await {
                hub.acks.lock().put_back(&some);
                return Err(error);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use model::time::UtcMillis;

    use super::*;

    #[test]
    fn what_could_not_be_written_stays_beside_what_has_come_since() {
        let key = (PushId::first_at(UtcMillis(0)), 0);
        let mut acks = Acks::default();
        acks.received.insert(key, [1].into());
        let some = acks.take_some();
        assert!(acks.received.is_empty());
        acks.received.insert(key, [2].into());
        acks.put_back(&some);
        assert_eq!(acks.received[&key], RoaringBitmap::from([1, 2]));
    }
}
