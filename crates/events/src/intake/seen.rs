//! Recognizing events that come again. Each is remembered by its id in the hour it happened in, so that it can be forgotten when
//! events of that hour are too old to be taken.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use base::Result;
use model::ids::{AppId, ChannelId, EventId, Ordinal};
use model::time::UtcMillis;
use parking_lot::Mutex;
use store::counters::hour;
use store::{Store, Tx, seen_events, seen_uploads};

use super::OLDEST;

// What an upload reads is bounded, whatever the device says: up to [`MOST_HOURS`] times [`MOST_ROWS`] rows, with 4 KiB of ids of
// each hour, and a look for each event of a fuller hour. A device chooses the hours of its events itself.

/// Ids of one hour that a channel has in rows that are read as a whole. More of them are remembered one by one.
const MOST_TOGETHER: usize = 256;
/// Rows of a channel in one hour. Then they are merged by the next upload that adds one.
const MOST_ROWS: usize = 8;
/// Hours that are looked through for one upload, the latest that it names. An honest one names no more: it has up to 500 events,
/// and the hours in which one without a time may be known are the same for all that happened within an hour.
const MOST_HOURS: usize = 600;
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

    /// Up to an hour, ids were kept one by one. An event that may be in any of many hours is not looked for there: what a device
    /// without a clock sends again right after an upgrade is not worth as many questions for each of its events.
    pub(super) fn know_former(&mut self, until: Option<i64>) {
        self.is_of_former = self.has_own_time() && until.is_some_and(|until| self.hour <= until);
    }

    fn has_own_time(&self) -> bool {
        self.hours.start() == self.hours.end()
    }

    pub(super) const fn key(&self) -> (i64, EventId) {
        (self.hour, self.id)
    }

    /// Under which it is remembered alone: the ids of other channels are there, too.
    fn key_of(&self, channel: ChannelId) -> (i64, EventId) {
        (self.hour, self.id.on(channel))
    }

    fn possible_keys(&self) -> impl Iterator<Item = (i64, EventId)> {
        self.hours.clone().map(|hour| (hour, self.id))
    }
}

/// Whose ids they are. Those of servers are known throughout the app, those of a device to its channel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sender {
    Server,
    Channel(ChannelId, Ordinal),
}

/// The events of a request that are known: from earlier requests, or from further up in this one.
pub(super) struct Seen {
    sender: Sender,
    known: HashSet<(i64, EventId)>,
    /// What is kept of a channel together, by hour.
    kept: BTreeMap<i64, Kept>,
    /// Earlier hours were not looked through.
    first_hour: i64,
    new: Vec<(i64, EventId)>,
    /// Those that are remembered one by one.
    new_alone: Vec<(i64, EventId)>,
}

#[derive(Clone, Copy, Default)]
struct Kept {
    n_ids: usize,
    n_rows: usize,
}

impl Kept {
    const fn is_full(self) -> bool {
        self.n_ids >= MOST_TOGETHER
    }
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
        let (known, kept, first_hour) = (HashSet::new(), BTreeMap::new(), i64::MIN);
        let mut seen = Self { sender, known, kept, first_hour, new: Vec::new(), new_alone: Vec::new() };
        match sender {
            Sender::Server => {
                let keys: Vec<_> = events.into_iter().flat_map(Identity::possible_keys).collect();
                seen.known = seen_events::known(tx, app, &keys)?;
            }
            Sender::Channel(channel, ordinal) => {
                seen.look_through(tx, app, ordinal, events.clone())?;
                seen.look_for_each(tx, app, channel, events)?;
            }
        }
        Ok(seen)
    }

    /// Finds events among those that are kept together.
    fn look_through<'i>(
        &mut self,
        tx: &mut Tx<'_>,
        app: AppId,
        channel: Ordinal,
        events: impl IntoIterator<Item = &'i Identity> + Clone,
    ) -> Result<()> {
        let hours = possible_hours(events.clone());
        self.first_hour = hours.first().copied().unwrap_or(i64::MIN);
        // Many are known and hardly any of those is asked for again, so they are not hashed.
        let mut asked: Vec<_> = events.into_iter().flat_map(Identity::possible_keys).collect();
        asked.sort_unstable();
        let Self { known, kept, .. } = self;
        seen_uploads::visit_known(tx, app, channel, hours, |hour, ids| {
            let kept: &mut Kept = kept.entry(hour).or_default();
            *kept = Kept { n_ids: kept.n_ids + ids.len(), n_rows: kept.n_rows + 1 };
            let start = asked.partition_point(|(of, _)| *of < hour);
            let n_asked = asked[start..].partition_point(|(of, _)| *of == hour);
            let asked = &asked[start..start + n_asked];
            let is_asked = |id: &EventId| asked.binary_search_by_key(id, |(_, id)| *id).is_ok();
            known.extend(ids.filter(is_asked).map(|id| (hour, id)));
        })?;
        Ok(())
    }

    /// Finds events that may be kept one by one.
    fn look_for_each<'i>(
        &mut self,
        tx: &mut Tx<'_>,
        app: AppId,
        channel: ChannelId,
        events: impl IntoIterator<Item = &'i Identity>,
    ) -> Result<()> {
        let mut keys = HashMap::new();
        for event in events {
            if event.is_of_former {
                keys.insert(event.key(), event.key());
            }
            if event.has_own_time() && self.kept_of(event).is_full() {
                keys.insert(event.key_of(channel), event.key());
            }
        }
        if !keys.is_empty() {
            let found = seen_events::known(tx, app, &keys.keys().copied().collect::<Vec<_>>())?;
            self.known.extend(found.iter().filter_map(|key| keys.get(key)));
        }
        Ok(())
    }

    pub(super) fn has(&self, event: &Identity) -> bool {
        event.possible_keys().any(|key| self.known.contains(&key))
    }

    /// Whether the event cannot be told from those that the channel has sent: it may be in hours that were not looked through, or
    /// in any of many, of which one is full.
    pub(super) fn is_too_much(&self, event: &Identity) -> bool {
        *event.hours.start() < self.first_hour || (!event.has_own_time() && self.kept_of(event).is_full())
    }

    pub(super) fn add(&mut self, event: &Identity) {
        self.known.insert(event.key());
        let Sender::Channel(channel, _) = self.sender else {
            self.new_alone.push(event.key());
            return;
        };
        let kept = self.kept.entry(event.hour).or_default();
        if kept.is_full() {
            self.new_alone.push(event.key_of(channel));
        } else {
            kept.n_ids += 1;
            self.new.push(event.key());
        }
    }

    /// Remembers the events that were added.
    pub(super) fn write(self, tx: &mut Tx<'_>, app: AppId) -> Result<()> {
        let Self { sender, kept, new, new_alone, .. } = self;
        if let Sender::Channel(_, ordinal) = sender {
            let crowded = kept.iter().filter(|(_, kept)| kept.n_rows >= MOST_ROWS).map(|(hour, _)| *hour).collect();
            seen_uploads::add(tx, app, ordinal, &new, &crowded)?;
        }
        seen_events::add(tx, app, &new_alone)?;
        Ok(())
    }

    fn kept_of(&self, event: &Identity) -> Kept {
        self.kept.get(&event.hour).copied().unwrap_or_default()
    }
}

/// The hours in which events may be known, the latest of them.
fn possible_hours<'i>(events: impl IntoIterator<Item = &'i Identity>) -> BTreeSet<i64> {
    // Most events of an upload have the hours of the one before.
    let (mut hours, mut last) = (BTreeSet::new(), None);
    for event in events {
        if last.replace(&event.hours) != Some(&event.hours) {
            hours.extend(event.hours.clone());
        }
    }
    while hours.len() > MOST_HOURS {
        hours.pop_first();
    }
    hours
}

/// Until which hour ids of devices were kept one by one, by a former version, in each app that this process has met.
#[derive(Default)]
pub(crate) struct FormerIds(Mutex<HashMap<AppId, Option<i64>>>);

impl FormerIds {
    /// As far as there are any. Ids of servers, and of hours with hundreds, are kept so to this day: an hour that has only those is
    /// looked up in vain. No hour after this one is, although a wrong clock may have named one.
    pub(super) async fn until(&self, store: &Store, app: AppId, now: UtcMillis) -> Result<Option<i64>> {
        if let Some(until) = self.0.lock().get(&app) {
            return Ok(*until);
        }
        let until = store.read(move |tx| seen_events::last_hour(tx, app)).await?.map(|until| until.min(hour(now)));
        self.0.lock().insert(app, until);
        Ok(until)
    }

    pub(crate) fn forget_app(&self, app: AppId) {
        self.0.lock().remove(&app);
    }
}
