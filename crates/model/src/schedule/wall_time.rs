//! What a clock on the wall shows: a date and a time of day, without saying where the wall is.

use std::fmt;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

use crate::json::At;
use crate::time::UtcMillis;

/// In whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub(super) DateTime);

impl WallTime {
    /// Reads the forms of date-times that bodies may have.
    pub fn from_api(text: &str) -> Option<Self> {
        let civil = UtcMillis::parse_api(text)?.civil();
        let seconds = Time::new(civil.hour(), civil.minute(), civil.second(), 0).ok()?;
        Some(Self(civil.date().to_datetime(seconds)))
    }

    pub(crate) const fn new(time: DateTime) -> Self {
        Self(time)
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        Self::from_api(text).or_else(|| {
            at.invalid(format!("'{text}' is not a date-time; use the form 2030-01-31T12:00:00, without an offset."))
        })
    }

    /// The instant at which clocks of a zone show this time. A time that is skipped when clocks go forward is read on a clock
    /// that has not been put forward yet; a time that comes twice is meant the first time.
    pub fn in_zone(self, zone: &TimeZone) -> Option<UtcMillis> {
        let instant = zone.to_ambiguous_timestamp(self.0).compatible().ok()?;
        Some(UtcMillis(instant.as_millisecond()))
    }

    /// What clocks of a zone show at an instant.
    pub(super) fn at(instant: UtcMillis, zone: &TimeZone) -> Self {
        Self(zone.to_datetime(instant.timestamp()))
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%dT%H:%M:%S"))
    }
}
