//! The messages of the last hours in memory, by their channels, so that a device that comes back costs no look at the database.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use audience::block::{Block, blocks};
use model::ids::{Offset, Ordinal};
use model::time::UtcMillis;
use roaring::RoaringBitmap;

use crate::message::Message;

/// As long as deliveries are remembered to attribute openings.
pub(crate) const KEPT: Duration = Duration::from_secs(13 * 60 * 60);
/// This many channels of a block are worth a set.
const MANY: u64 = 64;
/// What the messages of an app may take; older ones are read from the log.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// What a message takes beside its content.
const BYTES_EACH: usize = 160;

#[derive(Default)]
pub(crate) struct Backlog {
    /// Messages up to here are not known.
    floor: Offset,
    /// How far the log was read.
    seen: Offset,
    /// All of them, oldest first.
    order: VecDeque<Kept>,
    /// The messages to a few channels, by channel.
    few: HashMap<u32, VecDeque<Message>>,
    /// The messages to many channels of a block.
    many: HashMap<Block, VecDeque<(RoaringBitmap, Message)>>,
    n_bytes: usize,
}

/// A message, and where it is found.
struct Kept {
    at: Offset,
    occurred: UtcMillis,
    n_bytes: usize,
    place: Place,
}

enum Place {
    Few(Vec<u32>),
    Many(Block),
}

impl Backlog {
    /// Knows nothing up to an offset, and everything after it.
    pub(crate) fn after(floor: Offset) -> Self {
        Self { floor, seen: floor, ..Self::default() }
    }

    pub(crate) const fn floor(&self) -> Offset {
        self.floor
    }

    pub(crate) const fn seen(&self) -> Offset {
        self.seen
    }

    pub(crate) fn advance(&mut self, seen: Offset) {
        self.seen = self.seen.max(seen);
    }

    pub(crate) fn add(&mut self, message: &Message, channels: &RoaringBitmap) {
        for (block, channels) in blocks(channels) {
            let n_bytes = BYTES_EACH + message.content.len() + channels.serialized_size();
            let place = if channels.len() < MANY {
                for ordinal in &channels {
                    self.few.entry(ordinal).or_default().push_back(message.clone());
                }
                Place::Few(channels.iter().collect())
            } else {
                self.many.entry(block).or_default().push_back((channels, message.clone()));
                Place::Many(block)
            };
            self.n_bytes += n_bytes;
            self.order.push_back(Kept { at: message.at, occurred: message.occurred, n_bytes, place });
        }
        self.advance(message.at);
    }

    /// Forgets what is too old, and the oldest of what is too much.
    pub(crate) fn forget_before(&mut self, instant: UtcMillis) {
        loop {
            let is_full = self.n_bytes > MOST_BYTES;
            let Some(kept) = self.order.pop_front_if(|kept| is_full || kept.occurred < instant) else { return };
            self.floor = self.floor.max(kept.at);
            self.n_bytes -= kept.n_bytes;
            match kept.place {
                Place::Few(ordinals) => ordinals.into_iter().for_each(|ordinal| self.forget_one(ordinal)),
                Place::Many(block) => {
                    if let Some(sets) = self.many.get_mut(&block) {
                        sets.pop_front();
                        if sets.is_empty() {
                            self.many.remove(&block);
                        }
                    }
                }
            }
        }
    }

    fn forget_one(&mut self, ordinal: u32) {
        if let Some(messages) = self.few.get_mut(&ordinal) {
            messages.pop_front();
            if messages.is_empty() {
                self.few.remove(&ordinal);
            }
        }
    }

    /// The messages to a channel after an offset, oldest first.
    pub(crate) fn to(&self, ordinal: Ordinal, after: Offset) -> impl Iterator<Item = &Message> {
        let few = self.few.get(&ordinal.0).map(|messages| {
            let first = messages.partition_point(|message| message.at <= after);
            messages.range(first..)
        });
        let many = self.many.get(&Block::of(ordinal)).map(|sets| {
            let first = sets.partition_point(|(_, message)| message.at <= after);
            sets.range(first..).filter(move |(channels, _)| channels.contains(ordinal.0)).map(|(_, message)| message)
        });
        let (mut few, mut many) = (few.into_iter().flatten().peekable(), many.into_iter().flatten().peekable());
        std::iter::from_fn(move || match (few.peek(), many.peek()) {
            (Some(one), Some(other)) if one.at > other.at => many.next(),
            (Some(_), _) => few.next(),
            (None, _) => many.next(),
        })
    }
}

#[cfg(test)]
mod tests {
    use model::ids::PushId;
    use proptest::prelude::*;

    use super::*;

    fn message(at: i64) -> Message {
        let push = PushId::random();
        Message { at: Offset(at), occurred: UtcMillis(at * 1000), push, expires: None, content: "{}".into() }
    }

    fn to(backlog: &Backlog, ordinal: u32, after: i64) -> Vec<i64> {
        backlog.to(Ordinal(ordinal), Offset(after)).map(|message| message.at.0).collect()
    }

    #[test]
    fn old_messages_are_forgotten_and_the_floor_tells() {
        let mut backlog = Backlog::after(Offset(3));
        for at in 4..10 {
            backlog.add(&message(at), &(0..if at % 2 == 0 { 100 } else { 3 }).collect());
        }
        assert_eq!((backlog.floor(), backlog.seen()), (Offset(3), Offset(9)));
        assert_eq!(to(&backlog, 2, 5), [6, 7, 8, 9]);
        assert_eq!(to(&backlog, 50, 0), [4, 6, 8]);
        backlog.forget_before(UtcMillis(7000));
        assert_eq!((backlog.floor(), to(&backlog, 2, 0)), (Offset(6), vec![7, 8, 9]));
        backlog.forget_before(UtcMillis(70_000));
        assert!(backlog.few.is_empty() && backlog.many.is_empty() && backlog.n_bytes == 0);
        assert_eq!((backlog.floor(), backlog.seen()), (Offset(9), Offset(9)));
    }

    proptest! {
        #[test]
        fn everybody_is_told_their_own_in_order(
            sent in prop::collection::vec((0_u32..200, 1_u32..150), 0..40), ordinal in 0_u32..200, after in 0_i64..40,
        ) {
            let mut backlog = Backlog::after(Offset(0));
            let mut wanted = Vec::new();
            for (at, (first, n)) in (1..).zip(&sent) {
                let channels: RoaringBitmap = (*first..first + n).collect();
                if at > after && channels.contains(ordinal) {
                    wanted.push(at);
                }
                backlog.add(&message(at), &channels);
            }
            prop_assert_eq!(to(&backlog, ordinal, after), wanted);
        }
    }
}
