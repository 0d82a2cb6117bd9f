//! Instants, the clock they come from, and the date forms of the API.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A date-time as callers write it, for fields that may be `null`.
pub fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "null"], "examples": ["2030-01-31T12:00:00"]})
}

/// Milliseconds since 1970 in UTC, as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UtcMillis(pub i64);

/// Nothing that is tried again waits for longer than this, whoever asks for it.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

/// By how many seconds clocks are ahead of UTC, wherever on earth they are.
pub const UTC_OFFSETS: RangeInclusive<i32> = -12 * 3600..=14 * 3600;

impl UtcMillis {
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// When a wait until this time ends. One that would last for longer than any does was set by a clock that was wrong, and has
    /// been put right since: it is over.
    pub fn end_of_wait(self, now: Self) -> Self {
        if self > now.plus(LONGEST_WAIT) { now } else { self }
    }

    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The beginning of an hour, counted from 1970.
    pub const fn of_hour(hour: i64) -> Self {
        Self(hour.saturating_mul(60 * 60 * 1000))
    }

    /// The beginning of a day in UTC, counted from 1970.
    pub fn of_day(day: i32) -> Self {
        Self::of_hour(i64::from(day) * 24)
    }

    /// `2024-05-01T08:00:00`: the form used for channels, schedules and devices.
    pub fn to_api(self) -> String {
        self.timestamp().strftime("%Y-%m-%dT%H:%M:%S").to_string()
    }

    /// `2024-05-01`: a day.
    pub fn to_date(self) -> String {
        self.timestamp().strftime("%Y-%m-%d").to_string()
    }

    /// `2024-05-01 08:00:00`: the form used in reports.
    pub fn to_report(self) -> String {
        self.timestamp().strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// `2024-05-01T08:00:00.123Z`: the form used in events.
    pub fn to_iso(self) -> String {
        format!("{}.{:03}Z", self.to_api(), self.0.rem_euclid(1000))
    }

    /// `Wed, 01 May 2024 08:00:00 GMT`: the form used in HTTP headers.
    pub fn to_http_date(self) -> String {
        self.timestamp().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    /// The dates of headers; `None` for a text that is not one.
    pub fn parse_http(text: &str) -> Option<Self> {
        let parsed = jiff::fmt::rfc2822::parse(text).ok()?;
        Some(Self(parsed.timestamp().as_millisecond()))
    }

    /// The date-times of request bodies, always UTC: `T` or a space, `HHMM`, `HH:MM` or `HH:MM:SS`, an optional fraction, an
    /// optional `Z`.
    pub fn parse_api(text: &str) -> Option<Self> {
        Some(Self(civil_time(text)?.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond()))
    }

    /// The problem of a text that [`UtcMillis::parse_api`] does not read; `zone` says how to give the zone.
    pub fn refusal(text: &str, zone: &str) -> String {
        match civil_time(text) {
            Some(_) => format!("'{text}' is too far ahead; use a time before 9999-12-30."),
            None => format!("'{text}' is not a date-time; use the form 2030-01-31T12:00:00, {zone}."),
        }
    }

    /// As [`UtcMillis::parse_api`], or with an offset from UTC instead of the `Z`: `+0200` or `+02:00`.
    pub fn parse_with_offset(text: &str) -> Option<Self> {
        const DATE_BYTES: usize = 10;
        let Some(sign) = text.rfind(['+', '-']).filter(|sign| *sign > DATE_BYTES) else { return Self::parse_api(text) };
        let (local, offset) = text.split_at(sign);
        if local.ends_with('Z') {
            return None;
        }
        let (hours, minutes) = match offset.as_bytes() {
            [_, h1, h2, b':', m1, m2] | [_, h1, h2, m1, m2] => (two_digits(*h1, *h2)?, two_digits(*m1, *m2)?),
            _ => return None,
        };
        if hours >= 24 || minutes >= 60 {
            return None;
        }
        let ahead = Duration::from_secs((hours * 60 + minutes) * 60);
        let local = Self::parse_api(local)?;
        Some(if offset.starts_with('-') { local.plus(ahead) } else { local.minus(ahead) })
    }

    /// Without the milliseconds. Most senders of events leave them out.
    pub fn whole_second(self) -> Self {
        Self(self.0.div_euclid(1000).saturating_mul(1000))
    }

    /// Days since 1970 in UTC.
    pub fn day(self) -> i32 {
        let days = self.0.div_euclid(24 * 60 * 60 * 1000);
        i32::try_from(days).unwrap_or(if days < 0 { i32::MIN } else { i32::MAX })
    }

    /// The date and the time of day in UTC.
    pub(crate) fn civil(self) -> DateTime {
        TimeZone::UTC.to_datetime(self.timestamp())
    }

    pub(crate) fn timestamp(self) -> Timestamp {
        // Stored instants come from the clock or from `parse_api`, both inside the calendar; the end of a report or a distant
        // expiry may lie beyond its last hours.
        let nearest = if self.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Timestamp::from_millisecond(self.0).unwrap_or(nearest)
    }
}

/// The date and time that a text of a request body shows, whether or not there is such an instant.
fn civil_time(text: &str) -> Option<DateTime> {
    let bare = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = bare.split_once(['T', ' '])?;
    // Anything else that the parser below accepts (an offset, the name of a zone) it would ignore.
    let is_plain = time.bytes().all(|b| b.is_ascii_digit() || b":.,".contains(&b));
    if date.len() != 10 || !is_plain {
        return None;
    }
    let time = if time.len() == 4 { format!("{}:{}", &time[..2], &time[2..]) } else { time.to_owned() };
    if !time.contains(':') {
        return None;
    }
    format!("{date}T{time}").parse().ok()
}

fn two_digits(tens: u8, ones: u8) -> Option<u64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// Where "now" comes from: the system, or a test that steps it.
#[derive(Clone, Debug)]
pub enum Clock {
    System,
    Stepped(Arc<SteppedTime>),
}

/// The time of a test, in milliseconds.
#[derive(Debug)]
pub struct SteppedTime {
    wall: AtomicI64,
    /// Since the test began.
    elapsed: AtomicI64,
    /// By how much it is ahead of the time of the database.
    ahead: AtomicI64,
}

/// A reading of a clock that nobody sets: only the time between two of them means anything.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    System(SystemMoment),
    Stepped(i64),
}

/// On Linux the clock that goes on while the machine sleeps: a laptop that is opened in the morning has not jumped. Elsewhere there
/// is only one that stands still meanwhile.
#[cfg(target_os = "linux")]
type SystemMoment = Duration;
#[cfg(not(target_os = "linux"))]
type SystemMoment = std::time::Instant;

#[cfg(target_os = "linux")]
fn system_moment() -> SystemMoment {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn system_moment() -> SystemMoment {
    std::time::Instant::now()
}

impl Moment {
    /// Zero if the other moment is later, or of another clock.
    pub fn since(self, earlier: Self) -> Duration {
        match (self, earlier) {
            #[cfg(target_os = "linux")]
            (Moment::System(later), Moment::System(earlier)) => later.saturating_sub(earlier),
            #[cfg(not(target_os = "linux"))]
            (Moment::System(later), Moment::System(earlier)) => later.saturating_duration_since(earlier),
            (Moment::Stepped(later), Moment::Stepped(earlier)) => {
                Duration::from_millis(u64::try_from(later.saturating_sub(earlier)).unwrap_or(0))
            }
            (Moment::System(_), Moment::Stepped(_)) | (Moment::Stepped(_), Moment::System(_)) => Duration::ZERO,
        }
    }
}

impl Clock {
    pub fn stepped(start: UtcMillis) -> Self {
        let [wall, elapsed, ahead] = [start.0, 0, 0].map(AtomicI64::new);
        Clock::Stepped(Arc::new(SteppedTime { wall, elapsed, ahead }))
    }

    pub fn now(&self) -> UtcMillis {
        match self {
            #[expect(clippy::disallowed_methods, reason = "this is the one home of the system time")]
            Clock::System => {
                let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                UtcMillis(i64::try_from(since_epoch.unwrap_or_default().as_millis()).unwrap_or(i64::MAX))
            }
            Clock::Stepped(time) => UtcMillis(time.wall.load(Ordering::SeqCst)),
        }
    }

    /// The same instant on the clock that nobody sets.
    pub fn moment(&self) -> Moment {
        match self {
            Clock::System => Moment::System(system_moment()),
            Clock::Stepped(time) => Moment::Stepped(time.elapsed.load(Ordering::SeqCst)),
        }
    }

    /// By how many milliseconds a stepped clock is ahead of the database's, which goes by it unless it was set apart. `None` for
    /// the system's, which has to be compared.
    pub fn set_apart_by(&self) -> Option<i64> {
        match self {
            Clock::System => None,
            Clock::Stepped(time) => Some(time.ahead.load(Ordering::SeqCst)),
        }
    }

    /// Lets time pass on a stepped clock; on the system's it passes by itself.
    pub fn step(&self, by: Duration) {
        if let Clock::Stepped(time) = self {
            let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            time.wall.fetch_add(millis, Ordering::SeqCst);
            time.elapsed.fetch_add(millis, Ordering::SeqCst);
        }
    }

    /// Sets a stepped clock forward or back, as somebody may do with the system's, without that time passes.
    pub fn set_forward(&self, by_millis: i64) {
        if let Clock::Stepped(time) = self {
            time.wall.fetch_add(by_millis, Ordering::SeqCst);
        }
    }

    /// As [`Clock::set_forward`], while the clock of the database stays as it is.
    pub fn set_apart(&self, by_millis: i64) {
        if let Clock::Stepped(time) = self {
            time.ahead.fetch_add(by_millis, Ordering::SeqCst);
            time.wall.fetch_add(by_millis, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_that_nobody_sets_goes_forward() {
        let clock = Clock::System;
        let first = clock.moment();
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        let passed = clock.moment().since(first);
        assert!(passed >= Duration::from_millis(1), "{passed:?}");
        assert_eq!(first.since(clock.moment()), Duration::ZERO);
    }

    #[test]
    fn a_time_that_is_too_far_ahead_is_called_that() {
        assert!(UtcMillis::parse_api("9999-12-29T23:59:59").is_some());
        assert_eq!(UtcMillis::parse_api("9999-12-31T23:59:59"), None);
        let refusal = |text| UtcMillis::refusal(text, "in UTC");
        assert!(refusal("9999-12-31T23:59:59").contains("too far ahead"));
        assert!(refusal("tomorrow").ends_with("is not a date-time; use the form 2030-01-31T12:00:00, in UTC."));
    }

    #[test]
    fn date_forms_of_the_api() {
        let noon = UtcMillis(1_714_564_800_000);
        for text in [
            "2024-05-01T1200",
            "2024-05-01T12:00",
            "2024-05-01 12:00:00",
            "2024-05-01T12:00:00.000Z",
            "2024-05-01T12:00:00,0",
        ] {
            assert_eq!(UtcMillis::parse_api(text), Some(noon), "{text}");
            assert_eq!(UtcMillis::parse_with_offset(text), Some(noon), "{text}");
        }
        for text in [
            "2024-05-01",
            "2024-13-01T12:00",
            "2024-05-01T12:00+02:00",
            "2024-05-01T12:00:00[America/New_York]",
            "2024-05-01T12:00[UTC]",
            "2024-05-01T12:00:00[u-ca=hebrew]",
            "2024-05-01T12:00:00z",
            "2024-05-01T12:00:00 ",
            "12:00",
            "",
            "T",
            "2024-05-01T1",
            "2024-05-01Té00",
        ] {
            assert_eq!(UtcMillis::parse_api(text), None, "{text}");
        }
        for (millis, day) in
            [(0, 0), (86_399_999, 0), (86_400_000, 1), (-1, -1), (i64::MAX, i32::MAX), (i64::MIN, i32::MIN)]
        {
            assert_eq!(UtcMillis(millis).day(), day, "{millis}");
        }
        assert_eq!(noon.day(), 19_844);
        assert_eq!(noon.to_api(), "2024-05-01T12:00:00");
        assert_eq!(noon.to_report(), "2024-05-01 12:00:00");
        assert_eq!(noon.to_http_date(), "Wed, 01 May 2024 12:00:00 GMT");
        assert_eq!(UtcMillis::parse_http(&noon.to_http_date()), Some(noon));
        assert_eq!(UtcMillis::parse_http("yesterday"), None);
        assert_eq!(UtcMillis(noon.0 + 7).to_iso(), "2024-05-01T12:00:00.007Z");
    }

    #[test]
    fn offsets_are_taken_off_where_they_are_allowed() {
        for (text, expected) in [
            ("2026-11-15T16:01:07.000+0000", "2026-11-15T16:01:07"),
            ("2026-11-15T16:01:07+02:30", "2026-11-15T13:31:07"),
            ("2026-11-15T23:01:07-0130", "2026-11-16T00:31:07"),
            ("2026-11-15 16:01-00:00", "2026-11-15T16:01:00"),
        ] {
            assert_eq!(UtcMillis::parse_with_offset(text).map(UtcMillis::to_api).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "2026-11-15T16:01:07Z+0000",
            "2026-11-15T16:01:07+2400",
            "2026-11-15T16:01:07+0060",
            "2026-11-15T16:01:07+00",
            "2026-11-15T16:01:07+1:000",
            "2026-11-15T16:01:07+0000[UTC]",
            "2026-11-15T16:01:07+é00",
            "2026-11-15+0000",
        ] {
            assert_eq!(UtcMillis::parse_with_offset(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_beyond_the_calendar_is_shown_as_its_end() {
        assert_eq!(UtcMillis(i64::MIN).to_api(), "-9999-01-02T01:59:59");
        let end = "9999-12-30T22:00:00";
        for millis in [253_402_207_200_000, 253_402_207_200_999, 253_402_207_201_000, 253_402_300_799_999, i64::MAX] {
            assert_eq!(UtcMillis(millis).to_api(), end, "{millis}");
        }
    }
}
