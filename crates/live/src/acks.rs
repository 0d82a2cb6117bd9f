//! What devices have acknowledged, until it is written: sets by push and block, so that a broadcast to many is a few rows.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use audience::block::Block;
use base::{Error, Result};
use boxed::boxed;
use model::ids::{Offset, Ordinal, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use targeting::types_of;

use crate::Live;
use crate::hub::Hub;
use crate::message::Message;
use crate::opening::newest;
use crate::positions::Positions;
use crate::received::{Received, mark_received};

/// Messages that devices which came back were told, remembered one by one. When there are more, all are forgotten, and these
/// messages do not count as received.
const MOST_TOLD: usize = 500_000;
/// Messages that had expired before devices were written to. A device that has more of them when there are so many is taken to have
/// been told nothing up to there.
const MOST_PASSED_OVER: usize = 100_000;
/// Rows written in one transaction.
const AT_ONCE: usize = 256;

#[derive(Default)]
pub(crate) struct Acks {
    /// How far each device has acknowledged, or is not told what has come. After that it was told what the backlog has for it,
    /// except what it was passed over with.
    pub(crate) up_to: Positions,
    /// What devices that came back were told, and have not acknowledged, where that is not what the backlog has for them.
    told: HashMap<u32, Vec<(Offset, PushId)>>,
    n_told: usize,
    /// Messages that a connected device was not told, because they had expired when its turn came.
    passed_over: BTreeSet<(u32, Offset)>,
    /// What is not written yet.
    received: HashMap<(PushId, u32), RoaringBitmap>,
}

impl Acks {
    fn receive(&mut self, ordinal: Ordinal, push: PushId) {
        let block = u32::from(Block::of(ordinal).0);
        self.received.entry((push, block)).or_default().insert(ordinal.0);
    }

    fn receive_told(&mut self, ordinal: Ordinal, up_to: Offset) {
        let Some(mut told) = self.forget_told(ordinal) else { return };
        let later = told.split_off(told.partition_point(|(at, _)| *at <= up_to));
        for (_, push) in told {
            self.receive(ordinal, push);
        }
        if !later.is_empty() {
            self.n_told += later.len();
            self.told.insert(ordinal.0, later);
        }
    }

    fn expect(&mut self, ordinal: Ordinal, told: Vec<(Offset, PushId)>) {
        drop(self.forget_told(ordinal));
        if self.n_told + told.len() > MOST_TOLD {
            (self.told, self.n_told) = (HashMap::new(), 0);
        }
        self.n_told += told.len();
        self.told.insert(ordinal.0, told);
    }

    fn forget_told(&mut self, ordinal: Ordinal) -> Option<Vec<(Offset, PushId)>> {
        let told = self.told.remove(&ordinal.0)?;
        self.n_told -= told.len();
        Some(told)
    }

    fn forget_passed_over(&mut self, ordinal: Ordinal, up_to: Offset) {
        let of_device = (ordinal.0, Offset::default())..=(ordinal.0, up_to);
        while let Some(one) = self.passed_over.range(of_device.clone()).next().copied() {
            self.passed_over.remove(&one);
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
    pub(crate) fn acknowledge(&self, ordinal: Ordinal, up_to: Offset, now: UtcMillis) {
        let backlog = self.backlog.read();
        let up_to = up_to.min(backlog.seen());
        let mut acks = self.acks.lock();
        acks.receive_told(ordinal, up_to);
        let before = acks.up_to.of(ordinal);
        let new = backlog.to(ordinal, before.unwrap_or_default()).take_while(|message| message.at <= up_to);
        if before.is_some() {
            for message in
                new.filter(|message| !acks.passed_over.contains(&(ordinal.0, message.at))).collect::<Vec<_>>()
            {
                acks.receive(ordinal, message.push);
            }
        } else {
            // Another node has told it, or this one before it was started: no more than a device that comes back is told.
            let new: Vec<Message> = new.filter(|message| !message.is_expired(now)).cloned().collect();
            for message in newest(&new) {
                acks.receive(ordinal, message.push);
            }
        }
        acks.up_to.advance(ordinal, up_to);
        acks.forget_passed_over(ordinal, up_to);
    }

    /// A device that connects is told these messages of those after an offset and up to another, and acknowledges no others: not
    /// what came before, nor what has expired or was canceled, nor the oldest of too many.
    pub(crate) fn expect_acks(&self, ordinal: Ordinal, missed: &[Message], (after, up_to): (Offset, Offset)) {
        let backlog = self.backlog.read();
        let known = backlog.to(ordinal, after).take_while(|message| message.at <= up_to);
        let is_known =
            after >= backlog.floor() && known.map(|message| message.at).eq(missed.iter().map(|message| message.at));
        let mut acks = self.acks.lock();
        if is_known {
            acks.up_to.advance(ordinal, after);
            return;
        }
        acks.up_to.advance(ordinal, up_to);
        acks.expect(ordinal, missed.iter().map(|message| (message.at, message.push)).collect());
    }

    /// A device that is connected is not told a message, because it has expired.
    pub(crate) fn pass_over(&self, ordinal: Ordinal, at: Offset) {
        let mut acks = self.acks.lock();
        if acks.passed_over.len() < MOST_PASSED_OVER {
            acks.passed_over.insert((ordinal.0, at));
        } else {
            acks.up_to.advance(ordinal, at);
            acks.forget_passed_over(ordinal, at);
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
    use base::Metrics;
    use model::ids::AppId;

    use super::*;

    const DEVICE: Ordinal = Ordinal(1);

    fn message(at: i64) -> Message {
        let push = PushId::first_at(UtcMillis(at));
        Message { at: Offset(at), occurred: UtcMillis(0), push, expires: None, content: "{}".into() }
    }

    /// The messages that a device has received, by their positions.
    fn received(hub: &Hub, ordinal: Ordinal) -> Vec<i64> {
        let acks = hub.acks.lock();
        let has = |at: &i64| acks.received.get(&(message(*at).push, 0)).is_some_and(|set| set.contains(ordinal.0));
        (1..=4).filter(has).collect()
    }

    #[test]
    fn a_connected_device_has_received_what_it_was_told_however_many_others_come() {
        let hub = Hub::new(AppId(1), Metrics::default());
        let add = |at: i64| {
            hub.backlog.write().add(&message(at), &RoaringBitmap::from([DEVICE.0]));
        };
        add(1);
        add(2);
        // It connects without a position, and is told what comes from now on.
        hub.expect_acks(DEVICE, &[], (Offset(2), Offset(2)));
        hub.acks.lock().up_to.connect(DEVICE);
        for other in 0..200_001 {
            hub.expect_acks(Ordinal(100 + other), &[], (Offset(2), Offset(2)));
        }
        add(3);
        hub.acknowledge(DEVICE, Offset(3), UtcMillis(0));
        assert_eq!(received(&hub, DEVICE), [3]);
    }

    #[test]
    fn what_has_expired_is_not_received_however_much_of_it_there_is() {
        let hub = Hub::new(AppId(1), Metrics::default());
        let late = Ordinal(2);
        for ordinal in [DEVICE, late] {
            hub.expect_acks(ordinal, &[], (Offset(0), Offset(0)));
        }
        for at in 1..=4 {
            hub.backlog.write().add(&message(at), &RoaringBitmap::from([DEVICE.0, late.0]));
        }
        let pass_over = |ordinal: Ordinal| (2..=3).for_each(|at| hub.pass_over(ordinal, Offset(at)));
        pass_over(DEVICE);
        for other in (100..).take(MOST_PASSED_OVER) {
            hub.pass_over(Ordinal(other), Offset(1));
        }
        pass_over(late);
        for ordinal in [DEVICE, late] {
            hub.acknowledge(ordinal, Offset(4), UtcMillis(0));
        }
        // Rather than what the other was not told, what it was told does not count.
        assert_eq!((received(&hub, DEVICE), received(&hub, late)), (vec![1, 4], vec![4]));
    }

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
