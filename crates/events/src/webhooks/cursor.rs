//! The cursor of a webhook between runs beyond the one offset up to which everything is delivered: how far anything was
//! delivered beyond it, and the few events in between that were not.

use std::collections::BTreeMap;

use base::{Error, Result};
use model::event::EventOffset;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};

use super::breaker::Breaker;

/// As stored, with offsets as distances from one to the next, most of which are a byte or three.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WebhookCursor {
    /// Up to this distance beyond the offset of the webhook, everything is delivered or held.
    reach: u64,
    /// The events within that reach that were not taken, with the failures of those that were tried.
    held: Vec<(u64, Option<Trouble>)>,
    pub(super) breaker: Breaker,
}

/// An event that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trouble {
    /// Since when; time during which the webhook was away does not count.
    pub(super) since: UtcMillis,
    pub(super) attempts: u32,
    pub(super) retry_at: UtcMillis,
    /// The webhook is there, and does not want this very event.
    pub(super) is_refused: bool,
}

/// The same, for looking things up.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// Everything up to here is delivered, except the held events.
    pub(super) until: EventOffset,
    /// With the failures of those that were tried.
    pub(super) held: BTreeMap<EventOffset, Option<Trouble>>,
}

impl WebhookCursor {
    /// The held events are in order, after `done`, and not after `until`.
    pub(super) fn new(
        done: EventOffset,
        until: EventOffset,
        held: impl Iterator<Item = (EventOffset, Option<Trouble>)>,
        breaker: Breaker,
    ) -> Self {
        let reach = u64::try_from(until.number() - done.number()).unwrap_or(0);
        let mut last = done;
        let held = held.map(|(offset, trouble)| {
            let distance = offset.number().abs_diff(last.number());
            last = offset;
            (distance, trouble)
        });
        Self { reach, held: held.collect(), breaker }
    }

    /// Whether anything waits until it is tried again, or failures are remembered.
    pub(super) fn is_troubled(&self) -> bool {
        let is_any_waiting = self.held.iter().any(|(_, trouble)| trouble.is_some());
        is_any_waiting || self.breaker.open_until().is_some() || self.breaker.fruitless_since().is_some()
    }

    /// The same with everything due at a time.
    pub(super) fn due_at(mut self, now: UtcMillis) -> Self {
        self.breaker = self.breaker.forgiven();
        for trouble in self.held.iter_mut().filter_map(|(_, trouble)| trouble.as_mut()) {
            trouble.retry_at = now;
        }
        self
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(Error::internal)
    }

    /// `None`: nothing is known.
    pub(super) fn from_stored(bytes: Option<&[u8]>) -> Result<Self> {
        bytes.map_or(Ok(Self::default()), |bytes| postcard::from_bytes(bytes).map_err(Error::internal))
    }

    pub(super) fn remembered(&self, done: EventOffset) -> Remembered {
        let further = |from: EventOffset, by: u64| EventOffset::from_number(from.number().saturating_add_unsigned(by));
        let mut last = done;
        let held = self.held.iter().map(|(distance, trouble)| {
            last = further(last, *distance);
            (last, *trouble)
        });
        Remembered { held: held.collect(), until: further(done, self.reach) }
    }
}

impl Remembered {
    /// Where to read on after an offset, skipping delivered events.
    pub(super) fn next_after(&self, read: EventOffset) -> EventOffset {
        match self.held.first_key_value() {
            Some((first, _)) => EventOffset::from_number(first.number() - 1).max(read),
            None => self.until.max(read),
        }
    }

    /// Forgets held events up to where the log was read: an event that was not found there was deleted or is no longer wanted.
    pub(super) fn forget_until(&mut self, read: EventOffset) {
        while let Some(first) = self.held.first_entry().filter(|first| *first.key() <= read) {
            first.remove();
        }
    }

    /// How many of the records deleted after an offset are missing.
    pub(super) fn n_missed(&self, read: EventOffset, n_deleted: u64) -> u64 {
        let last_deleted = read.records_done().0.saturating_add_unsigned(n_deleted);
        let mut lost: Vec<i64> = self.held.keys().map(|held| held.record().0).collect();
        lost.retain(|record| *record <= last_deleted);
        lost.dedup();
        let n_beyond = last_deleted - self.until.records_done().max(read.records_done()).0;
        lost.len() as u64 + u64::try_from(n_beyond).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ids::Offset;

    fn trouble(retry_at: i64) -> Trouble {
        Trouble { since: UtcMillis(1), attempts: 2, retry_at: UtcMillis(retry_at), is_refused: false }
    }

    fn at(record: i64) -> EventOffset {
        EventOffset::new(Offset(record), 0)
    }

    #[test]
    fn nothing_waits_once_everything_is_due() {
        let (done, now) = (EventOffset::START, UtcMillis(7));
        let held = [(at(1), Some(trouble(9)))];
        let cursor = WebhookCursor::new(done, at(1), held.into_iter(), Breaker::default());
        assert!(cursor.is_troubled() && !WebhookCursor::default().is_troubled());
        let remembered = cursor.due_at(now).remembered(done);
        assert_eq!(remembered.held[&at(1)], Some(trouble(7)));
    }

    #[test]
    fn what_is_remembered_comes_back_and_is_small_however_much_was_delivered() {
        let done = EventOffset::end_of(Offset(1_000_000_000));
        let held = [(at(1_000_000_001), Some(trouble(3))), (at(1_000_000_500), None)];
        let until = at(1_999_999_999);
        let bytes = WebhookCursor::new(done, until, held.into_iter(), Breaker::default()).to_bytes().unwrap();
        assert!(bytes.len() < 40, "{} bytes", bytes.len());
        let remembered = WebhookCursor::from_stored(Some(&bytes)).unwrap().remembered(done);
        assert_eq!((remembered.until, remembered.held), (until, held.into_iter().collect()));
    }

    #[test]
    fn only_what_was_not_delivered_is_missed() {
        let held = [(at(10), None), (at(20), None), (at(90), None)];
        let read = EventOffset::end_of(Offset(9));
        let cursor = WebhookCursor::new(read, EventOffset::end_of(Offset(100)), held.into_iter(), Breaker::default());
        let mut remembered = cursor.remembered(read);
        assert_eq!(remembered.n_missed(read, 0), 0);
        assert_eq!(remembered.n_missed(read, 41), 2, "10 and 20; the others up to 50 were delivered");
        assert_eq!(remembered.n_missed(read, 101), 3 + 10, "those, and everything after what was delivered");
        remembered.forget_until(at(50));
        assert_eq!(remembered.next_after(at(50)).number(), at(90).number() - 1);
        remembered.forget_until(at(95));
        assert_eq!(remembered.next_after(at(95)), EventOffset::end_of(Offset(100)));
    }
}
