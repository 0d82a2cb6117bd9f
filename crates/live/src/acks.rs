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
use crate::message::Message;
use crate::received::{Received, mark_received};

/// Devices whose last acknowledgement is remembered; when there are more, all are forgotten, and repeats are written again.
const MOST_REMEMBERED: usize = 200_000;
/// Devices whose messages from before the backlog are remembered. When there are more, all are forgotten, and these messages do not
/// count as received.
const MOST_WITH_OLDER: usize = 10_000;
/// Rows written in one transaction.
const AT_ONCE: usize = 256;

#[derive(Default)]
pub(crate) struct Acks {
    /// How far each device has acknowledged, or is not told what has come.
    up_to: HashMap<u32, Offset>,
    /// What devices that came back were told from the log, because it is older than the backlog, and have not acknowledged.
    older: HashMap<u32, Vec<(Offset, PushId)>>,
    /// What is not written yet.
    received: HashMap<(PushId, u32), RoaringBitmap>,
}

impl Acks {
    /// Notes how far a device has got. Returns how far it was before, if that is less.
    fn advance(&mut self, ordinal: Ordinal, up_to: Offset) -> Option<Offset> {
        if self.up_to.len() >= MOST_REMEMBERED {
            self.up_to.clear();
        }
        let known = self.up_to.entry(ordinal.0).or_default();
        (up_to > *known).then(|| std::mem::replace(known, up_to))
    }

    fn receive(&mut self, ordinal: Ordinal, push: PushId) {
        let block = u32::from(Block::of(ordinal).0);
        self.received.entry((push, block)).or_default().insert(ordinal.0);
    }

    fn receive_older(&mut self, ordinal: Ordinal, up_to: Offset) {
        let Some(mut older) = self.older.remove(&ordinal.0) else { return };
        let later = older.split_off(older.partition_point(|(at, _)| *at <= up_to));
        for (_, push) in older {
            self.receive(ordinal, push);
        }
        if !later.is_empty() {
            self.older.insert(ordinal.0, later);
        }
    }

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
        acks.receive_older(ordinal, up_to);
        let Some(before) = acks.advance(ordinal, up_to) else { return };
        for message in backlog.to(ordinal, before).take_while(|message| message.at <= up_to) {
            acks.receive(ordinal, message.push);
        }
    }

    /// A device that comes back is told these messages of those up to an offset, and acknowledges no others: not those that have
    /// expired, nor the oldest of too many.
    pub(crate) fn expect_acks(&self, ordinal: Ordinal, missed: &[Message], up_to: Offset) {
        let floor = self.backlog.read().floor();
        let older = missed.iter().take_while(|message| message.at <= floor);
        let older: Vec<_> = older.map(|message| (message.at, message.push)).collect();
        let mut acks = self.acks.lock();
        acks.advance(ordinal, missed.first().map_or(up_to, |first| Offset(first.at.0 - 1)));
        if !older.is_empty() {
            if acks.older.len() >= MOST_WITH_OLDER {
                acks.older.clear();
            }
            acks.older.insert(ordinal.0, older);
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
