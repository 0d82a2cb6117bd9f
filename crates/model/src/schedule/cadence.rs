//! How often something recurs, and at which times.

use jiff::ToSpan;
use jiff::civil::DateTime;

use super::{Recurring, Schedule, WallTime};
use crate::json::body::{Body, Words};
use crate::json::{At, Fields};
use crate::limits;

/// Every `count` hours, days, weeks, months or years.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(keys = |fields| refuse_days(fields, unit, days_of_week.is_some()))]
pub struct Cadence {
    /// What is counted.
    #[body(rename = "type")]
    pub unit: Unit,
    /// How many of them lie between two times.
    #[body(range = 1..=limits::CADENCE_COUNT)]
    pub count: u16,
    /// On these days of the weeks that count, each once and in order; on the weekday of the first time when not given.
    #[body(length = 1..=7, read = days, nullable)]
    pub days_of_week: Option<Vec<Weekday>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Unit {
    Hourly,
    Daily,
    Weekly,
    /// On the day of the first time, or on the last of a month that is too short.
    Monthly,
    Yearly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Words)]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

/// After this many excluded stretches in a row there are no times any more: more than two years of half days.
const MOST_EXCLUDED: usize = 2_000;

fn days(at: &At<'_>) -> Option<Vec<Weekday>> {
    let mut days = at.array(1..=7, Weekday::parse)?;
    days.sort_unstable();
    days.dedup();
    Some(days)
}

fn refuse_days(fields: &Fields<'_>, unit: Option<Unit>, has_days: bool) {
    if has_days && unit.is_some_and(|unit| unit != Unit::Weekly) {
        fields.at().invalid_key::<()>("days_of_week", "Only a weekly schedule has days of the week.");
    }
}

impl Cadence {
    /// The n-th time, counting from 0. Of a week with several days some may come before the first time.
    fn time(&self, first: WallTime, n: i64) -> Option<WallTime> {
        let first = first.0;
        let steps = |n: i64| n.checked_mul(i64::from(self.count));
        let time = match (self.unit, self.days_of_week.as_deref()) {
            (Unit::Hourly, _) => first.checked_add(1.hour().checked_mul(steps(n)?).ok()?),
            (Unit::Daily, _) => first.checked_add(1.day().checked_mul(steps(n)?).ok()?),
            (Unit::Weekly, None) => first.checked_add(1.week().checked_mul(steps(n)?).ok()?),
            (Unit::Weekly, Some(days)) => {
                let n_days = i64::try_from(days.len()).ok()?;
                let day = days.get(usize::try_from(n.rem_euclid(n_days)).ok()?)?.days_after_monday();
                let week = 1.week().checked_mul(steps(n.div_euclid(n_days))?).ok()?;
                let monday = monday_of(first)?;
                monday.checked_add(week).and_then(|monday| monday.checked_add(day.days()))
            }
            (Unit::Monthly, _) => first.checked_add(1.month().checked_mul(steps(n)?).ok()?),
            (Unit::Yearly, _) => first.checked_add(1.year().checked_mul(steps(n)?).ok()?),
        };
        time.ok().map(WallTime)
    }

    /// A number, close to that of the first time at or after `from`, and not above it.
    fn number_before(&self, first: WallTime, from: WallTime) -> i64 {
        let (first, from) = (first.0, from.0);
        let count = i64::from(self.count);
        let hours = (from.duration_since(first)).as_hours();
        let months = 12 * (i64::from(from.year()) - i64::from(first.year())) + i64::from(from.month())
            - i64::from(first.month());
        let per_period = self.days_of_week.as_ref().map_or(1, |days| i64::try_from(days.len()).unwrap_or(7));
        let periods = match self.unit {
            Unit::Hourly => hours / count,
            Unit::Daily => hours / 24 / count,
            Unit::Weekly => hours / (24 * 7) / count,
            Unit::Monthly => months / count,
            Unit::Yearly => months / 12 / count,
        };
        ((periods - 1) * per_period).max(0)
    }
}

impl Schedule {
    /// The times that are not excluded, from `from` on and in order.
    pub(super) fn times_from(&self, from: WallTime) -> impl Iterator<Item = WallTime> {
        let first = self.first.wall_time();
        let once = (self.recurring.is_none() && first >= from).then_some(first);
        let repeated = self.recurring.iter().flat_map(move |recurring| recurring.times_from(first, from));
        once.into_iter().chain(repeated)
    }
}

impl Recurring {
    fn times_from(&self, first: WallTime, from: WallTime) -> impl Iterator<Item = WallTime> {
        let from = from.max(first);
        let mut number = self.cadence.number_before(first, from);
        let (mut n_excluded, mut last_end) = (0, None);
        let times = std::iter::from_fn(move || {
            loop {
                let time = self.cadence.time(first, number)?;
                number += 1;
                if self.end_time.is_some_and(|end| time > end) {
                    return None;
                }
                if time < from {
                    continue;
                }
                let Some(exclusion) = self.exclusion_of(time) else {
                    n_excluded = 0;
                    return Some(time);
                };
                // The other times in the stretch need not be looked at one by one.
                let end = exclusion.covers_until(time)?;
                number = number.max(self.cadence.number_before(first, end));
                n_excluded += usize::from(Some(end) > last_end);
                last_end = last_end.max(Some(end));
                if n_excluded > MOST_EXCLUDED {
                    return None;
                }
            }
        });
        times.fuse()
    }
}

fn monday_of(time: DateTime) -> Option<DateTime> {
    let n_days = i64::from(time.date().weekday().to_monday_zero_offset());
    time.checked_sub(n_days.days()).ok()
}

impl Weekday {
    const ALL: [Weekday; 7] = [
        Weekday::Monday,
        Weekday::Tuesday,
        Weekday::Wednesday,
        Weekday::Thursday,
        Weekday::Friday,
        Weekday::Saturday,
        Weekday::Sunday,
    ];

    pub(crate) fn of(time: WallTime) -> Self {
        let n_days = time.0.date().weekday().to_monday_zero_offset();
        usize::try_from(n_days).ok().and_then(|n| Self::ALL.get(n).copied()).unwrap_or(Weekday::Monday)
    }

    /// The day that follows `n_days` later.
    pub(super) fn later(self, n_days: usize) -> Self {
        let all = Self::ALL.into_iter().cycle();
        all.skip_while(|day| *day != self).nth(n_days).unwrap_or(self)
    }

    fn days_after_monday(self) -> i64 {
        i64::try_from(Self::ALL.iter().position(|day| *day == self).unwrap_or(0)).unwrap_or(0)
    }
}
