//! At which times of the day, on which days, a pipeline may send.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use schemars::json_schema;
use serde_json::json;

use crate::json::body::{Body, Read, Words};
use crate::json::{At, Fields};
use crate::limits;
use crate::property::DeviceClock;
use crate::schedule::{WallTime, Weekday};
use crate::time::UtcMillis;

/// At which times of the day, on which days, a pipeline may send.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct Dayparts {
    #[body(rename = "type", nullable, default)]
    pub by: ByClock,
    #[body(rename = "miss_behavior", nullable, default)]
    pub miss: Miss,
    /// At least one.
    #[body(rename = "dayparts", length = 1..=limits::DAYPARTS)]
    parts: Vec<Daypart>,
}

/// Whose clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
#[words(not_printed)]
pub enum ByClock {
    /// The clock of each device.
    #[default]
    Local,
    Utc,
}

/// What happens to channels that are due at another time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
#[words(not_printed)]
pub enum Miss {
    #[default]
    Wait,
    Cancel,
}

/// Windows on some days of the week. None of either means all of them.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
struct Daypart {
    #[body(rename = "days_of_week", length = 1..=7, nullable, default)]
    days: Vec<Weekday>,
    #[body(rename = "allowed_times", take = windows, schema = |schemas| schemas.subschema_for::<Option<Vec<Window>>>())]
    windows: Vec<Window>,
}

/// From a time of day up to another, which is excluded; without one, to the end of the day.
#[derive(Clone, Copy, Debug, PartialEq, Read)]
#[body(name = "DaypartWindow", schema = {
    let time = json!({"type": ["string", "null"], "examples": ["17:30:00"]});
    let keys = json!({"start": time, "end": time, "preferred": time});
    json_schema!({"type": "object", "properties": keys, "minProperties": 1, "additionalProperties": false})
})]
struct Window {
    start: Time,
    end: Option<Time>,
    /// When it is sent to channels that are waiting by then, or will be before the window ends.
    preferred: Option<Time>,
}

const WHOLE_DAY: Window = Window { start: Time::MIN, end: None, preferred: None };

/// This many days contain every day of the week.
const DAYS_AHEAD: i64 = 8;

impl Dayparts {
    /// The first instant, not before `from`, at which a push may go to channels with this clock; by UTC without one.
    pub fn next(&self, clock: Option<&DeviceClock>, from: UtcMillis) -> Option<UtcMillis> {
        self.next_in(clock.map_or(&TimeZone::UTC, |clock| &clock.zone), from)
    }

    /// Whether a push may go to channels with this clock at an instant, even if a later time is preferred; by UTC without one.
    pub fn allow(&self, clock: Option<&DeviceClock>, at: UtcMillis) -> bool {
        let shown = clock.map_or(&TimeZone::UTC, |clock| &clock.zone).to_datetime(at.timestamp());
        let parts = self.parts.iter().filter(|part| part.has(shown.date()));
        parts.flat_map(|part| &part.windows).any(|window| window.has(shown.time()))
    }

    fn next_in(&self, zone: &TimeZone, from: UtcMillis) -> Option<UtcMillis> {
        let shown = zone.to_datetime(from.timestamp());
        let dates = (0..=DAYS_AHEAD).map_while(|n| shown.date().checked_add(n.days()).ok());
        let next = dates.filter_map(|date| self.first_on(date, shown)).next()?;
        if next <= shown {
            return Some(from);
        }
        // Right after clocks have gone back, a later time may come at an earlier instant.
        WallTime::new(next).in_zone(zone).map(|instant| instant.max(from))
    }

    /// The first allowed time on a date that is not before `shown`.
    fn first_on(&self, date: Date, shown: DateTime) -> Option<DateTime> {
        let parts = self.parts.iter().filter(|part| part.has(date));
        parts.flat_map(|part| &part.windows).filter_map(|window| window.first_on(date, shown)).min()
    }
}

impl Daypart {
    fn has(&self, date: Date) -> bool {
        self.days.is_empty() || self.days.contains(&Weekday::of(WallTime::new(date.to_datetime(Time::MIN))))
    }
}

impl Window {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let start = fields.nullable("start", time_of_day);
        let end = fields.nullable("end", time_of_day);
        let preferred = fields.nullable("preferred", time_of_day);
        fields.finish();
        if start.or(end).or(preferred).is_none() && at.is_clean() {
            return at.invalid("This must have 'start', 'end' or 'preferred'.");
        }
        // Alone, the preferred time is the start.
        let begins = if end.is_none() { start.or(preferred) } else { start };
        let window = Self { start: begins.unwrap_or(Time::MIN), end, preferred };
        if window.end.is_some_and(|end| end <= window.start) {
            return at.invalid_key("end", "The end must come after the start; use two windows for a night.");
        }
        if window.preferred.is_some_and(|time| !window.has(time)) {
            return at.invalid_key("preferred", "The preferred time must be from the start up to the end.");
        }
        Some(window)
    }

    fn has(&self, time: Time) -> bool {
        self.start <= time && self.end.is_none_or(|end| time < end)
    }

    fn first_on(&self, date: Date, shown: DateTime) -> Option<DateTime> {
        let earliest = date.to_datetime(self.start).max(shown);
        if earliest.date() != date || !self.has(earliest.time()) {
            return None;
        }
        let preferred = self.preferred.map(|time| date.to_datetime(time)).filter(|time| *time >= earliest);
        Some(preferred.unwrap_or(earliest))
    }
}

fn windows(fields: &mut Fields<'_>) -> Option<Vec<Window>> {
    let windows = fields.nullable("allowed_times", |at| at.array(1..=limits::ALLOWED_TIMES, Window::parse));
    Some(windows.unwrap_or_else(|| vec![WHOLE_DAY]))
}

fn time_of_day(at: &At<'_>) -> Option<Time> {
    let text = at.string()?;
    let is_plain = text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    match text.parse() {
        Ok(time) if is_plain && text.contains(':') => Some(time),
        Ok(_) | Err(_) => at.invalid(format!("'{text}' is not a time of day; use the form 17:30:00.")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn read(dayparts: &Value) -> Option<Dayparts> {
        let body = json!({"dayparts": dayparts});
        parse(body.to_string().as_bytes(), Dayparts::parse).ok()
    }

    #[track_caller]
    fn check(dayparts: &Value, zone: &str, from: &str, wanted: &str) {
        let zone = TimeZone::get(zone).unwrap();
        let next = read(dayparts).unwrap().next_in(&zone, UtcMillis::parse_api(from).unwrap());
        assert_eq!(next.map(UtcMillis::to_api).as_deref(), Some(wanted), "{dayparts} from {from}");
    }

    #[test]
    fn the_next_time_is_now_or_the_beginning_of_a_window() {
        // 2024-05-01 is a Wednesday, and Berlin is two hours ahead.
        let office =
            json!([{"allowed_times": [{"start": "09:00:00", "end": "12:00:00"}, {"start": "13:00", "end": "17:00"}]}]);
        for (from, wanted) in [
            ("2024-05-01T05:00:00", "2024-05-01T07:00:00"),
            ("2024-05-01T08:30:00", "2024-05-01T08:30:00"),
            ("2024-05-01T10:00:00", "2024-05-01T11:00:00"),
            ("2024-05-01T15:00:00", "2024-05-02T07:00:00"),
        ] {
            check(&office, "Europe/Berlin", from, wanted);
        }
        let weekend = json!([{"days_of_week": ["saturday", "sunday"]}]);
        check(&weekend, "UTC", "2024-05-01T12:00:00", "2024-05-04T00:00:00");
        check(&weekend, "UTC", "2024-05-05T23:59:59", "2024-05-05T23:59:59");
        let wednesday = json!([{"days_of_week": ["wednesday"], "allowed_times": [{"end": "10:00:00"}]}]);
        check(&wednesday, "UTC", "2024-05-01T12:00:00", "2024-05-08T00:00:00");
    }

    #[test]
    fn a_preferred_time_is_waited_for_until_it_has_passed() {
        let noon = json!([{"allowed_times": [{"start": "09:00:00", "end": "18:00:00", "preferred": "12:00:00"}]}]);
        check(&noon, "UTC", "2024-05-01T09:30:00", "2024-05-01T12:00:00");
        check(&noon, "UTC", "2024-05-01T12:00:00", "2024-05-01T12:00:00");
        check(&noon, "UTC", "2024-05-01T15:00:00", "2024-05-01T15:00:00");
        check(&noon, "UTC", "2024-05-01T18:00:00", "2024-05-02T12:00:00");
        check(
            &json!([{"allowed_times": [{"preferred": "08:00"}]}]),
            "UTC",
            "2024-05-01T07:00:00",
            "2024-05-01T08:00:00",
        );
    }

    #[test]
    fn a_window_is_open_before_its_preferred_time_too() {
        let noon = json!([{"days_of_week": ["wednesday"], "allowed_times": [
            {"start": "09:00:00", "end": "18:00:00", "preferred": "12:00:00"},
        ]}]);
        let dayparts = read(&noon).unwrap();
        for (at, wanted) in [
            ("2024-05-01T08:59:59", false),
            ("2024-05-01T09:00:00", true),
            ("2024-05-01T12:00:00", true),
            ("2024-05-01T17:59:59", true),
            ("2024-05-01T18:00:00", false),
            ("2024-05-02T12:00:00", false),
        ] {
            assert_eq!(dayparts.allow(None, UtcMillis::parse_api(at).unwrap()), wanted, "{at}");
        }
    }

    #[test]
    fn clocks_that_go_forward_skip_to_the_next_time() {
        let night = json!([{"allowed_times": [{"start": "02:30:00", "end": "05:00:00"}]}]);
        check(&night, "Europe/Berlin", "2024-03-31T00:30:00", "2024-03-31T01:30:00");
    }

    #[test]
    fn windows_that_make_no_sense_are_refused() {
        for windows in [
            json!([]),
            json!([{}]),
            json!([{"start": "17:00", "end": "09:00"}]),
            json!([{"start": "09:00", "end": "17:00", "preferred": "17:00"}]),
            json!([{"start": "9 o'clock"}]),
            json!([{"start": "25:00"}]),
        ] {
            assert!(read(&json!([{"allowed_times": windows}])).is_none(), "{windows}");
        }
        assert!(read(&json!([])).is_none());
        assert!(read(&json!([{"days_of_week": ["someday"]}])).is_none());
    }
}
