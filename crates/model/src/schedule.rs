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
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::payload::Push;
use crate::selector::{Audience, Purpose};

/// A push and when it is sent. Printed with its times in one form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScheduledPush {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub schedule: Schedule,
    pub push: Push,
}

/// When a push is sent: once or repeatedly, for everybody at the same moment or by everybody's own clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Schedule {
    #[serde(flatten)]
    pub first: FirstTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurring: Option<Recurring>,
}

/// The time, or the first of the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum FirstTime {
    #[serde(rename = "scheduled_time")]
    Utc(WallTime),
    #[serde(rename = "local_scheduled_time")]
    Local(WallTime),
    /// A local time as well.
    #[serde(rename = "best_time")]
    Best(BestTime),
}

/// How a schedule continues after its first time. Its times are of the same kind as the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recurring {
    pub cadence: Cadence,
    /// Nothing is sent later than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<WallTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusions: Option<Vec<Exclusion>>,
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

    fn parse_with(at: &At<'_>, push: impl FnOnce(&At<'_>) -> Option<Push>) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.nullable("name", schedule_name);
        let schedule = fields.required("schedule", Schedule::parse);
        let push = fields.required("push", push);
        for read_only in ["url", "push_ids"] {
            fields.take(read_only); // callers send back what a listing told them
        }
        fields.finish();
        let scheduled = Self { name, schedule: schedule?, push: push? };
        let first = scheduled.schedule.first;
        if first.is_local() && matches!(scheduled.push.audience, Audience::CreateAndSend(_)) {
            let message = "Recipients that the push brings along have no time zone; use 'scheduled_time'.";
            at.invalid_key::<()>(&format!("schedule.{}", first.key()), message);
        }
        Some(scheduled)
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
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let n_times = TIMES.iter().filter(|key| fields.has(key)).count();
        let utc = fields.optional("scheduled_time", WallTime::parse).map(FirstTime::Utc);
        let local = fields.optional("local_scheduled_time", WallTime::parse).map(FirstTime::Local);
        let best = fields.optional("best_time", BestTime::parse).map(FirstTime::Best);
        let recurring = fields.nullable("recurring", Recurring::parse);
        fields.finish();
        match n_times {
            0 => return at.missing("scheduled_time"),
            1 => {}
            _ => {
                return at
                    .invalid("Only one of 'scheduled_time', 'local_scheduled_time' and 'best_time' may be given.");
            }
        }
        let schedule = Self { first: utc.or(local).or(best)?, recurring };
        if at.is_clean() {
            schedule.check(at)?;
        }
        Some(schedule)
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

const TIMES: [&str; 3] = ["scheduled_time", "local_scheduled_time", "best_time"];

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
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let cadence = fields.required("cadence", Cadence::parse);
        let end_time = fields.nullable("end_time", WallTime::parse_end);
        let exclusions =
            fields.nullable("exclusions", |at| at.array(0..=limits::SCHEDULE_EXCLUSIONS, Exclusion::parse));
        let paused = fields.nullable("paused", At::boolean).unwrap_or(false);
        fields.finish();
        Some(Self { cadence: cadence?, end_time, exclusions, paused })
    }

    fn exclusion_of(&self, time: WallTime) -> Option<&Exclusion> {
        self.exclusions.iter().flatten().find(|exclusion| exclusion.covers(time))
    }
}

impl Serialize for WallTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
