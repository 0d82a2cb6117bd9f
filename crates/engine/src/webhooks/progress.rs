//! What is remembered of a webhook between runs beyond the one offset up to which everything is delivered.

use std::collections::{HashMap, HashSet};

use model::event::EventOffset;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};

use super::breaker::Breaker;
use crate::{Error, Result};

/// As stored, with offsets as distances from one to the next, most of which are a byte or three.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Delivered beyond the offset up to which everything is.
    ahead: Vec<u64>,
    troubles: Vec<(u64, Trouble)>,
    pub(super) breaker: Breaker,
}

/// An event that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trouble {
    /// Since when; the time before a webhook came back from being away does not count.
    pub(super) since: UtcMillis,
    pub(super) attempts: u32,
    pub(super) retry_at: UtcMillis,
}

/// The same, for looking things up.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    pub(super) ahead: HashSet<EventOffset>,
    pub(super) troubles: HashMap<EventOffset, Trouble>,
}

impl Progress {
    /// Both lists are in order, and after `done`.
    pub(super) fn new(
        done: EventOffset,
        ahead: impl Iterator<Item = EventOffset>,
        troubles: impl Iterator<Item = (EventOffset, Trouble)>,
        breaker: Breaker,
    ) -> Self {
        let mut last = done;
        let ahead = ahead.map(|offset| step(&mut last, offset)).collect();
        let mut last = done;
        let troubles = troubles.map(|(offset, trouble)| (step(&mut last, offset), trouble)).collect();
        Self { ahead, troubles, breaker }
    }

    /// Whether anything waits until it is tried again.
    pub(super) fn is_troubled(&self) -> bool {
        !self.troubles.is_empty() || self.breaker.open_until().is_some()
    }

    /// The same with nothing to wait for from a time on.
    pub(super) fn due_at(mut self, now: UtcMillis) -> Self {
        self.breaker = self.breaker.closed();
        for (_, trouble) in &mut self.troubles {
            trouble.retry_at = now;
        }
        self
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(Error::internal)
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        postcard::from_bytes(bytes).map_err(Error::internal)
    }

    pub(super) fn remembered(&self, done: EventOffset) -> Remembered {
        let walk = |last: &mut EventOffset, distance: u64| {
            *last = EventOffset::from_number(last.number().saturating_add_unsigned(distance));
            *last
        };
        let mut last = done;
        let ahead = self.ahead.iter().map(|distance| walk(&mut last, *distance)).collect();
        let mut last = done;
        let troubles = self.troubles.iter().map(|(distance, trouble)| (walk(&mut last, *distance), *trouble)).collect();
        Remembered { ahead, troubles }
    }
}

impl Remembered {
    /// What concerns events after an offset, in their order.
    pub(super) fn after(&self, offset: EventOffset) -> (Vec<EventOffset>, Vec<(EventOffset, Trouble)>) {
        let mut ahead: Vec<_> = self.ahead.iter().copied().filter(|at| *at > offset).collect();
        ahead.sort_unstable();
        let troubles = self.troubles.iter().map(|(at, trouble)| (*at, *trouble));
        let mut troubles: Vec<_> = troubles.filter(|(at, _)| *at > offset).collect();
        troubles.sort_unstable_by_key(|(at, _)| *at);
        (ahead, troubles)
    }
}

fn step(last: &mut EventOffset, offset: EventOffset) -> u64 {
    let distance = offset.number().abs_diff(last.number());
    *last = offset;
    distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ids::Offset;

    #[test]
    fn nothing_waits_once_everything_is_due() {
        let (done, now) = (EventOffset::START, UtcMillis(7));
        let trouble = Trouble { since: UtcMillis(1), attempts: 2, retry_at: UtcMillis(9) };
        let at = EventOffset::new(Offset(1), 0);
        let progress = Progress::new(done, std::iter::empty(), [(at, trouble)].into_iter(), Breaker::default());
        assert!(progress.is_troubled() && !Progress::default().is_troubled());
        let remembered = progress.due_at(now).remembered(done);
        assert_eq!(remembered.troubles[&at], Trouble { retry_at: now, ..trouble });
    }

    #[test]
    fn what_is_remembered_comes_back_and_is_small() {
        let done = EventOffset::end_of(Offset(1_000_000_000));
        let ahead: Vec<_> = (5..4000).map(|place| EventOffset::new(Offset(1_000_000_001), place)).collect();
        let trouble = Trouble { since: UtcMillis(1), attempts: 2, retry_at: UtcMillis(3) };
        let troubles = [(EventOffset::new(Offset(1_000_000_001), 2), trouble)];
        let progress = Progress::new(done, ahead.iter().copied(), troubles.into_iter(), Breaker::default());
        let bytes = progress.to_bytes().unwrap();
        assert!(bytes.len() < 4100, "{} bytes", bytes.len());
        let remembered = Progress::from_bytes(&bytes).unwrap().remembered(done);
        assert_eq!(remembered.ahead, ahead.into_iter().collect());
        assert_eq!(remembered.troubles, troubles.into_iter().collect());
    }
}
