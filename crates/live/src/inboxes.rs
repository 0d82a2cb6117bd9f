//! Inboxes in which something has changed, on whichever device: their connected devices are told how many messages are unread, by a
//! task of its own, so that pushes do not wait for it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use audience::codec;
use base::{Result, UnreadableRecord};
use boxed::boxed;
use model::event::{Many, RecordKind};
use model::ids::{AppId, Offset, Ordinal};
use roaring::RoaringBitmap;
use sending::{Unread, unread_of};
use store::{Tx, log};

use crate::Live;
use crate::following::PAUSE;
use crate::hub::Hub;
use crate::message::InboxNews;

/// Records read at once, and channels whose inboxes are looked into in one transaction.
const PORTION: u32 = 256;
const AT_ONCE: usize = 64;
/// What is remembered for devices that come back: so many changes, and so many bytes.
const MOST_CHANGES: usize = 1024;
const MOST_BYTES: usize = 1024 * 1024;

#[derive(Default)]
pub(crate) struct Inboxes {
    /// What has changed up to here is not known.
    floor: Offset,
    /// How far the log was read for changes.
    seen: Offset,
    /// All pushes up to here were handed to the connections.
    handed_out: Offset,
    /// The channels in whose inboxes something has changed, with how far the log had been read, oldest first.
    changes: VecDeque<(Offset, RoaringBitmap)>,
    n_bytes: usize,
    /// The changes that connected devices are yet to be told of.
    due: RoaringBitmap,
    is_telling: bool,
}

/// What has changed since a position.
pub(crate) enum Changed {
    Nothing,
    /// The inboxes of these channels.
    Of(RoaringBitmap),
    /// Perhaps all of them.
    Unknown,
}

impl Inboxes {
    /// Knows nothing up to an offset. Devices that are connected while that is so may have missed changes.
    pub(crate) fn restart(&mut self, floor: Offset, handed_out: Offset, connected: &RoaringBitmap) {
        let (due, is_telling) = (std::mem::take(&mut self.due) | connected, self.is_telling);
        *self = Self { floor, seen: floor, handed_out, due, is_telling, ..Self::default() };
    }

    pub(crate) const fn seen(&self) -> Offset {
        self.seen
    }

    pub(crate) const fn handed_out(&self) -> Offset {
        self.handed_out
    }

    /// The position up to which the connections were handed everything; `None` while some are yet to be told of their inboxes.
    pub(crate) fn settled(&self) -> Option<Offset> {
        (self.due.is_empty() && !self.is_telling).then_some(self.handed_out)
    }

    fn add(&mut self, changed: &RoaringBitmap, seen: Offset) {
        (self.seen, self.handed_out) = (self.seen.max(seen), seen);
        if changed.is_empty() {
            return;
        }
        self.due |= changed;
        self.n_bytes += changed.serialized_size();
        self.changes.push_back((seen, changed.clone()));
        while self.changes.len() > MOST_CHANGES || self.n_bytes > MOST_BYTES {
            let Some((at, oldest)) = self.changes.pop_front() else { return };
            self.n_bytes -= oldest.serialized_size();
            self.floor = at;
        }
    }

    pub(crate) fn since(&self, after: Offset) -> Changed {
        if after < self.floor {
            return Changed::Unknown;
        }
        let later = self.changes.iter().rev().take_while(|(at, _)| *at > after);
        let changed = later.fold(RoaringBitmap::new(), |all, (_, changed)| all | changed);
        if changed.is_empty() { Changed::Nothing } else { Changed::Of(changed) }
    }
}

/// The channels by which inboxes were changed after an offset and up to another, as far as the records can be read, and the others.
pub(crate) fn changes(
    tx: &mut Tx<'_>,
    app: AppId,
    (mut after, until): (Offset, Offset),
) -> Result<(RoaringBitmap, Vec<UnreadableRecord>)> {
    let kinds = BTreeSet::from([RecordKind::RichDelivery, RecordKind::RichRead, RecordKind::RichDelete]);
    let (mut changed, mut unreadable) = (RoaringBitmap::new(), Vec::new());
    while after < until {
        let (mut n_records, mut bodies) = (0, Vec::new());
        log::visit_kinds(tx, app, after, until, &kinds, PORTION, |row| {
            (n_records, after) = (n_records + 1, row.offset);
            match row.ordinal {
                Some(ordinal) => drop(changed.insert(ordinal.0)),
                None => bodies.push((row.offset, row.kind, row.body.to_vec())),
            }
            Ok(())
        })?;
        for (offset, kind, body) in bodies {
            match channels_of(&body) {
                Some(channels) => changed |= channels,
                None => unreadable.push(UnreadableRecord::of_form(offset, kind)),
            }
        }
        if n_records < PORTION {
            break;
        }
    }
    Ok((changed, unreadable))
}

/// The channels of a record; `None` if it cannot be read.
fn channels_of(body: &[u8]) -> Option<RoaringBitmap> {
    let (many, _): (Many, _) = postcard::take_from_bytes(body).ok()?;
    codec::decode(&many.ordinals).ok()
}

impl Hub {
    fn tell_unread(&self, found: &[Unread], at: Offset) {
        for Unread { channels, n_messages } in found {
            let lines = self.lines.lock();
            for line in channels.iter().flat_map(|channel| lines.of(*channel)) {
                line.tell_inbox(InboxNews { at, unread: *n_messages });
            }
        }
    }
}

impl Live {
    /// Takes in what has changed up to a position, whose pushes are handed out, and has the connected devices told.
    pub(crate) fn note_inboxes(&self, hub: &Arc<Hub>, changed: &RoaringBitmap, seen: Offset) {
        hub.inboxes.lock().add(changed, seen);
        self.tell_inboxes(hub);
    }

    /// Has a device told of changes after the position that it began with, before it was known to be connected.
    pub(crate) fn note_late(&self, hub: &Arc<Hub>, ordinal: Ordinal, at: Offset) {
        {
            let mut inboxes = hub.inboxes.lock();
            if matches!(inboxes.since(at), Changed::Nothing) {
                return;
            }
            inboxes.due.insert(ordinal.0);
        }
        self.tell_inboxes(hub);
    }

    fn tell_inboxes(&self, hub: &Arc<Hub>) {
        let mut inboxes = hub.inboxes.lock();
        if !inboxes.due.is_empty() && !std::mem::replace(&mut inboxes.is_telling, true) {
            tokio::spawn(self.clone().tell_all(hub.clone()));
        }
    }

    async fn tell_all(self, hub: Arc<Hub>) {
        loop {
            let (due, at) = {
                let mut inboxes = hub.inboxes.lock();
                inboxes.is_telling = !inboxes.due.is_empty();
                if !inboxes.is_telling {
                    return;
                }
                (std::mem::take(&mut inboxes.due), inboxes.handed_out)
            };
            self.tell_some(&hub, &due, at).await;
        }
    }
}

#[boxed]
impl Live {
    /// Goes through those that have changed or through those that are connected, whichever are fewer: a message to a million is
    /// told to the few that are connected, and what one device has read to the other devices of its user.
    async fn tell_some(&self, hub: &Hub, due: &RoaringBitmap, at: Offset) {
        let connected = hub.lines.lock().connected.clone();
        let (fewer, others) = if due.len() < connected.len() { (due, &connected) } else { (&connected, due) };
        let (app, others) = (hub.app, Arc::new(others.clone()));
        let all: Vec<Ordinal> = fewer.iter().map(Ordinal).collect();
        let mut portions = all.chunks(AT_ONCE);
        let mut portion = portions.next();
        while let Some(some) = portion {
            let (some, others, now) = (some.to_vec(), others.clone(), self.0.clock.now());
            let read = move |tx: &mut Tx<'_>| {
                let is_meant = |channels: &[Ordinal]| channels.iter().any(|channel| others.contains(channel.0));
                unread_of(tx, app, &some, is_meant, now)
            };
            match self.0.store.read(read).await {
                Ok(found) => {
                    hub.tell_unread(&found, at);
                    portion = portions.next();
                }
                Err(error) => {
                    let text = "devices could not be told of their inboxes yet";
                    tracing::warn!(error = &error as &dyn std::error::Error, "{text}");
                    tokio::time::sleep(PAUSE).await;
                    // Those that come back ask.
                    if hub.lines.lock().is_empty() {
                        return;
                    }
                }
            }
        }
    }

    /// What a device is told of its inbox that has everything up to an offset.
    pub(crate) async fn missed_in_inbox(
        &self,
        hub: &Hub,
        ordinal: Ordinal,
        after: Offset,
    ) -> Result<Option<InboxNews>> {
        let (changed, at) = {
            let inboxes = hub.inboxes.lock();
            (inboxes.since(after), inboxes.handed_out)
        };
        let (app, now) = (hub.app, self.0.clock.now());
        if matches!(changed, Changed::Nothing) {
            return Ok(None);
        }
        let read = move |tx: &mut Tx<'_>| {
            let is_meant = |channels: &[Ordinal]| match &changed {
                Changed::Nothing => false,
                Changed::Of(changed) => channels.iter().any(|channel| changed.contains(channel.0)),
                Changed::Unknown => true,
            };
            unread_of(tx, app, &[ordinal], is_meant, now)
        };
        let found = self.0.store.read(read).await?;
        Ok(found.first().map(|inbox| InboxNews { at, unread: inbox.n_messages }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(inboxes: &Inboxes, after: i64) -> Option<Vec<u32>> {
        match inboxes.since(Offset(after)) {
            Changed::Nothing => Some(Vec::new()),
            Changed::Of(changed) => Some(changed.iter().collect()),
            Changed::Unknown => None,
        }
    }

    #[test]
    fn changes_are_remembered_until_there_are_too_many() {
        let mut inboxes = Inboxes::default();
        inboxes.restart(Offset(10), Offset(4), &RoaringBitmap::new());
        inboxes.add(&RoaringBitmap::from([1]), Offset(12));
        inboxes.add(&RoaringBitmap::new(), Offset(13));
        inboxes.add(&RoaringBitmap::from([2]), Offset(15));
        assert_eq!((of(&inboxes, 9), of(&inboxes, 10), of(&inboxes, 12)), (None, Some(vec![1, 2]), Some(vec![2])));
        assert_eq!((of(&inboxes, 15), inboxes.seen()), (Some(Vec::new()), Offset(15)));
        for at in 16.. {
            if inboxes.changes.len() == MOST_CHANGES {
                break;
            }
            inboxes.add(&RoaringBitmap::from([3]), Offset(at));
        }
        assert!(of(&inboxes, 11).is_some());
        inboxes.add(&RoaringBitmap::from([3]), Offset(9_999));
        assert_eq!((of(&inboxes, 11), of(&inboxes, 9_998)), (None, Some(vec![3])));
    }
}
