//! When a message is sent: now, at a time, by everybody's own clock, at the best hour of a day, once or again and again.

use std::time::Duration;

use model::schedule::WallTime;
use model::time::UtcMillis;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::form::Fields;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Now,
    At,
    /// At the same time of day everywhere.
    Local,
    /// On a day, at the hour at which the app is mostly opened.
    Best,
}

/// How often something is sent again: the word of the API, and the one for people.
pub(super) const REPEATS: [(&str, &str); 5] =
    [("", "no"), ("daily", "days"), ("weekly", "weeks"), ("monthly", "months"), ("yearly", "years")];

pub(super) const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

#[derive(Clone, Debug)]
pub(crate) struct Timing {
    pub(crate) when: When,
    at: Option<String>,
    /// The time zone of the viewer, if the browser has told it.
    zone: Option<String>,
    repeat: Option<String>,
    every: Option<String>,
    days: Vec<&'static str>,
    until: Option<String>,
}

impl When {
    pub(crate) const ALL: [(Self, &'static str); 4] = [
        (When::Now, "Now"),
        (When::At, "At a time"),
        (When::Local, "At everybody's own time of day"),
        (When::Best, "On a day, at the hour at which your app is mostly opened"),
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            When::Now => "now",
            When::At => "at",
            When::Local => "local",
            When::Best => "best",
        }
    }
}

impl Timing {
    pub(crate) fn read(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).map(str::to_owned);
        let chosen = fields.text("when").unwrap_or_default();
        Self {
            when: When::ALL.into_iter().find(|(when, _)| when.word() == chosen).map_or(When::Now, |(when, _)| when),
            at: text("at"),
            zone: text("zone"),
            repeat: text("repeat"),
            every: text("every"),
            days: DAYS.into_iter().filter(|day| fields.all("day").any(|chosen| chosen == *day)).collect(),
            until: text("until"),
        }
    }

    /// The name of the zone in which times are typed.
    pub(crate) fn zone(&self) -> &str {
        self.zone.as_deref().unwrap_or("UTC")
    }

    pub(crate) fn repeats(&self) -> bool {
        self.repeat.is_some() && self.when != When::Now
    }

    /// The schedule of the API; `None` for now.
    pub(crate) fn schedule(&self) -> Result<Option<Value>> {
        let mut schedule = match self.when {
            When::Now if self.at.is_some() || self.repeat.is_some() => {
                let sentence =
                    "A time or a repetition is filled in, but now is chosen: choose at a time, or clear the others.";
                return Err(Error::invalid("when", sentence));
            }
            When::Now => return Ok(None),
            When::At => json!({"scheduled_time": self.instant()?.to_api()}),
            When::Local => json!({"local_scheduled_time": self.typed()?.to_api()}),
            When::Best => {
                let day = self.typed()?.to_api();
                json!({"best_time": {"send_date": day.split('T').next().unwrap_or_default()}})
            }
        };
        if let Some(recurring) = self.recurring()? {
            schedule["recurring"] = recurring;
        }
        Ok(Some(schedule))
    }

    /// Refuses a time that has passed, for everybody if it is everybody's own.
    pub(crate) fn check(&self, now: UtcMillis) -> Result<()> {
        // The last zones are twelve hours behind UTC.
        let everywhere = |at: UtcMillis, hours: u64| at.plus(Duration::from_secs(hours * 60 * 60));
        let (last, words) = match self.when {
            When::Now => return Ok(()),
            When::At => (self.instant()?, "This time has passed"),
            When::Local => (everywhere(self.typed()?, 12), "This time has passed everywhere"),
            When::Best => (everywhere(UtcMillis::of_day(self.typed()?.day()), 36), "This day has passed everywhere"),
        };
        if last >= now {
            return Ok(());
        }
        Err(Error::invalid("at", &format!("{words}; it is {} in UTC. Choose a later one.", now.to_report())))
    }

    fn recurring(&self) -> Result<Option<Value>> {
        let Some(unit) = self.repeat.as_deref() else { return Ok(None) };
        let every = self.every.as_deref().unwrap_or("1");
        let every: u16 = every.parse().map_err(|_| Error::invalid("every", "Say as a number how often it is sent."))?;
        let mut cadence = json!({"type": unit, "count": every});
        if unit == "weekly" && !self.days.is_empty() {
            cadence["days_of_week"] = json!(self.days);
        }
        let mut recurring = json!({"cadence": cadence});
        if let Some(until) = &self.until {
            let end = if self.when == When::At {
                self.in_zone(until, "until")?.to_api()
            } else {
                wall(until, "until")?.to_api()
            };
            recurring["end_time"] = json!(end);
        }
        Ok(Some(recurring))
    }

    /// The instant that is meant by a time in the zone of the viewer.
    fn instant(&self) -> Result<UtcMillis> {
        self.in_zone(self.at.as_deref().ok_or_else(missing)?, "at")
    }

    fn in_zone(&self, text: &str, field: &str) -> Result<UtcMillis> {
        let time = WallTime::from_api(text).ok_or_else(|| unreadable(field))?;
        let unknown = || Error::invalid(field, "The time zone of your browser is not known here; use UTC.");
        time.in_zone_named(self.zone()).ok_or_else(unknown)
    }

    fn typed(&self) -> Result<UtcMillis> {
        wall(self.at.as_deref().ok_or_else(missing)?, "at")
    }
}

/// A time of day and a date in no zone, as if it were one of UTC.
fn wall(text: &str, field: &str) -> Result<UtcMillis> {
    UtcMillis::parse_api(text).ok_or_else(|| unreadable(field))
}

fn missing() -> Error {
    Error::invalid("at", "Choose the time at which it is to be sent.")
}

fn unreadable(field: &str) -> Error {
    Error::invalid(field, "Choose a time, such as 2030-01-31T12:00.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(form: &str) -> Result<Option<Value>> {
        Timing::read(&Fields::parse(form)).schedule()
    }

    #[test]
    fn times_are_those_of_the_viewer() {
        let at = |zone: &str| schedule(&format!("when=at&at=2030-07-31T12:00&zone={zone}")).unwrap().unwrap();
        assert_eq!(at(""), json!({"scheduled_time": "2030-07-31T12:00:00"}));
        assert_eq!(at("Europe%2FBerlin"), json!({"scheduled_time": "2030-07-31T10:00:00"}));
        assert!(schedule("when=at&at=2030-07-31T12:00&zone=Moon").is_err());
        let local = schedule("when=local&at=2030-07-31T12:00&zone=Europe%2FBerlin").unwrap().unwrap();
        assert_eq!(local, json!({"local_scheduled_time": "2030-07-31T12:00:00"}));
        let best = schedule("when=best&at=2030-07-31T12:00").unwrap().unwrap();
        assert_eq!(best, json!({"best_time": {"send_date": "2030-07-31"}}));
        assert!(schedule("when=now").unwrap().is_none());
        assert!(schedule("when=now&at=2030-07-31T12:00").is_err() && schedule("when=now&repeat=daily").is_err());
        assert!(schedule("when=at").is_err() && schedule("when=local&at=soon").is_err());
    }

    #[test]
    fn what_has_passed_is_refused() {
        let check = |form: &str, now: &str| {
            Timing::read(&Fields::parse(form)).check(UtcMillis::parse_api(now).unwrap()).is_ok()
        };
        let berlin = "when=at&at=2030-07-31T12:00&zone=Europe%2FBerlin";
        assert!(check(berlin, "2030-07-31T10:00:00") && !check(berlin, "2030-07-31T10:00:01"));
        let local = "when=local&at=2030-07-31T12:00";
        assert!(check(local, "2030-08-01T00:00:00") && !check(local, "2030-08-01T00:00:01"));
        let best = "when=best&at=2030-07-31T12:00";
        assert!(check(best, "2030-08-01T12:00:00") && !check(best, "2030-08-01T12:00:01"));
        assert!(check("when=now", "2030-08-01T12:00:00") && !check("when=at", "2030-08-01T12:00:00"));
    }

    #[test]
    fn something_can_be_sent_again_and_again() {
        let form = "when=at&at=2030-07-31T12:00&zone=Europe%2FBerlin&repeat=weekly&every=2&day=friday&day=monday\
                    &until=2030-12-31T12:00";
        let recurring = json!({
            "cadence": {"type": "weekly", "count": 2, "days_of_week": ["monday", "friday"]}, "end_time": "2030-12-31T11:00:00",
        });
        assert_eq!(schedule(form).unwrap().unwrap()["recurring"], recurring);
        let monthly = schedule("when=local&at=2030-07-31T12:00&repeat=monthly&day=monday").unwrap().unwrap();
        assert_eq!(monthly["recurring"], json!({"cadence": {"type": "monthly", "count": 1}}));
        assert!(schedule("when=at&at=2030-07-31T12:00&repeat=daily&every=often").is_err());
    }
}
