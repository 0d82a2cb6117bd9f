//! Recognizing events that come again. Each is remembered by its id in the hour it happened in, so that it can be forgotten when
//! events of that hour are too old to be taken.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use base::Result;
use model::ids::{AppId, EventId};
use model::time::UtcMillis;
use store::counters::hour;
use store::{Tx, seen_events};

use super::OLDEST;

/// How long an event without a time of its own is recognized.
const REPEATED_HOURS: i64 = 24;

/// Where an event is remembered, and where it may be if it was taken before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    id: EventId,
    hour: i64,
    hours: RangeInclusive<i64>,
}

/// A time that an event names itself, and names again whenever it is sent; unless it is so far off that the event could not be
/// forgotten in time.
pub(super) fn own_time(time: Option<UtcMillis>, now: UtcMillis) -> Option<UtcMillis> {
    time.filter(|time| u128::from(time.0.abs_diff(now.0)) < OLDEST.as_millis())
}

impl Identity {
    /// Of an event with a time of its own.
    pub(super) fn with_time(id: EventId, time: UtcMillis) -> Self {
        let hour = hour(time);
        Self { id, hour, hours: hour..=hour }
    }

    /// Of an event whose time follows from our clock, so that it is where it first came in.
    pub(super) fn without_time(id: EventId, at: UtcMillis) -> Self {
        Self::within(id, at, REPEATED_HOURS)
    }

    /// Of an event that has neither a time nor an id: nothing but its text tells it from others, and the same may happen again.
    /// Only another try of the same upload is a repeat.
    pub(super) fn of_text(id: EventId, at: UtcMillis) -> Self {
        Self::within(id, at, 1)
    }

    fn within(id: EventId, at: UtcMillis, hours_back: i64) -> Self {
        let hour = hour(at);
        // One hour ahead, because the correction of a device's clock differs a little from one upload to the next.
        Self { id, hour, hours: hour - hours_back..=hour + 1 }
    }

    pub(super) const fn key(&self) -> (i64, EventId) {
        (self.hour, self.id)
    }

    fn possible_keys(&self) -> impl Iterator<Item = (i64, EventId)> {
        self.hours.clone().map(|hour| (hour, self.id))
    }
}

/// The events of a request that are known: from earlier requests, or from further up in this one.
pub(super) struct Seen {
    known: HashSet<(i64, EventId)>,
    new: Vec<(i64, EventId)>,
}

impl Seen {
    /// Announces a call of [`Seen::before`].
    pub(super) fn foresee<'i>(tx: &mut Tx<'_>, app: AppId, events: impl IntoIterator<Item = &'i Identity>) {
        seen_events::foresee(tx, app, events.into_iter().flat_map(Identity::possible_keys));
    }

    pub(super) fn before<'i>(
        tx: &mut Tx<'_>,
        app: AppId,
        events: impl IntoIterator<Item = &'i Identity>,
    ) -> Result<Self> {
        let keys: Vec<_> = events.into_iter().flat_map(Identity::possible_keys).collect();
        Ok(Self { known: seen_events::known(tx, app, &keys)?, new: Vec::new() })
    }

    pub(super) fn has(&self, event: &Identity) -> bool {
        event.possible_keys().any(|key| self.known.contains(&key))
    }

    pub(super) fn add(&mut self, event: &Identity) {
        self.known.insert(event.key());
        self.new.push(event.key());
    }

    /// Remembers the events that were added.
    pub(super) fn write(self, tx: &mut Tx<'_>, app: AppId) -> Result<()> {
        Ok(seen_events::add(tx, app, &self.new)?)
    }
}
