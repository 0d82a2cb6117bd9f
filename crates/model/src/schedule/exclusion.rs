//! Times at which a recurring schedule sends nothing.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use schemars::json_schema;
use serde::{Serialize, Serializer};

use super::{WallTime, Weekday};
use crate::json::At;
use crate::json::body::{Body, Read};

/// A time is excluded when all of the given parts apply to it.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(check = Exclusion::refuse_empty)]
pub struct Exclusion {
    /// Hours of the day.
    #[body(nullable)]
    pub hour_range: Option<HourRange>,
    /// A period.
    #[body(nullable)]
    pub date_range: Option<DateRange>,
    /// Days of the week.
    #[body(length = 1..=7, nullable)]
    pub days_of_week: Option<Vec<Weekday>>,
}

/// From the beginning of the first hour to the end of the last, `12-14`; over midnight when the first is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Read)]
#[body(schema = json_schema!({"type": "string", "examples": ["12-14"]}))]
pub struct HourRange {
    pub first: i8,
    pub last: i8,
}

/// Two date-times with a slash between them. Both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Read)]
#[body(schema = json_schema!({"type": "string", "examples": ["2030-12-24T00:00:00/2030-12-26T23:59:59"]}))]
pub struct DateRange {
    pub start: WallTime,
    pub end: WallTime,
}

impl Exclusion {
    fn refuse_empty(self, at: &At<'_>) -> Option<Self> {
        if self == (Self { hour_range: None, date_range: None, days_of_week: None }) && at.is_clean() {
            return at.invalid("Give 'hour_range', 'date_range' or 'days_of_week', or leave the exclusion out.");
        }
        Some(self)
    }

    /// The last second of the covered stretch without a gap that begins with this time. `None` when it has no end.
    pub(super) fn covers_until(&self, time: WallTime) -> Option<WallTime> {
        let hours = self.hour_range.and_then(|hours| hours.covers_until(time));
        let dates = self.date_range.map(|dates| dates.end);
        let days = self.days_of_week.as_deref().and_then(|days| days_until(days, time));
        [hours, dates, days].into_iter().flatten().min()
    }

    pub(super) fn covers(&self, time: WallTime) -> bool {
        self.hour_range.is_none_or(|hours| hours.covers(time))
            && self.date_range.is_none_or(|dates| (dates.start..=dates.end).contains(&time))
            && self.days_of_week.as_ref().is_none_or(|days| days.contains(&Weekday::of(time)))
    }
}

impl HourRange {
    fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        let hour = |text: &str| text.trim().parse().ok().filter(|hour| (0..=23).contains(hour));
        let range =
            text.split_once('-').and_then(|(first, last)| Some(Self { first: hour(first)?, last: hour(last)? }));
        range.or_else(|| at.invalid(format!("'{text}' is not a range of hours from 0 to 23, such as 12-14.")))
    }

    /// Including those over midnight: from an hour to the one before it.
    fn is_whole_day(self) -> bool {
        (self.last + 1) % 24 == self.first
    }

    /// The end of the last hour, unless the range goes around the clock.
    fn covers_until(self, time: WallTime) -> Option<WallTime> {
        let is_over_midnight = self.first > self.last && time.0.hour() >= self.first;
        (!self.is_whole_day()).then(|| end_of_hour(time, i64::from(is_over_midnight), self.last))
    }

    fn covers(self, time: WallTime) -> bool {
        let hour = time.0.hour();
        match self.first <= self.last {
            true => (self.first..=self.last).contains(&hour),
            false => hour >= self.first || hour <= self.last,
        }
    }
}

/// The end of the last of the consecutive days, unless all days of the week are listed.
fn days_until(days: &[Weekday], time: WallTime) -> Option<WallTime> {
    let today = Weekday::of(time);
    let n_days = (1..7).find(|n_days| !days.contains(&today.later(*n_days)))?;
    Some(end_of_hour(time, i64::try_from(n_days).ok()? - 1, 23))
}

fn end_of_hour(time: WallTime, n_days_later: i64, hour: i8) -> WallTime {
    let date = time.0.date().checked_add(n_days_later.days()).unwrap_or(Date::MAX);
    WallTime(DateTime::new(date.year(), date.month(), date.day(), hour, 59, 59, 0).unwrap_or(DateTime::MAX))
}

impl DateRange {
    fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        let ends = text.split_once('/');
        let ends = ends.and_then(|(start, end)| Some((WallTime::from_api(start)?, WallTime::end_from_api(end)?)));
        match ends {
            Some((start, end)) if start <= end => Some(Self { start, end }),
            Some(_) => at.invalid("The end of the range must not come before its start."),
            None => at.invalid(format!("'{text}' is not a range such as 2030-12-24T00:00:00/2030-12-26T23:59:59.")),
        }
    }
}

impl Serialize for HourRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}-{}", self.first, self.last))
    }
}

impl Serialize for DateRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}/{}", self.start, self.end))
    }
}
