//! A schedule as it is stored: the request, and how far it has got.

use base::{Error, Result, readable, stored_body};
use jobs::JobId;
use model::ids::{AppId, PushId, ScheduleId};
use model::property::DeviceClock;
use model::schedule::{DayHour, Schedule, ScheduledPush, WallTime};
use model::time::UtcMillis;
use serde::{Deserialize, Deserializer, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind};
use store::terms;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) scheduled: ScheduledPush,
    pub(crate) timing: Timing,
    /// By whose credential it was asked for: the author of what it sends.
    pub(crate) author: Option<String>,
}

/// The text of a stored schedule.
#[derive(Serialize)]
struct Printed<'s> {
    scheduled: &'s ScheduledPush,
    timing: &'s Timing,
    /// The chosen hour, which listings do not show.
    best_hour: Option<DayHour>,
    author: Option<&'s str>,
}

/// The same, as it is read.
#[derive(Deserialize)]
struct Read {
    #[serde(deserialize_with = "scheduled")]
    scheduled: ScheduledPush,
    timing: Timing,
    best_hour: Option<DayHour>,
    #[serde(default)]
    author: Option<String>,
}

/// The part of the same that tells how far a schedule has got.
#[derive(Deserialize)]
struct ReadTiming {
    timing: Timing,
}

/// How far a schedule has got.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timing {
    /// The job that fires it, and when; none while it is paused and when it has come to its end.
    pub(crate) timer: Option<(JobId, UtcMillis)>,
    /// All pushes up to this instant have been sent.
    pub(crate) done_until: UtcMillis,
    /// The id of the next push.
    pub(crate) next_push: PushId,
    /// The last time for which something was sent.
    #[serde(deserialize_with = "last_run")]
    pub(crate) last_run: Option<WallTime>,
}

impl Stored {
    pub(super) fn find(tx: &mut Tx<'_>, app: AppId, id: ScheduleId) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::Schedule, &id.to_string())?;
        document.map(|document| Self::read(&document.body)).transpose()
    }

    /// It was checked when it was stored, so a problem now is our fault.
    pub(super) fn read(body: &str) -> Result<Self> {
        let Read { mut scheduled, timing, best_hour, author } = serde_json::from_str(body).map_err(Error::internal)?;
        if let Some(hour) = best_hour {
            scheduled.schedule.first = scheduled.schedule.first.at_best_hour(hour);
        }
        Ok(Self { scheduled, timing, author })
    }

    /// For listings: an unreadable one does not hide the others.
    pub(crate) fn readable(document: &Document) -> Option<(ScheduleId, Self)> {
        let read = || Ok((document.id.parse().map_err(Error::internal)?, Self::read(&document.body)?));
        readable(DocumentKind::Schedule, &document.id, read())
    }

    pub(super) fn print(&self) -> Result<String> {
        let best_hour = self.scheduled.schedule.first.best_hour();
        let author = self.author.as_deref();
        let printed = Printed { scheduled: &self.scheduled, timing: &self.timing, best_hour, author };
        serde_json::to_string(&printed).map_err(Error::internal)
    }

    /// Whether some time zones have had their turn and others, in which there are channels, are waiting for it.
    pub(super) fn is_underway(&self, tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<bool> {
        let Some(time) = self.timing.last_run.filter(|_| self.timing.will_fire()) else { return Ok(false) };
        for clock in self.scheduled.schedule.waiting(time, now) {
            if is_in_use(tx, app, clock)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A clock whose term has no number is not in use.
pub(super) fn is_in_use(tx: &mut Tx<'_>, app: AppId, clock: &DeviceClock) -> Result<bool> {
    Ok(terms::find(tx, app, &clock.term)?.is_some())
}

impl Timing {
    /// Without reading the push.
    pub(super) fn find(tx: &mut Tx<'_>, app: AppId, id: ScheduleId) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::Schedule, &id.to_string())?;
        let read = |body: &str| serde_json::from_str(body).map_err(Error::internal);
        Ok(document.map(|document| read(&document.body)).transpose()?.map(|ReadTiming { timing }| timing))
    }

    /// Of a schedule that has sent nothing.
    pub(crate) fn starting(schedule: &Schedule, now: UtcMillis, next_push: PushId) -> Self {
        // A push due at this very moment is still to be sent.
        Self::after(schedule, UtcMillis(now.0 - 1), next_push, None)
    }

    /// The progress of a schedule that replaces another at `now` and would start like this. A push that the old one sent a moment
    /// ago is not sent again; one that it should have sent by now and has not is still sent, if the new schedule has that time,
    /// too.
    pub(super) fn in_place_of(self, old: &Self, schedule: &Schedule, now: UtcMillis) -> Self {
        let overdue = old.timer.map(|(_, due)| due).filter(|due| *due < now);
        let overdue = overdue.filter(|due| schedule.next_after(UtcMillis(due.0 - 1)) == Some(*due));
        let done_until = match overdue {
            Some(due) => UtcMillis(due.0 - 1),
            None => self.done_until.max(old.done_until),
        };
        match done_until == self.done_until {
            true => self,
            false => Self::after(schedule, done_until, self.next_push, self.last_run),
        }
    }

    /// Of a schedule that has sent everything up to `done_until`.
    pub(crate) fn after(
        schedule: &Schedule,
        done_until: UtcMillis,
        next_push: PushId,
        last_run: Option<WallTime>,
    ) -> Self {
        Self { timer: timer(schedule, done_until), done_until, next_push, last_run }
    }

    pub(super) fn will_fire(&self) -> bool {
        self.timer.is_some()
    }

    /// Whether nothing is left to be sent, be it paused or not.
    pub(super) fn has_ended(&self, schedule: &Schedule) -> bool {
        self.timer.is_none() && schedule.next_after(self.done_until).is_none()
    }
}

fn timer(schedule: &Schedule, after: UtcMillis) -> Option<(JobId, UtcMillis)> {
    let due = schedule.next_after(after).filter(|_| !schedule.is_paused())?;
    Some((JobId::at(due), due))
}

fn scheduled<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ScheduledPush, D::Error> {
    stored_body(deserializer, ScheduledPush::parse_stored)
}

fn last_run<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<WallTime>, D::Error> {
    stored_body(deserializer, |at| if at.is_null() { Some(None) } else { WallTime::parse(at).map(Some) })
}
