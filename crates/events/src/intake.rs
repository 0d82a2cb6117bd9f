//! Taking in the events of devices: each upload is one transaction, in which repeats are recognized, events are written to the
//! log with the pushes they are due to, and everything that follows from them is changed and counted.

mod attribution;
mod changes;
mod counts;
mod custom_events;
mod openings;
mod seen;
mod taking;
mod upload_rate;

use std::time::Duration;

use base::{Metrics, Result};
use boxed::boxed;
use devices::{ChangeContext, Whereabouts};
use model::channel::UsageUpdate;
use model::device_event::{Content, DeviceEvent, DeviceEvents};
use model::ids::{AppId, ChannelId};
use model::place::Sighting;
use model::time::UtcMillis;
use store::counters::hour;
use store::{Tx, seen_events, seen_uploads};

use crate::Events;

pub use custom_events::{Chosen, WithEvents};
pub(crate) use seen::FormerIds;
pub(crate) use upload_rate::UploadRate;

use seen::{Identity, own_time};

/// Older events are not taken.
const OLDEST: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Clocks may be ahead by this much; an event that claims to be later counts as happening now.
const LATEST: Duration = Duration::from_secs(5 * 60);
/// A clock that is wrong by less is not corrected: uploads take a while, too.
const CLOCK_TOLERANCE_MILLIS: u64 = 10_000;
/// Ids that are forgotten in one transaction.
const FORGOTTEN_AT_ONCE: u32 = 5_000;

/// One upload of a device.
#[derive(Clone, Debug)]
pub struct Upload {
    /// `None` for a device that does not say, or not in a way that makes sense.
    pub channel: Option<ChannelId>,
    /// By the clock of the device.
    pub sent_at: Option<UtcMillis>,
    pub usage: UsageUpdate,
    pub events: DeviceEvents,
}

/// The outcome of the events of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    pub taken: u64,
    /// Events that had been taken before.
    pub repeated: u64,
    pub too_old: u64,
    pub unreadable: u64,
    /// Events of a channel that is not installed, or not the app's.
    pub of_nobody: u64,
}

impl Taken {
    fn count(&self, metrics: &Metrics) {
        let Self { taken, repeated, too_old, unreadable, of_nobody } = *self;
        let outcomes = [
            ("taken", taken),
            ("repeated", repeated),
            ("too_old", too_old),
            ("unreadable", unreadable),
            ("unknown_channel", of_nobody),
        ];
        outcomes.into_iter().for_each(|(outcome, n)| metrics.events_came_in(outcome, n));
    }
}

/// An event and the data it needs before a transaction can begin.
struct Timed {
    event: DeviceEvent,
    /// By our clock.
    at: UtcMillis,
    /// By which repeats are recognized.
    identity: Identity,
    /// Of an event with the location of the device.
    seen: Option<Whereabouts>,
}

#[boxed]
impl Events {
    /// Takes in the events of a device. Sending them again, for want of an answer, changes nothing.
    pub async fn take_events(&self, app: AppId, upload: Upload) -> Result<Taken> {
        let Upload { channel, sent_at, usage, events } = upload;
        let DeviceEvents { mut events, n_unreadable } = events;
        let unreadable = n_unreadable as u64;
        let Some(channel) = channel else {
            let taken = Taken { of_nobody: events.len() as u64, unreadable, ..Taken::default() };
            taken.count(&self.0.metrics);
            return Ok(taken);
        };
        // Two devices that upload the same text mean two events.
        for event in events.iter_mut().filter(|event| event.is_id_of_text) {
            event.id = event.id.on(channel);
        }
        let now = self.0.clock.now();
        let n_events = events.len();
        let mut timed = time_events(events, sent_at, now);
        let too_old = (n_events - timed.len()) as u64;
        let former = self.0.former_ids.until(&self.0.store, app, now).await?;
        timed.iter_mut().for_each(|timed| timed.identity.know_former(former));
        let mut whereabouts =
            self.0.devices.whereabouts(timed.iter().filter_map(sighting).collect()).await?.into_iter();
        for timed in timed.iter_mut().filter(|timed| sighting(timed).is_some()) {
            timed.seen = whereabouts.next();
        }
        let index = self.0.index.get(app).await?;
        let recent = self.0.sending.recent_deliveries(app).await?;
        let locations = self.0.locations;
        let written = self.0.store.write(app, move |tx| {
            let mut context = ChangeContext::new(app, &index, now);
            let taken = taking::take(tx, &mut context, &recent, channel, &timed, &usage, locations)?;
            context.journal.write(tx, app)?;
            Ok::<_, base::Error>(taken)
        });
        let taken = Taken { too_old, unreadable, ..written.await? };
        taken.count(&self.0.metrics);
        Ok(taken)
    }

    /// Forgets the ids of events that would be too old by now if they came again.
    pub async fn forget_old_event_ids(&self, app: AppId) -> Result<()> {
        let first_kept = hour(self.0.clock.now().minus(OLDEST)) - 1;
        let forget = move |tx: &mut Tx<'_>| {
            let are_left = seen_events::forget_before(tx, app, first_kept, FORGOTTEN_AT_ONCE)?;
            Ok::<_, store::Error>(seen_uploads::forget_before(tx, app, first_kept, FORGOTTEN_AT_ONCE)? || are_left)
        };
        while self.0.store.write(app, forget).await? {}
        Ok(())
    }
}

/// The location of the device, if the event has it.
fn sighting(timed: &Timed) -> Option<Sighting> {
    let Content::Location(location) = &timed.event.content else { return None };
    Some(Sighting { point: location.point, at: Some(timed.at) })
}

/// Converts events to our time and leaves out those that are too old.
fn time_events(events: Vec<DeviceEvent>, sent_at: Option<UtcMillis>, now: UtcMillis) -> Vec<Timed> {
    let ahead = sent_at.map_or(0, |sent_at| sent_at.0.saturating_sub(now.0));
    let correction = if ahead.unsigned_abs() > CLOCK_TOLERANCE_MILLIS { ahead } else { 0 };
    let timed = events.into_iter().map(|event| {
        let at = event.time.map_or(now, |time| UtcMillis(time.0.saturating_sub(correction)));
        let at = if at > now.plus(LATEST) { now } else { at };
        // The time that the device gives does not change when it sends the event again; ours might.
        let identity = match own_time(event.time, now) {
            Some(time) => Identity::with_time(event.id, time),
            None if event.is_id_of_text && event.time.is_none() => Identity::of_text(event.id, at),
            None => Identity::without_time(event.id, at),
        };
        Timed { event, at, identity, seen: None }
    });
    timed.filter(|event| event.at >= now.minus(OLDEST)).collect()
}

#[cfg(test)]
mod tests {
    use model::ids::Id;
    use uuid::Uuid;

    use super::*;

    const HOUR: i64 = 3_600_000;
    const DAY: i64 = 24 * HOUR;

    #[test]
    fn times_are_put_right() {
        let now = UtcMillis(20_000 * DAY);
        let at = |time: Option<i64>, sent_at: Option<i64>| {
            let id = Id::from_uuid(Uuid::nil());
            let time = time.map(|ago| UtcMillis(now.0 - ago));
            let event = DeviceEvent { id, is_id_of_text: false, time, session: None, content: Content::Closed };
            let timed = time_events(vec![event], sent_at.map(|ago| UtcMillis(now.0 - ago)), now);
            timed.first().map(|timed| (now.0 - timed.at.0, hour(now) - timed.identity.key().0))
        };
        for (time, sent_at, wanted) in [
            (Some(DAY), None, Some((DAY, 24))),
            // Without a time of its own an event is remembered under the last hour of two days.
            (None, None, Some((0, -47))),
            (Some(90 * DAY), None, Some((90 * DAY, 90 * 24 - 47))),
            (Some(90 * DAY + 1), None, None),
            (Some(-5 * 60_000), None, Some((-5 * 60_000, 0))),
            (Some(-5 * 60_000 - 1), None, Some((0, 0))),
            (Some(5000), Some(4000), Some((5000, 1))),
            // A clock that is an hour behind, and one that is a day ahead.
            (Some(2 * HOUR), Some(HOUR), Some((HOUR, 2))),
            (Some(-DAY + HOUR), Some(-DAY), Some((HOUR, -23))),
            // A clock that was never set.
            (Some(10_000 * DAY + HOUR), Some(10_000 * DAY), Some((HOUR, 1))),
        ] {
            assert_eq!(at(time, sent_at), wanted, "{time:?} {sent_at:?}");
        }
    }
}
