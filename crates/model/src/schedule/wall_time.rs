//! The time on a wall clock: a date and a time of day, without a time zone.

use std::fmt;
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use schemars::json_schema;

use crate::json::At;
use crate::json::body::Read;
use crate::time::UtcMillis;

/// A date and a time of day, in whole seconds, without an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Read)]
#[body(schema = json_schema!({"type": "string", "examples": ["2030-01-31T12:00:00"]}))]
pub struct WallTime(pub(super) DateTime);

impl WallTime {
    /// Reads the forms of date-times that bodies may have. Nothing begins before the time that was asked for: of a fraction of
    /// a second, the end is taken.
    pub fn from_api(text: &str) -> Option<Self> {
        let instant = UtcMillis::parse_api(text)?;
        Some(Self::in_whole_seconds(instant.plus(Duration::from_millis(999))))
    }

    /// As [`WallTime::from_api`], for an end: of a fraction of a second, the beginning is taken.
    pub fn end_from_api(text: &str) -> Option<Self> {
        UtcMillis::parse_api(text).map(Self::in_whole_seconds)
    }

    fn in_whole_seconds(instant: UtcMillis) -> Self {
        Self(UtcMillis(instant.seconds() * 1000).civil())
    }

    pub(crate) const fn new(time: DateTime) -> Self {
        Self(time)
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, Self::from_api)
    }

    pub(super) fn parse_end(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, Self::end_from_api)
    }

    fn parse_with(at: &At<'_>, read: impl FnOnce(&str) -> Option<Self>) -> Option<Self> {
        let text = at.string()?;
        read(text).or_else(|| at.invalid(UtcMillis::refusal(text, "without an offset")))
    }

    /// The instant at which clocks of a zone show this time. A time that is skipped when clocks go forward is read on a clock
    /// that has not been put forward yet; a time that comes twice is meant the first time.
    pub fn in_zone(self, zone: &TimeZone) -> Option<UtcMillis> {
        let instant = zone.to_ambiguous_timestamp(self.0).compatible().ok()?;
        Some(UtcMillis(instant.as_millisecond()))
    }

    /// As [`WallTime::in_zone`], for a zone of the IANA database; `None` if it has none of that name.
    pub fn in_zone_named(self, name: &str) -> Option<UtcMillis> {
        self.in_zone(&TimeZone::get(name).ok()?)
    }

    /// The time that clocks of a zone of the IANA database show at an instant; `None` if it has none of that name.
    pub fn at_named(instant: UtcMillis, name: &str) -> Option<Self> {
        Some(Self::at(instant, &TimeZone::get(name).ok()?))
    }

    /// The time that clocks of a zone show at an instant.
    pub(super) fn at(instant: UtcMillis, zone: &TimeZone) -> Self {
        Self(zone.to_datetime(instant.timestamp()))
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%dT%H:%M:%S"))
    }
}
