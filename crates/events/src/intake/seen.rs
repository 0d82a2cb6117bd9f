//! Recognizing events that come again. Each is remembered by its id in the hour it happened in, so that it can be forgotten when
//! events of that hour are too old to be taken.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use base::Result;
use model::ids::{AppId, EventId, Ordinal};
use model::time::UtcMillis;
use parking_lot::Mutex;
use store::counters::hour;
use store::{Store, Tx, seen_events, seen_uploads};

use super::OLDEST;

/// Events of one hour that are kept of a channel: every upload looks through them, and a device gives the time of its events
/// itself.
pub(super) const MOST_OF_HOUR: usize = 5_000;
/// How long an event without a time of its own is recognized.
const REPEATED_HOURS: i64 = 24;

/// Where an event is remembered, and where it may be if it was taken before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    id: EventId,
    hour: i64,
    hours: RangeInclusive<i64>,
    /// Whether it may be known from before ids were kept by upload.
    is_of_former: bool,
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
        Self { id, hour, hours: hour..=hour, is_of_former: false }
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
        Self { id, hour, hours: hour - hours_back..=hour + 1, is_of_former: false }
    }

    /// Up to an hour, ids were kept one by one.
    pub(super) fn know_former(&mut self, until: Option<i64>) {
        self.is_of_former = until.is_some_and(|until| *self.hours.start() <= until);
    }

    pub(super) const fn key(&self) -> (i64, EventId) {
        (self.hour, self.id)
    }

    fn possible_keys(&self) -> impl Iterator<Item = (i64, EventId)> {
        self.hours.clone().map(|hour| (hour, self.id))
    }
}

/// Whose ids they are. Those of servers are known throughout the app, those of a device to its channel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sender {
    Server,
    Channel(Ordinal),
}

/// The events of a request that are known: from earlier requests, or from further up in this one.
pub(super) struct Seen {
    sender: Sender,
    known: HashSet<(i64, EventId)>,
    /// How many events of a channel are kept of each hour.
    n_kept: BTreeMap<i64, usize>,
    new: Vec<(i64, EventId)>,
}

impl Seen {
    /// Announces a call of [`Seen::before`] about the events of a channel.
    pub(super) fn foresee<'i>(
        tx: &mut Tx<'_>,
        app: AppId,
        channel: Ordinal,
        events: impl IntoIterator<Item = &'i Identity>,
    ) {
        seen_uploads::foresee(tx, app, channel, possible_hours(events));
    }

    pub(super) fn before<'i>(
        tx: &mut Tx<'_>,
        app: AppId,
        sender: Sender,
        events: impl IntoIterator<Item = &'i Identity> + Clone,
    ) -> Result<Self> {
        let keys = |events: &mut dyn Iterator<Item = &'i Identity>| -> Vec<_> {
            events.flat_map(Identity::possible_keys).collect()
        };
        let (mut known, mut n_kept) = (HashSet::new(), BTreeMap::new());
        match sender {
            Sender::Server => known = seen_events::known(tx, app, &keys(&mut events.into_iter()))?,
            Sender::Channel(channel) => {
                // Many are known and hardly any of those is asked for again, so they are not hashed.
                let mut asked = keys(&mut events.clone().into_iter());
                asked.sort_unstable();
                seen_uploads::visit_known(tx, app, channel, possible_hours(events.clone()), |hour, ids| {
                    *n_kept.entry(hour).or_default() += ids.len();
                    known.extend(ids.map(|id| (hour, id)).filter(|key| asked.binary_search(key).is_ok()));
                })?;
                let former = keys(&mut events.into_iter().filter(|event| event.is_of_former));
                if !former.is_empty() {
                    known.extend(seen_events::known(tx, app, &former)?);
                }
            }
        }
        Ok(Self { sender, known, n_kept, new: Vec::new() })
    }

    pub(super) fn has(&self, event: &Identity) -> bool {
        event.possible_keys().any(|key| self.known.contains(&key))
    }

    /// Whether the channel has sent so many events of that hour that no more can be kept.
    pub(super) fn is_full(&self, event: &Identity) -> bool {
        self.n_kept.get(&event.hour).is_some_and(|n_kept| *n_kept >= MOST_OF_HOUR)
    }

    pub(super) fn add(&mut self, event: &Identity) {
        self.known.insert(event.key());
        if matches!(self.sender, Sender::Channel(_)) {
            *self.n_kept.entry(event.hour).or_default() += 1;
        }
        self.new.push(event.key());
    }

    /// Remembers the events that were added.
    pub(super) fn write(self, tx: &mut Tx<'_>, app: AppId) -> Result<()> {
        match self.sender {
            Sender::Server => seen_events::add(tx, app, &self.new)?,
            Sender::Channel(channel) => seen_uploads::add(tx, app, channel, &self.new)?,
        }
        Ok(())
    }
}

fn possible_hours<'i>(events: impl IntoIterator<Item = &'i Identity>) -> BTreeSet<i64> {
    events.into_iter().flat_map(|event| event.hours.clone()).collect()
}

/// Until which hour ids of devices were kept one by one, by a former version, in each app that this process has met.
#[derive(Default)]
pub(crate) struct FormerIds(Mutex<HashMap<AppId, Option<i64>>>);

impl FormerIds {
    /// As far as there are any. Ids of servers are kept so to this day, and an hour that has only those is looked up in vain.
    pub(super) async fn until(&self, store: &Store, app: AppId) -> Result<Option<i64>> {
        if let Some(until) = self.0.lock().get(&app) {
            return Ok(*until);
        }
        let until = store.read(move |tx| seen_events::last_hour(tx, app)).await?;
        self.0.lock().insert(app, until);
        Ok(until)
    }

    pub(crate) fn forget_app(&self, app: AppId) {
        self.0.lock().remove(&app);
    }
}
