//! A schedule as it is stored: the request, and how far it has got.

use base::{Error, Result, readable};
use jobs::JobId;
use model::ids::{AppId, PushId, ScheduleId};
use model::json::{self, At, Json};
use model::property::DeviceClock;
use model::schedule::{DayHour, Schedule, ScheduledPush, WallTime};
use model::time::UtcMillis;
use serde::Serialize;
use store::Tx;
use store::documents::{self, Document, DocumentKind};
use store::terms;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Stored {
    pub(super) scheduled: ScheduledPush,
    pub(super) timing: Timing,
}

/// With the chosen hour, which listings do not show.
#[derive(Serialize)]
struct Printed<'s> {
    #[serde(flatten)]
    stored: &'s Stored,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_hour: Option<DayHour>,
}

/// How far a schedule has got.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Timing {
    /// The job that fires it, and when; none while it is paused and when it has come to its end.
    pub(crate) timer: Option<(JobId, UtcMillis)>,
    /// All pushes up to this instant have been sent.
    pub(crate) done_until: UtcMillis,
    /// The id of the next push.
    pub(crate) next_push: PushId,
    /// The last time for which something was sent.
    pub(crate) last_run: Option<WallTime>,
}

impl Stored {
    pub(super) fn find(tx: &mut Tx<'_>, app: AppId, id: ScheduleId) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::Schedule, &id.to_string())?;
        document.map(|document| Self::read(&document.body)).transpose()
    }

    /// It was checked when it was stored, so a problem now is our fault.
    pub(super) fn read(body: &str) -> Result<Self> {
        json::parse(body.as_bytes(), Self::parse).map_err(Error::internal)
    }

    /// For listings: an unreadable one does not hide the others.
    pub(super) fn readable(document: &Document) -> Option<(ScheduleId, Self)> {
        let read = || Ok((document.id.parse().map_err(Error::internal)?, Self::read(&document.body)?));
        readable(DocumentKind::Schedule, &document.id, read())
    }

    pub(super) fn print(&self) -> Result<String> {
        let best_hour = self.scheduled.schedule.first.best_hour();
        serde_json::to_string(&Printed { stored: self, best_hour }).map_err(Error::internal)
    }

    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let scheduled = fields.required("scheduled", ScheduledPush::parse_stored);
        let timing = fields.required("timing", Timing::parse);
        let best_hour = fields.optional("best_hour", DayHour::parse);
        fields.finish();
        let mut scheduled = scheduled?;
        if let Some(hour) = best_hour {
            scheduled.schedule.first = scheduled.schedule.first.at_best_hour(hour);
        }
        Some(Self { scheduled, timing: timing? })
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
        let timing = |at: &At<'_>| {
            let mut fields = at.object()?;
            for beside in ["scheduled", "best_hour"] {
                fields.take(beside);
            }
            let timing = fields.required("timing", Self::parse);
            fields.finish();
            timing
        };
        document.map(|document| json::parse(document.body.as_bytes(), timing).map_err(Error::internal)).transpose()
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

    pub(crate) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let timer = fields.required("timer", |at| match at.json() {
            Json::Null => Some(None),
            _ => match at.items(2..=2)?.as_slice() {
                [id, due] => Some(Some((JobId::parse(id)?, instant(due)?))),
                _ => at.invalid("A timer is an id and an instant."),
            },
        });
        let done_until = fields.required("done_until", instant);
        let next_push = fields.required("next_push", PushId::parse);
        let last_run = fields.nullable("last_run", WallTime::parse);
        fields.finish();
        Some(Self { timer: timer?, done_until: done_until?, next_push: next_push?, last_run })
    }
}

fn timer(schedule: &Schedule, after: UtcMillis) -> Option<(JobId, UtcMillis)> {
    let due = schedule.next_after(after).filter(|_| !schedule.is_paused())?;
    Some((JobId::at(due), due))
}

fn instant(at: &At<'_>) -> Option<UtcMillis> {
    at.integer(i64::MIN..=i64::MAX).map(UtcMillis)
}
