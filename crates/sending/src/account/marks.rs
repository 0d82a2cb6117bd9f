//! What channels did after a push had come to them.

use std::collections::BTreeMap;

use audience::block::Block;
use audience::codec;
use base::Result;
use model::ids::{AppId, MessageNumber, Ordinal, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::push_marks::{self, ResponseKind};
use store::{Tx, inbox_users, messages};

use super::Response;
use super::block::decode;
use crate::inbox::holders;

/// Channels whose inboxes are looked up at once.
const READERS_AT_ONCE: usize = 256;

/// The responses within one block.
pub(super) struct BlockMarks {
    pub(super) received: RoaringBitmap,
    pub(super) opened: RoaringBitmap,
    pub(super) influenced: RoaringBitmap,
}

/// The message of a push, and who has it.
pub(super) struct Holders {
    number: MessageNumber,
    pub(super) channels: RoaringBitmap,
}

impl BlockMarks {
    pub(super) fn read(tx: &mut Tx<'_>, app: AppId, push: PushId, block: Block) -> Result<Self> {
        Ok(Self {
            received: Self::of_kind(tx, app, push, block, ResponseKind::Received)?,
            opened: Self::of_kind(tx, app, push, block, ResponseKind::Opened)?,
            influenced: Self::of_kind(tx, app, push, block, ResponseKind::Influenced)?,
        })
    }

    fn of_kind(tx: &mut Tx<'_>, app: AppId, push: PushId, block: Block, kind: ResponseKind) -> Result<RoaringBitmap> {
        let set = push_marks::set(tx, app, push, kind, u32::from(block.0))?;
        let mut all = set.map_or_else(|| Ok(RoaringBitmap::new()), |set| decode(&set))?;
        let rows = push_marks::between(tx, app, push, kind, block.first(), block.last())?;
        all.extend(rows.into_iter().map(|ordinal| ordinal.0));
        Ok(all)
    }

    pub(super) fn of(&self, ordinal: Ordinal, read: Option<bool>) -> Response {
        let opened = self.opened.contains(ordinal.0);
        let (received, influenced) = (self.received.contains(ordinal.0), self.influenced.contains(ordinal.0));
        Response { received, opened, influenced: !opened && influenced, read }
    }
}

impl Holders {
    /// `None` when the push has no message, or it has ended and is forgotten.
    pub(super) fn find(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<Self>> {
        let Some(message) = messages::by_push(tx, app, push)? else { return Ok(None) };
        Ok(Some(Self { number: message.number, channels: holders(tx, app, push)? }))
    }

    /// To find out which channels of a set have read the message.
    pub(super) fn readers(&self, among: &RoaringBitmap) -> Readers {
        Readers { number: self.number, holders: among & &self.channels, end: 0, readers: RoaringBitmap::new() }
    }
}

/// Who of the holders has read a message, looked up for many of them at once.
pub(super) struct Readers {
    number: MessageNumber,
    holders: RoaringBitmap,
    /// Channels before this one are looked up.
    end: u32,
    readers: RoaringBitmap,
}

impl Readers {
    /// Whether a channel has read the message; `None` if it does not have it. Channels are asked for in ascending order.
    pub(super) fn has_read(&mut self, tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Option<bool>> {
        if !self.holders.contains(ordinal.0) {
            return Ok(None);
        }
        if ordinal.0 >= self.end {
            self.look_up(tx, app, ordinal)?;
        }
        Ok(Some(self.readers.contains(ordinal.0)))
    }

    fn look_up(&mut self, tx: &mut Tx<'_>, app: AppId, first: Ordinal) -> Result<()> {
        let some: Vec<Ordinal> = self.holders.range(first.0..).take(READERS_AT_ONCE).map(Ordinal).collect();
        self.end = some.last().map_or(u32::MAX, |last| last.0.saturating_add(1));
        self.readers.clear();
        for (ordinal, read) in inbox_users::read_of(tx, app, &some)? {
            if decode(&read)?.contains(self.number.0) {
                self.readers.insert(ordinal.0);
            }
        }
        Ok(())
    }
}

/// Puts up to `at_most` responses of each kind to pushes that were accepted before an instant into sets, and returns how many of
/// the kind with the most.
pub fn fold_responses(tx: &mut Tx<'_>, app: AppId, first_kept: UtcMillis, at_most: u32) -> Result<u64> {
    let mut most = 0;
    for kind in ResponseKind::ALL {
        let rows = push_marks::before(tx, app, kind, first_kept, at_most)?;
        let mut sets: BTreeMap<(PushId, u32), RoaringBitmap> = BTreeMap::new();
        for (push, ordinal) in &rows {
            sets.entry((*push, u32::from(Block::of(*ordinal).0))).or_default().insert(ordinal.0);
        }
        for ((push, block), more) in sets {
            let before = push_marks::set(tx, app, push, kind, block)?;
            let before = before.map_or_else(|| Ok(RoaringBitmap::new()), |set| decode(&set))?;
            push_marks::put_set(tx, app, push, kind, block, codec::encode(&(before | more)))?;
        }
        push_marks::delete(tx, app, kind, &rows)?;
        most = most.max(rows.len() as u64);
    }
    Ok(most)
}
