//! Scheduled pushes: the push, and when it is sent to which channels.

mod best_time;
mod cadence;
mod exclusion;
mod moment;
#[cfg(test)]
mod tests;
mod wall_time;

pub use best_time::{BestTime, DayHour};
pub use cadence::{Cadence, Unit, Weekday};
pub use exclusion::{DateRange, Exclusion, HourRange};
pub use moment::{Moment, Wave};
pub use wall_time::WallTime;

use serde::{Serialize, Serializer};

use crate::channel::name_text;
use crate::json::body::Body;
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::payload::Push;
use crate::selector::{Audience, Purpose};

/// How the push of a schedule is read: what it may contain differs between endpoints.
type ReadPush = fn(&At<'_>) -> Option<Push>;

/// A push and when it is sent.
// Printed with its times in one form.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(
    given(read_push: ReadPush),
    parse = parse_with,
    // Callers send back what a listing told them.
    ignored = ["url", "push_ids"],
    check = ScheduledPush::checked
)]
pub struct ScheduledPush {
    /// For people.
    #[body(length = 1..=limits::SCHEDULE_NAME_CHARS, read = schedule_name, nullable)]
    pub name: Option<String>,
    /// When the push is sent.
    pub schedule: Schedule,
    /// The push.
    #[body(read = read_push)]
    pub push: Push,
}

/// When a push is sent: once or repeatedly, for everybody at the same moment or by everybody's own clock.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(check = Schedule::checked)]
pub struct Schedule {
    #[body(flatten)]
    pub first: FirstTime,
    /// How often it is sent again. Once if it is left out.
    #[body(nullable)]
    pub recurring: Option<Recurring>,
}

/// The time, or the first of the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Body)]
#[body(
    one_of = "Only one of 'scheduled_time', 'local_scheduled_time' and 'best_time' may be given.",
    missing = "scheduled_time"
)]
pub enum FirstTime {
    /// In UTC.
    #[body(rename = "scheduled_time")]
    Utc(WallTime),
    /// By the clock of each device.
    #[body(rename = "local_scheduled_time")]
    Local(WallTime),
    /// On a day, at the hour at which the app is mostly opened, by the clock of each device.
    #[body(rename = "best_time")]
    Best(BestTime),
}

/// How a schedule continues after its first time. Its times are of the same kind as the first.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct Recurring {
    /// How often.
    pub cadence: Cadence,
    /// Nothing is sent later than this.
    #[body(read = WallTime::parse_end, nullable)]
    pub end_time: Option<WallTime>,
    /// When nothing is sent.
    #[body(length = 0..=limits::SCHEDULE_EXCLUSIONS, nullable)]
    pub exclusions: Option<Vec<Exclusion>>,
    /// Whether nothing is sent for now.
    #[body(nullable, default, always)]
    pub paused: bool,
}

impl ScheduledPush {
    pub fn parse_one_or_many(at: &At<'_>) -> Option<OneOrMany<Self>> {
        parse_many(at, |at| Self::parse_with(at, Push::parse), |scheduled| &scheduled.schedule)
    }

    /// Schedules whose pushes bring their recipients along.
    pub fn parse_create_and_send(at: &At<'_>) -> Option<OneOrMany<Self>> {
        parse_many(at, |at| Self::parse_with(at, Push::parse_create_and_send), |scheduled| &scheduled.schedule)
    }

    /// A schedule of either kind, which replaces another.
    pub fn parse_replacement(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, |at| Push::parse_with(at, Purpose::CreateAndSend))
    }

    /// Reads a stored schedule.
    pub fn parse_stored(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, |at| Push::parse_with(at, Purpose::Stored))
    }

    fn checked(self, at: &At<'_>) -> Option<Self> {
        let first = self.schedule.first;
        if first.is_local() && matches!(self.push.audience, Audience::CreateAndSend(_)) {
            let message = "Recipients that the push brings along have no time zone; use 'scheduled_time'.";
            at.invalid_key::<()>(&format!("schedule.{}", first.key()), message);
        }
        Some(self)
    }
}

/// One scheduled item or many: fewer of them when some go by local time, because each of those is sent in many parts.
pub fn parse_many<T>(
    at: &At<'_>,
    parse: impl FnMut(&At<'_>) -> Option<T>,
    schedule: impl Fn(&T) -> &Schedule,
) -> Option<OneOrMany<T>> {
    let all = at.one_or_many(1..=limits::SCHEDULES_PER_REQUEST, parse)?;
    let n_schedules = all.as_slice().len();
    let is_local = |item: &T| schedule(item).first.is_local();
    if n_schedules > limits::LOCAL_SCHEDULES_PER_REQUEST && all.as_slice().iter().any(is_local) {
        let most = limits::LOCAL_SCHEDULES_PER_REQUEST;
        return at.invalid(format!("With local times there may be at most {most} schedules; there are {n_schedules}."));
    }
    Some(all)
}

pub fn schedule_name(at: &At<'_>) -> Option<String> {
    name_text(at, limits::SCHEDULE_NAME_CHARS)
}

impl Schedule {
    fn checked(self, at: &At<'_>) -> Option<Self> {
        if at.is_clean() {
            self.check(at)?;
        }
        Some(self)
    }

    /// Checks the rules across times that are valid by themselves.
    fn check(&self, at: &At<'_>) -> Option<()> {
        let Some(recurring) = &self.recurring else { return Some(()) };
        if matches!(self.first, FirstTime::Best(_)) {
            let text = "A best time comes once; use 'local_scheduled_time' for what recurs.";
            return at.invalid_key("recurring", text);
        }
        if recurring.end_time.is_some_and(|end| end < self.first.wall_time()) {
            return at.invalid_key("recurring.end_time", "The end must not come before the first time.");
        }
        if self.times_from(self.first.wall_time()).next().is_none() {
            return at.invalid_key("recurring", "Nothing would ever be sent: every time is excluded or after the end.");
        }
        Some(())
    }

    pub fn is_paused(&self) -> bool {
        self.recurring.as_ref().is_some_and(|recurring| recurring.paused)
    }
}

impl FirstTime {
    pub fn wall_time(self) -> WallTime {
        match self {
            FirstTime::Utc(time) | FirstTime::Local(time) => time,
            FirstTime::Best(best) => best.wall_time(),
        }
    }

    /// Whether the clock of each device counts.
    pub const fn is_local(self) -> bool {
        match self {
            FirstTime::Utc(_) => false,
            FirstTime::Local(_) | FirstTime::Best(_) => true,
        }
    }

    /// The hour of a best time.
    pub fn best_hour(self) -> Option<DayHour> {
        match self {
            FirstTime::Utc(_) | FirstTime::Local(_) => None,
            FirstTime::Best(best) => Some(best.hour()),
        }
    }

    /// A best time with this hour. Other times have their own.
    #[must_use]
    pub fn at_best_hour(self, hour: DayHour) -> Self {
        match self {
            FirstTime::Utc(_) | FirstTime::Local(_) => self,
            FirstTime::Best(best) => FirstTime::Best(best.at_hour(hour)),
        }
    }

    /// The key under which it is given.
    pub const fn key(self) -> &'static str {
        match self {
            FirstTime::Utc(_) => "scheduled_time",
            FirstTime::Local(_) => "local_scheduled_time",
            FirstTime::Best(_) => "best_time",
        }
    }
}

impl Recurring {
    fn exclusion_of(&self, time: WallTime) -> Option<&Exclusion> {
        self.exclusions.iter().flatten().find(|exclusion| exclusion.covers(time))
    }
}

impl Serialize for WallTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
