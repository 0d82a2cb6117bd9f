//! The position of an event among the events of its app.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::Offset;

/// A position in the log and, in a record about many channels, the index of the channel in it. Grows from event to event;
/// resuming after an event means strictly after its offset. Written as one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventOffset(i64);

/// A record is about one block at most, which has 2^16 channels.
const INDEX_BITS: u32 = 17;
const LAST_INDEX: i64 = (1 << INDEX_BITS) - 1;

impl EventOffset {
    /// Before everything.
    pub const START: Self = Self(0);

    /// By how much offsets grow from record to record.
    pub const PER_RECORD: i64 = 1 << INDEX_BITS;

    /// Of the event with an index (counted from 0) within a record.
    pub const fn new(record: Offset, index: u32) -> Self {
        Self((record.0 << INDEX_BITS) | (index as i64 & LAST_INDEX))
    }

    /// After every event of a record.
    pub const fn end_of(record: Offset) -> Self {
        Self((record.0 << INDEX_BITS) | LAST_INDEX)
    }

    /// The last record that was read to its end.
    pub const fn records_done(self) -> Offset {
        let record = self.0 >> INDEX_BITS;
        Offset(if self.0 & LAST_INDEX == LAST_INDEX { record } else { record - 1 })
    }

    /// The first index in a record after this offset.
    pub fn next_index_in(self, record: Offset) -> u32 {
        match record.cmp(&self.record()) {
            Ordering::Greater => 0,
            Ordering::Equal => u32::try_from(self.0 & LAST_INDEX).map_or(u32::MAX, |index| index + 1),
            Ordering::Less => u32::MAX,
        }
    }

    pub const fn record(self) -> Offset {
        Offset(self.0 >> INDEX_BITS)
    }

    pub const fn number(self) -> i64 {
        self.0
    }

    pub const fn from_number(number: i64) -> Self {
        Self(if number < 0 { 0 } else { number })
    }
}

impl fmt::Display for EventOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EventOffset {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.parse().ok().filter(|number| *number >= 0).map(Self).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_grow_from_event_to_event() {
        let record = Offset(41);
        let (first, last) = (EventOffset::new(record, 0), EventOffset::new(record, 65_535));
        assert!(EventOffset::START < first && first < last && last < EventOffset::end_of(record));
        assert!(EventOffset::end_of(record) < EventOffset::new(Offset(42), 0));
        assert_eq!((first.record(), last.record()), (record, record));
        assert_eq!(first.records_done(), Offset(40), "more of the record may follow");
        assert_eq!(EventOffset::end_of(record).records_done(), record);
        let next_index = [EventOffset::START, first, last].map(|offset| offset.next_index_in(record));
        assert_eq!(next_index, [0, 1, 65_536]);
        assert_eq!(EventOffset::new(Offset(42), 0).next_index_in(record), u32::MAX);
        assert_eq!(first.to_string().parse(), Ok(first));
        for text in ["", "-1", "x", "1.5", "99999999999999999999"] {
            assert_eq!(text.parse::<EventOffset>(), Err(()), "{text}");
        }
    }
}
