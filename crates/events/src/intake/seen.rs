//! Recognizing events that come again. Each is remembered by its id in the hour it happened in, so that it can be forgotten when
//! events of that hour are too old to be taken.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base::Result;
use model::ids::{AppId, ChannelId, EventId, Ordinal};
use model::time::UtcMillis;
use parking_lot::Mutex;
use store::counters::hour;
use store::{Store, Tx, seen_events, seen_uploads};

use super::OLDEST;

// A device chooses the hours of its events itself, and what an upload reads is bounded all the same. Its up to 500 events may be
// known in no more than 550 hours: each in its own, or in two of the 46 spans of 90 days, or in three around now. Of an hour up to
// [`MOST_ROWS`] rows are read, with 4 KiB of ids, and in a fuller hour there is a look for each event that may be known in it. So
// everything is taken that is not known.

/// Ids of one hour that a channel has in rows that are read as a whole. More of them are remembered one by one.
const MOST_TOGETHER: usize = 256;
/// Rows of a channel in one hour. Then they are merged by the next upload that adds one.
const MOST_ROWS: usize = 8;
/// How long an event without a time of its own is recognized, that of a device at least.
const REPEATED_HOURS: i64 = 24;

/// Where an event is remembered, and where it may be if it was taken before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    id: EventId,
    hour: i64,
    hours: Hours,
    /// Whether it may be known from before ids were kept by upload.
    is_of_former: bool,
}

/// The hours in which an event may be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hours {
    /// That of the time that it names.
    Own(i64),
    /// Those beside the one in which it came, too.
    Around(i64),
    /// Those of the day before it came, too.
    Day(i64),
    /// The first and the last span, which stand for all of their hours.
    Spans(i64, i64),
}

impl Hours {
    fn each(self) -> impl Iterator<Item = i64> {
        let (hours, other) = match self {
            Self::Own(hour) => (hour..=hour, None),
            Self::Around(hour) => (hour - 1..=hour + 1, None),
            Self::Day(hour) => (hour - REPEATED_HOURS..=hour + 1, None),
            Self::Spans(first, last) => (first..=first, (first != last).then_some(last)),
        };
        hours.chain(other)
    }
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
        Self { id, hour, hours: Hours::Own(hour), is_of_former: false }
    }

    /// Of an event of a server without a time of its own. Servers may use an id again on another day.
    pub(super) fn of_server(id: EventId, at: UtcMillis) -> Self {
        let hour = hour(at);
        Self { id, hour, hours: Hours::Day(hour), is_of_former: false }
    }

    /// Of an event of a device whose time follows from our clock. It is another one each time that the event comes, so spans of two
    /// days are looked through and not each of many hours. Two of them are enough.
    pub(super) fn without_time(id: EventId, at: UtcMillis) -> Self {
        let hour = hour(at);
        // One hour ahead, because the correction of a device's clock differs a little from one upload to the next.
        let hours = Hours::Spans(seen_events::span(hour - REPEATED_HOURS), seen_events::span(hour + 1));
        Self { id, hour: seen_events::span(hour), hours, is_of_former: false }
    }

    /// Of an event that has neither a time nor an id: nothing but its text tells it from others, and the same may happen again.
    /// Only another try of the same upload is a repeat.
    pub(super) fn of_text(id: EventId, at: UtcMillis) -> Self {
        let hour = hour(at);
        Self { id, hour, hours: Hours::Around(hour), is_of_former: false }
    }

    /// Up to an hour, ids were kept one by one. An event that may be in any of several hours is not looked for there: what a device
    /// without a clock sends again right after an upgrade is not worth as many questions for each of its events.
    pub(super) fn know_former(&mut self, until: Option<i64>) {
        self.is_of_former = matches!(self.hours, Hours::Own(_)) && until.is_some_and(|until| self.hour <= until);
    }

    pub(super) const fn key(&self) -> (i64, EventId) {
        (self.hour, self.id)
    }

    fn possible_keys(&self) -> impl Iterator<Item = (i64, EventId)> + use<> {
        let id = self.id;
        self.hours.each().map(move |hour| (hour, id))
    }
}

/// Under which an event is remembered alone: the ids of other channels are there, too.
fn key_alone((hour, id): (i64, EventId), channel: ChannelId) -> (i64, EventId) {
    (hour, id.on(channel))
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
        let (known, kept) = (HashSet::new(), BTreeMap::new());
        let mut seen = Self { sender, known, kept, new: Vec::new(), new_alone: Vec::new() };
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
            let full = event.possible_keys().filter(|(hour, _)| self.kept_in(*hour).is_full());
            keys.extend(full.map(|key| (key_alone(key, channel), key)));
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

    pub(super) fn add(&mut self, event: &Identity) {
        self.known.insert(event.key());
        let Sender::Channel(channel, _) = self.sender else {
            self.new_alone.push(event.key());
            return;
        };
        let kept = self.kept.entry(event.hour).or_default();
        if kept.is_full() {
            self.new_alone.push(key_alone(event.key(), channel));
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

    fn kept_in(&self, hour: i64) -> Kept {
        self.kept.get(&hour).copied().unwrap_or_default()
    }
}

fn possible_hours<'i>(events: impl IntoIterator<Item = &'i Identity>) -> BTreeSet<i64> {
    // Most events of an upload have the hours of the one before.
    let (mut hours, mut last) = (BTreeSet::new(), None);
    for event in events {
        if last.replace(event.hours) != Some(event.hours) {
            hours.extend(event.hours.each());
        }
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

#[cfg(test)]
mod tests {
    use model::ids::Id;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_event_without_a_time_is_found_for_a_day_in_two_spans_at_most() {
        let at = |hour: i64| Identity::without_time(Id::from_uuid(Uuid::nil()), UtcMillis(hour * 3_600_000));
        for hour in 480_000..480_100 {
            let hours: Vec<i64> = at(hour).hours.each().collect();
            assert!(hours.len() <= 2, "{hours:?}");
            let repeats = hour - REPEATED_HOURS..=hour + 1;
            assert!(repeats.into_iter().all(|before| hours.contains(&at(before).hour)), "{hour}: {hours:?}");
            assert!(at(hour).hour >= hour, "it is forgotten too early");
        }
    }
}
