//! Schedules: pushes that are sent later. Each has one timer at a time; changing a schedule replaces its timer, and a timer that
//! is not the schedule's does nothing.

mod best_hour;
mod fire;
mod pause;
mod stored;

pub(crate) use fire::FireSchedule;

use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, OperationId, PushId, ScheduleId};
use model::json::OneOrMany;
use model::origin::Origin;
use model::problem::{Problem, ProblemKind};
use model::schedule::{FirstTime, ScheduledPush};
use model::time::UtcMillis;
use sending::{RequestPath, refuse_unfit, refuse_unsupported_in_group};
use serde::{Deserialize, Serialize};
use store::documents::{self, DocumentKind, Order};
use store::{Tx, origins};
use tenancy::IdempotencyKey;

use crate::Campaigns;
pub(crate) use fire::due_waves;
use stored::Stored;
pub(crate) use stored::{Stored as StoredSchedule, Timing};

/// How many of the pushes of a schedule are shown with it.
const PUSHES_SHOWN: u32 = 100;

/// The answer to the creation of schedules: the ids of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedSchedules {
    pub operation_id: OperationId,
    pub schedules: Vec<NamedSchedule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedSchedule {
    pub id: ScheduleId,
    /// The id of the first push.
    pub push: PushId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleView {
    pub id: ScheduleId,
    pub scheduled: ScheduledPush,
    /// The last pushes it has sent and, unless there is none, the next.
    pub push_ids: Vec<PushId>,
}

/// A page of a listing of schedules.
#[derive(Clone, Debug)]
pub struct SchedulePage {
    pub shown: Vec<ScheduleView>,
    /// The first schedule of the next page.
    pub next: Option<ScheduleId>,
    /// How many there are on all pages.
    pub total: i64,
}

#[boxed]
impl Campaigns {
    /// Creates all of the schedules or none.
    pub async fn create_schedules(
        &self,
        app: AppId,
        scheduled: OneOrMany<ScheduledPush>,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedSchedules> {
        self.create_schedules_with(app, scheduled, idempotency_key, |_, _| Ok(())).await
    }

    /// As [`Campaigns::create_schedules`], unless what is written with them refuses it.
    pub(crate) async fn create_schedules_with(
        &self,
        app: AppId,
        scheduled: OneOrMany<ScheduledPush>,
        idempotency_key: Option<IdempotencyKey>,
        with: impl Fn(&mut Tx<'_>, &CreatedSchedules) -> Result<()> + Send + Sync + 'static,
    ) -> Result<CreatedSchedules> {
        let request_path = RequestPath::of(&scheduled, "push.");
        self.0.targeting.ready_atlas(scheduled.as_slice().iter().map(|scheduled| &scheduled.push)).await?;
        let mut scheduled = scheduled.into_vec();
        let pushes = request_path.of_each(scheduled.iter_mut().map(|scheduled| &mut scheduled.push));
        self.0.sending.fill_in_content_templates(app, pushes).await?;
        self.choose_best_hours(app, scheduled.iter_mut().map(|scheduled| &mut scheduled.schedule)).await?;
        let planned = self.plan_schedules(scheduled, request_path)?;
        let campaigns = self.clone();
        self.0
            .tenancy
            .write_once(app, idempotency_key, move |tx| {
                planned.refuse_past()?;
                refuse_unfit(tx, app, planned.pushes(), request_path)?;
                with(tx, &planned.named)?;
                campaigns.insert_schedules(tx, app, &planned)?;
                Ok(planned.named.clone())
            })
            .await
    }

    /// Gives ids to schedules and finds their first moments, or their problems, including times that have passed.
    pub(crate) fn plan_schedules(
        &self,
        scheduled: Vec<ScheduledPush>,
        request_path: RequestPath,
    ) -> Result<PlannedSchedules> {
        refuse_unsendable(&scheduled, request_path)?;
        let now = self.0.clock.now();
        let past = scheduled.iter().enumerate().filter_map(|(n, scheduled)| {
            let problem = passed(scheduled.schedule.first, now)?;
            Some(Problem { path: request_path.beside_push(n, &problem.path), ..problem })
        });
        let past = past.collect();
        // Listings are ordered by ids, which are all of one instant.
        let mut ids: Vec<ScheduleId> = scheduled.iter().map(|_| ScheduleId::at(now)).collect();
        ids.sort_unstable();
        let mut named = CreatedSchedules { operation_id: OperationId::at(now), schedules: Vec::new() };
        let mut planned = Vec::with_capacity(scheduled.len());
        for (id, scheduled) in ids.into_iter().zip(scheduled) {
            let name = NamedSchedule { id, push: PushId::at(now) };
            named.schedules.push(name);
            let timing = Timing::starting(&scheduled.schedule, now, name.push);
            planned.push(Stored { scheduled, timing, author: None });
        }
        Ok(PlannedSchedules { named, planned, past, now })
    }

    pub(crate) fn insert_schedules(&self, tx: &mut Tx<'_>, app: AppId, planned: &PlannedSchedules) -> Result<()> {
        let author = tx.requested_by().map(str::to_owned);
        for (name, stored) in planned.named.schedules.iter().zip(&planned.planned) {
            let stored = Stored { author: author.clone(), ..stored.clone() };
            self.put_schedule(tx, app, name.id, &stored, planned.now)?;
        }
        Ok(())
    }

    pub async fn schedule(&self, app: AppId, id: ScheduleId) -> Result<ScheduledPush> {
        let found = self.0.store.read(move |tx| Stored::find(tx, app, id)).await?;
        Ok(found.ok_or(NOT_FOUND)?.scheduled)
    }

    /// A page of schedules beginning with `start`.
    pub async fn schedules(
        &self,
        app: AppId,
        start: Option<ScheduleId>,
        order: Order,
        limit: u32,
    ) -> Result<SchedulePage> {
        self.0
            .store
            .read(move |tx| {
                let start = start.map(|id| id.to_string());
                let mut found = documents::page(tx, app, DocumentKind::Schedule, start.as_deref(), order, limit + 1)?;
                let next = (found.len() > limit as usize).then(|| found.pop()).flatten();
                let next = next.map(|next| next.id.parse()).transpose().map_err(Error::internal)?;
                let mut shown = Vec::with_capacity(found.len());
                for (id, Stored { scheduled, timing, .. }) in found.iter().filter_map(Stored::readable) {
                    let mut push_ids = origins::last_pushes(tx, app, Origin::Schedule(id), PUSHES_SHOWN)?;
                    push_ids.extend(timing.will_fire().then_some(timing.next_push));
                    shown.push(ScheduleView { id, scheduled, push_ids });
                }
                Ok(SchedulePage { shown, next, total: documents::count(tx, app, DocumentKind::Schedule)? })
            })
            .await
    }

    /// Replaces a schedule, which starts over: it still fires once at each of its times. A schedule that is being sent around the
    /// world cannot be replaced meanwhile.
    pub async fn update_schedule(
        &self,
        app: AppId,
        id: ScheduleId,
        mut scheduled: ScheduledPush,
    ) -> Result<CreatedSchedules> {
        let request_path = RequestPath::of(&OneOrMany::One(()), "push.");
        self.0.targeting.ready_atlas([&scheduled.push]).await?;
        self.0.sending.fill_in_content_templates(app, request_path.of_each([&mut scheduled.push])).await?;
        refuse_unsendable(std::slice::from_ref(&scheduled), request_path)?;
        self.choose_best_hours(app, std::iter::once(&mut scheduled.schedule)).await?;
        self.replace_schedule(app, id, request_path, move |_| Ok(scheduled.clone())).await.map(|(named, _)| named)
    }

    /// Puts the schedule that `make` gives in place of another. Its push has been checked, as far as that needs no store.
    pub(crate) async fn replace_schedule(
        &self,
        app: AppId,
        id: ScheduleId,
        request_path: RequestPath,
        make: impl Fn(&mut Tx<'_>) -> Result<ScheduledPush> + Send + 'static,
    ) -> Result<(CreatedSchedules, ScheduledPush)> {
        let now = self.0.clock.now();
        let name = NamedSchedule { id, push: PushId::at(now) };
        let named = CreatedSchedules { operation_id: OperationId::at(now), schedules: vec![name] };
        let campaigns = self.clone();
        self.0
            .store
            .write(app, move |tx| {
                let old = Stored::find(tx, app, id)?.ok_or(NOT_FOUND)?;
                if old.is_underway(tx, app, now)? {
                    let way_out = match old.scheduled.schedule.recurring {
                        Some(_) => "pause it first, or delete it",
                        None => "what is left of it can be deleted",
                    };
                    return Err(Error::Conflict(format!(
                        "The schedule is being sent, one time zone after the other, and cannot be changed until it has \
                         reached the last; {way_out}."
                    )));
                }
                let scheduled = make(tx)?;
                refuse_unfit(tx, app, [&scheduled.push], request_path)?;
                let fresh = Timing::starting(&scheduled.schedule, now, name.push);
                let timing = fresh.in_place_of(&old.timing, &scheduled.schedule, now);
                // One that has begun keeps its first time, from which the others are counted.
                if timing.has_ended(&scheduled.schedule) {
                    Error::refuse(vec![past(scheduled.schedule.first, now)])?;
                }
                campaigns.stop_timer(tx, app, &old.timing)?;
                let author = tx.requested_by().map(str::to_owned).or(old.author);
                let stored = Stored { scheduled, timing, author };
                campaigns.put_schedule(tx, app, id, &stored, now)?;
                Ok((named.clone(), stored.scheduled))
            })
            .await
    }

    /// Deletes a schedule. Pushes already sent stay.
    pub async fn delete_schedule(&self, app: AppId, id: ScheduleId) -> Result<()> {
        let campaigns = self.clone();
        self.0
            .store
            .write(app, move |tx| {
                let timing = Timing::find(tx, app, id)?.ok_or(NOT_FOUND)?;
                campaigns.stop_timer(tx, app, &timing)?;
                documents::delete(tx, app, DocumentKind::Schedule, &id.to_string())?;
                Ok(())
            })
            .await
    }

    /// Writes a schedule and sets its timer.
    fn put_schedule(&self, tx: &mut Tx<'_>, app: AppId, id: ScheduleId, stored: &Stored, now: UtcMillis) -> Result<()> {
        documents::put(tx, app, DocumentKind::Schedule, &id.to_string(), &stored.print()?, now)?;
        match stored.timing.timer {
            Some((timer, due)) => jobs::enqueue_as(tx, app, timer, due, &FireSchedule { schedule: id }),
            None => Ok(()),
        }
    }

    fn stop_timer(&self, tx: &mut Tx<'_>, app: AppId, timing: &Timing) -> Result<()> {
        match timing.timer {
            Some((timer, _)) => Ok(jobs::cancel(tx, app, timer)?),
            None => Ok(()),
        }
    }
}

const NOT_FOUND: Error = Error::NotFound("schedule");

/// Schedules that are about to be written.
pub(crate) struct PlannedSchedules {
    pub(crate) named: CreatedSchedules,
    planned: Vec<Stored>,
    past: Vec<Problem>,
    now: UtcMillis,
}

impl PlannedSchedules {
    /// To be called once the request is known to be new: a repeated one gets its answer, late as it may be.
    pub(crate) fn refuse_past(&self) -> Result<()> {
        Error::refuse(self.past.clone())
    }

    pub(crate) fn scheduled(&self) -> impl Iterator<Item = &ScheduledPush> {
        self.planned.iter().map(|stored| &stored.scheduled)
    }

    pub(crate) fn pushes(&self) -> impl Iterator<Item = &model::payload::Push> {
        self.planned.iter().map(|stored| &stored.scheduled.push)
    }
}

/// A first time that has passed in all time zones is most likely a mistake.
pub(crate) fn passed(first: FirstTime, now: UtcMillis) -> Option<Problem> {
    first.has_passed(now).then(|| past(first, now))
}

fn past(first: FirstTime, now: UtcMillis) -> Problem {
    let message = match first {
        FirstTime::Utc(time) => format!("{time} has passed; it is {} in UTC.", now.to_api()),
        FirstTime::Local(_) | FirstTime::Best(_) => {
            format!("{} has passed in every time zone.", first.wall_time())
        }
    };
    Problem { path: format!("schedule.{}", first.key()), message, kind: ProblemKind::Invalid }
}

/// Checks that need neither the store nor the clock.
pub(crate) fn refuse_unsendable(scheduled: &[ScheduledPush], request_path: RequestPath) -> Result<()> {
    refuse_redacted(scheduled, request_path)?;
    refuse_unsupported_in_group(scheduled.iter().map(|scheduled| &scheduled.push), request_path)
}

/// A redacted payload is gone once it has been sent, and a recurring push is sent again.
fn refuse_redacted(scheduled: &[ScheduledPush], request_path: RequestPath) -> Result<()> {
    let recurs = |(_, scheduled): &(usize, &ScheduledPush)| scheduled.schedule.recurring.is_some();
    let redacted = scheduled.iter().enumerate().filter(recurs).filter(|(_, scheduled)| scheduled.push.is_redacted());
    let problem = |(n, _)| Problem {
        path: request_path.of_push(n, "options.redact_payload"),
        message: "The payload of a recurring schedule cannot be redacted, because it is kept to be sent again."
            .to_owned(),
        kind: ProblemKind::Invalid,
    };
    Error::refuse(redacted.map(problem).collect())
}
