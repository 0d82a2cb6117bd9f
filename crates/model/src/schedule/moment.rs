//! From wall times to instants: for which clocks a time has come, and when the next comes.

use std::collections::BTreeMap;
use std::iter;

use jiff::ToSpan;
use jiff::tz::TimeZone;

use super::{FirstTime, Schedule, WallTime};
use crate::property::{DeviceClock, device_clocks};
use crate::time::UtcMillis;

/// An instant at which the time of a schedule comes for some clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: UtcMillis,
    /// The time that those clocks show.
    pub time: WallTime,
}

/// The clocks for which the same time of a schedule comes at once.
pub struct Wave {
    pub time: WallTime,
    /// `None` for a schedule that does not go by local time: everybody.
    pub clocks: Option<Vec<&'static DeviceClock>>,
}

impl FirstTime {
    /// Whether it came for everybody before `instant`.
    pub fn has_passed(self, instant: UtcMillis) -> bool {
        match self {
            FirstTime::Utc(time) => time.in_zone(&TimeZone::UTC).is_none_or(|at| at < instant),
            FirstTime::Local(_) | FirstTime::Best(_) => {
                clocks_before(self.wall_time(), UtcMillis(instant.0 - 1)).next().is_none()
            }
        }
    }
}

/// The clocks that show this time only later than `after`.
fn clocks_before(time: WallTime, after: UtcMillis) -> impl Iterator<Item = &'static DeviceClock> {
    device_clocks().iter().filter(move |clock| time.in_zone(&clock.zone).is_some_and(|at| at > after))
}

impl Schedule {
    /// The first instant later than `after` at which the time comes for any clock. `None` when it never comes again.
    pub fn next_after(&self, after: UtcMillis) -> Option<UtcMillis> {
        match self.first {
            FirstTime::Utc(_) => self.next_by(&TimeZone::UTC, after).map(|moment| moment.at),
            FirstTime::Local(_) | FirstTime::Best(_) => {
                let mut times = self.times_around(after);
                let next = |clock: &DeviceClock| times.moments(&clock.zone, after).next();
                device_clocks().iter().filter_map(next).map(|next| next.at).min()
            }
        }
    }

    /// The times from an instant on and before another that a clock of UTC shows, in order. Of a schedule by local time these are
    /// the times that every clock shows in its turn.
    pub fn times_between(&self, from: UtcMillis, to: UtcMillis) -> impl Iterator<Item = UtcMillis> {
        let times = self.times_from(WallTime::at(from, &TimeZone::UTC));
        times.map_while(|time| time.in_zone(&TimeZone::UTC)).take_while(move |at| *at < to)
    }

    /// The clocks for which the time came later than `after` and not later than `until`, in the order of the times. A clock
    /// for which several times came is in the wave of the last of them.
    pub fn waves(&self, after: UtcMillis, until: UtcMillis) -> Vec<Wave> {
        match self.first {
            FirstTime::Utc(_) => {
                let last = self.times_around(after).last(&TimeZone::UTC, after, until);
                last.into_iter().map(|time| Wave { time, clocks: None }).collect()
            }
            FirstTime::Local(_) | FirstTime::Best(_) => {
                let mut times = self.times_around(after);
                let mut waves: BTreeMap<WallTime, Vec<&'static DeviceClock>> = BTreeMap::new();
                for clock in device_clocks() {
                    if let Some(time) = times.last(&clock.zone, after, until) {
                        waves.entry(time).or_default().push(clock);
                    }
                }
                waves.into_iter().map(|(time, clocks)| Wave { time, clocks: Some(clocks) }).collect()
            }
        }
    }

    /// The clocks for which a time of this schedule, having come for others, is still to come later than `instant`.
    pub fn waiting(&self, time: WallTime, instant: UtcMillis) -> impl Iterator<Item = &'static DeviceClock> {
        self.first.is_local().then(|| clocks_before(time, instant)).into_iter().flatten()
    }

    /// The first moment later than `after` in a time zone.
    pub fn next_by(&self, zone: &TimeZone, after: UtcMillis) -> Option<Moment> {
        self.times_around(after).moments(zone, after).next()
    }

    /// The times that any clock shows later than `after`, and some before.
    fn times_around(&self, after: UtcMillis) -> Times<impl Iterator<Item = WallTime>> {
        // No clock is further behind than half a day; and see below.
        let shown = WallTime::at(after, &TimeZone::UTC);
        let from = shown.0.checked_sub(14.hours()).map_or(shown, WallTime);
        Times { known: Vec::new(), rest: self.times_from(from) }
    }
}

/// The times of a schedule, each of them worked out once for all clocks.
struct Times<I> {
    known: Vec<WallTime>,
    rest: I,
}

impl<I: Iterator<Item = WallTime>> Times<I> {
    /// The moments later than `after` in a time zone.
    fn moments(&mut self, zone: &TimeZone, after: UtcMillis) -> impl Iterator<Item = Moment> {
        // Clocks may just have been put forward or back, by an hour at most.
        let shown = WallTime::at(after, zone);
        let mut n = self.place_of(shown.0.checked_sub(2.hours()).map_or(shown, WallTime));
        let moments = iter::from_fn(move || {
            let time = self.get(n)?;
            n += 1;
            Some(Moment { at: time.in_zone(zone)?, time })
        });
        moments.skip_while(move |moment| moment.at <= after)
    }

    fn last(&mut self, zone: &TimeZone, after: UtcMillis, until: UtcMillis) -> Option<WallTime> {
        self.moments(zone, after).take_while(|moment| moment.at <= until).last().map(|moment| moment.time)
    }

    fn get(&mut self, n: usize) -> Option<WallTime> {
        while self.known.len() <= n {
            self.known.push(self.rest.next()?);
        }
        self.known.get(n).copied()
    }

    /// The index of the first time that does not come before `from`.
    fn place_of(&mut self, from: WallTime) -> usize {
        while self.known.last().is_none_or(|last| *last < from) {
            let Some(next) = self.rest.next() else { break };
            self.known.push(next);
        }
        self.known.partition_point(|time| *time < from)
    }
}
