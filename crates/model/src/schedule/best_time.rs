//! The best time of a day: the hour at which an app is mostly opened, by the clocks of the devices.

use jiff::civil::{Date, DateTime, Time};
use schemars::json_schema;
use serde::{Deserialize, Serialize, Serializer};

use super::WallTime;
use crate::json::At;
use crate::json::body::Body;

/// A day, on which the push is sent at the hour at which the app is mostly opened.
// The hour is the best one as far as it is known. It is neither read nor printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct BestTime {
    /// The day.
    #[body(read = send_date, schema = |_| json_schema!({"type": "string", "format": "date"}))]
    send_date: Date,
    #[body(skip)]
    hour: DayHour,
}

/// An hour of the day, from 0 to 23.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DayHour(i8);

/// The number of openings that have to be known before they mean anything for the best hour.
const FEWEST_OPENINGS: u64 = 100;

impl DayHour {
    /// When most people have time, while nothing is known about the users of the app.
    pub const USUAL: Self = Self(18);

    pub fn parse(at: &At<'_>) -> Option<Self> {
        i8::try_from(at.integer(0..=23)?).ok().map(Self)
    }

    /// The hour with the most openings, which are given as the hours since 1970 by the device's clock, each with a count. The
    /// first of several.
    pub fn with_most(openings: impl IntoIterator<Item = (i64, u64)>) -> Self {
        let mut by_hour = [0_u64; 24];
        for (hour, n) in openings {
            let place = usize::try_from(hour.rem_euclid(24)).ok().and_then(|hour| by_hour.get_mut(hour));
            if let Some(sum) = place {
                *sum = sum.saturating_add(n);
            }
        }
        let most = by_hour.iter().copied().max().unwrap_or(0);
        let is_enough = by_hour.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)) >= FEWEST_OPENINGS;
        let best = (0..).zip(by_hour).find(|(_, n)| *n == most).filter(|_| is_enough);
        best.map_or(Self::USUAL, |(hour, _)| Self(hour))
    }
}

impl BestTime {
    pub(super) fn at_hour(self, hour: DayHour) -> Self {
        Self { hour, ..self }
    }

    pub(super) fn hour(self) -> DayHour {
        self.hour
    }

    pub(super) fn wall_time(self) -> WallTime {
        let time = Time::new(self.hour.0, 0, 0, 0).unwrap_or(Time::MIN);
        WallTime(DateTime::from_parts(self.send_date, time))
    }
}

fn send_date(at: &At<'_>) -> Option<Date> {
    let text = at.string()?;
    // Callers send times as well, of which the hour is chosen here.
    let (date, time) = text.split_at_checked(10).unwrap_or((text, ""));
    let date = date.parse().ok().filter(|_| time.is_empty() || time.starts_with(['T', ' ']));
    date.or_else(|| at.invalid(format!("'{text}' is not a date; use the form 2030-01-31.")))
}

impl Default for DayHour {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Serialize for BestTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("send_date", self.send_date.to_string())])
    }
}
