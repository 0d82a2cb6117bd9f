//! Where an event stands among the events of its app.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::Offset;

/// A position in the log and, in a record that tells of many channels, the place of the channel in it. Grows from event to event;
/// to resume after an event means strictly after its offset. Written as one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventOffset(i64);

/// A record is about one block at most, which has 2^16 channels.
const PLACE_BITS: u32 = 17;
const LAST_PLACE: i64 = (1 << PLACE_BITS) - 1;

impl EventOffset {
    /// Before everything.
    pub const START: Self = Self(0);

    /// By how much offsets grow from record to record.
    pub const PER_RECORD: i64 = 1 << PLACE_BITS;

    /// Of the event at a place (counted from 0) within a record.
    pub const fn new(record: Offset, place: u32) -> Self {
        Self((record.0 << PLACE_BITS) | (place as i64 & LAST_PLACE))
    }

    /// After every event of a record.
    pub const fn end_of(record: Offset) -> Self {
        Self((record.0 << PLACE_BITS) | LAST_PLACE)
    }

    /// The last record that was read to its end.
    pub const fn records_done(self) -> Offset {
        let record = self.0 >> PLACE_BITS;
        Offset(if self.0 & LAST_PLACE == LAST_PLACE { record } else { record - 1 })
    }

    /// The first place in a record that comes after this.
    pub fn next_place_in(self, record: Offset) -> u32 {
        match record.cmp(&self.record()) {
            Ordering::Greater => 0,
            Ordering::Equal => u32::try_from(self.0 & LAST_PLACE).map_or(u32::MAX, |place| place + 1),
            Ordering::Less => u32::MAX,
        }
    }

    pub const fn record(self) -> Offset {
        Offset(self.0 >> PLACE_BITS)
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
        let next_places = [EventOffset::START, first, last].map(|offset| offset.next_place_in(record));
        assert_eq!(next_places, [0, 1, 65_536]);
        assert_eq!(EventOffset::new(Offset(42), 0).next_place_in(record), u32::MAX);
        assert_eq!(first.to_string().parse(), Ok(first));
        for text in ["", "-1", "x", "1.5", "99999999999999999999"] {
            assert_eq!(text.parse::<EventOffset>(), Err(()), "{text}");
        }
    }
}
