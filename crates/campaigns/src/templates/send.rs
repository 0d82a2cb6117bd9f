//! Sending a template, now or later: it is filled in when the request comes, and the result is a push like any other.

use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, OperationId, PushId, ScheduleId};
use model::json::OneOrMany;
use model::origin::{Origin, Provenance};
use model::payload::Push;
use model::schedule::ScheduledPush;
use model::template::{TemplateSchedule, TemplateUse};
use sending::{NewPush, RequestPath, refuse_expiries_beyond_providers, refuse_unfit, refuse_unsupported};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::apps::App;
use tenancy::IdempotencyKey;

use super::made::{Made, bodies};
use crate::schedules::refuse_unsendable;
use crate::{Campaigns, CreatedSchedules};

/// The answer to templates that were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTemplates {
    pub operation_id: OperationId,
    pub push_ids: Vec<PushId>,
}

/// The answer to templates that will be sent later, with the schedules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreatedTemplateSchedules {
    pub created: CreatedSchedules,
    /// Each a scheduled push as JSON: a repeated request gets the same, even if the template has changed.
    pub scheduled: Vec<Value>,
}

#[boxed]
impl Campaigns {
    /// Accepts all of the pushes or none.
    pub async fn send_templates(
        &self,
        app: &Arc<App>,
        uses: OneOrMany<TemplateUse>,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<SentTemplates> {
        let request_path = RequestPath::of(&uses, "");
        let (uses, now) = (Arc::new(uses.into_vec()), self.0.clock.now());
        let operation = OperationId::at(now);
        let n_uses = uses.len() as u64;
        let (campaigns, app) = (self.clone(), Arc::clone(app));
        let prepare = move |pushes: Vec<Push>| {
            refuse_unsupported(&pushes, request_path)?;
            refuse_expiries_beyond_providers(&pushes, now, request_path)?;
            pushes.into_iter().map(Prepared::new).collect::<Result<Vec<_>>>()
        };
        let made = self.make(app.id, &uses, request_path, prepare).await?;
        let written = self.0.tenancy.write_once(app.id, idempotency_key, move |tx| {
            let again = made.made_again(tx, app.id, &uses, request_path, prepare)?;
            let made = again.as_ref().unwrap_or(&made);
            let prepared = made.outcome()?;
            refuse_unfit(tx, app.id, prepared.iter().map(|prepared| &prepared.push), request_path)?;
            made.set_used(tx, app.id, now)?;
            let provenances: Vec<_> = uses.iter().map(|usage| Provenance::of(origin(usage))).collect();
            let push_ids: Vec<PushId> = prepared.iter().map(|_| PushId::at(now)).collect();
            let parts = prepared.iter().zip(&provenances).zip(&push_ids);
            let new = parts.map(|((Prepared { push, payload }, provenance), id)| NewPush {
                id: *id,
                push,
                payload,
                provenance,
                author: None,
            });
            campaigns.0.sending.insert_pushes(tx, app.id, now, operation, &new.collect::<Vec<_>>())?;
            Ok(SentTemplates { operation_id: operation, push_ids })
        });
        let sent = written.await?;
        // The answer to an earlier request with the same idempotency key bears that request's operation.
        if sent.operation_id == operation {
            self.0.metrics.pushes_accepted(n_uses);
        }
        Ok(sent)
    }

    /// Finds everything [`Campaigns::send_templates`] would object to, and records nothing.
    pub async fn validate_templates(&self, app: AppId, uses: OneOrMany<TemplateUse>) -> Result<()> {
        let request_path = RequestPath::of(&uses, "");
        let now = self.0.clock.now();
        let check = move |pushes: Vec<Push>| {
            refuse_unsupported(&pushes, request_path)?;
            refuse_expiries_beyond_providers(&pushes, now, request_path)?;
            Ok(pushes)
        };
        let made = self.make(app, &Arc::new(uses.into_vec()), request_path, check).await?;
        self.0.store.read(move |tx| refuse_unfit(tx, app, made.outcome()?, request_path)).await
    }

    /// Creates all of the schedules or none. Later changes of templates do not change the scheduled pushes.
    pub async fn schedule_templates(
        &self,
        app: AppId,
        scheduled: OneOrMany<TemplateSchedule>,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedTemplateSchedules> {
        let request_path = RequestPath::of(&scheduled, "");
        let (mut scheduled, now) = (scheduled.into_vec(), self.0.clock.now());
        self.choose_best_hours(app, scheduled.iter_mut().map(|scheduled| &mut scheduled.schedule)).await?;
        let uses = Arc::new(scheduled.iter().map(|scheduled| scheduled.usage.clone()).collect::<Vec<_>>());
        let campaigns = self.clone();
        let scheduled = Arc::new(scheduled);
        let plan = move |pushes: Vec<Push>| {
            let to_schedule = scheduled.iter().zip(pushes).map(|(TemplateSchedule { name, schedule, .. }, push)| {
                ScheduledPush { name: name.clone(), schedule: schedule.clone(), push }
            });
            campaigns.plan_schedules(to_schedule.collect(), request_path)
        };
        let made = self.make(app, &uses, request_path, plan.clone()).await?;
        let campaigns = self.clone();
        self.0
            .tenancy
            .write_once(app, idempotency_key, move |tx| {
                let again = made.made_again(tx, app, &uses, request_path, &plan)?;
                let made = again.as_ref().unwrap_or(&made);
                let planned = made.outcome()?;
                planned.refuse_past()?;
                refuse_unfit(tx, app, planned.pushes(), request_path)?;
                made.set_used(tx, app, now)?;
                campaigns.insert_schedules(tx, app, planned)?;
                let printed = planned.scheduled().map(serde_json::to_value).collect::<Result<_, _>>();
                let scheduled = printed.map_err(Error::internal)?;
                Ok(CreatedTemplateSchedules { created: planned.named.clone(), scheduled })
            })
            .await
    }

    /// Puts a template that is sent later in place of a schedule, as [`Campaigns::update_schedule`] does with a push.
    pub async fn update_schedule_with_template(
        &self,
        app: AppId,
        id: ScheduleId,
        mut scheduled: TemplateSchedule,
    ) -> Result<CreatedTemplateSchedules> {
        self.choose_best_hours(app, std::iter::once(&mut scheduled.schedule)).await?;
        let TemplateSchedule { name, schedule, usage } = scheduled;
        let (uses, now) = (Arc::new(vec![usage]), self.0.clock.now());
        let fill_in = move |pushes: Vec<Push>| {
            let filled_in =
                pushes.into_iter().map(|push| ScheduledPush { name: name.clone(), schedule: schedule.clone(), push });
            let filled_in: Vec<_> = filled_in.collect();
            refuse_unsendable(&filled_in, RequestPath::WHOLE).map(|()| filled_in)
        };
        let made = self.make(app, &uses, RequestPath::WHOLE, fill_in.clone()).await?;
        let replaced = self.replace_schedule(app, id, RequestPath::WHOLE, move |tx| {
            let again = made.made_again(tx, app, &uses, RequestPath::WHOLE, &fill_in)?;
            let made = again.as_ref().unwrap_or(&made);
            let scheduled = made.outcome()?.first().cloned();
            made.set_used(tx, app, now)?;
            scheduled.ok_or_else(|| Error::internal("a template that is used once makes one push"))
        });
        let (created, scheduled) = replaced.await?;
        let printed = serde_json::to_value(scheduled).map_err(Error::internal)?;
        Ok(CreatedTemplateSchedules { created, scheduled: vec![printed] })
    }

    /// Fills templates in and turns the pushes into a result, on a blocking thread: templates may be large, and the atlas may
    /// have to be read to check places.
    async fn make<T: Send + 'static>(
        &self,
        app: AppId,
        uses: &Arc<Vec<TemplateUse>>,
        request_path: RequestPath,
        make: impl Fn(Vec<Push>) -> Result<T> + Send + 'static,
    ) -> Result<Made<T>> {
        let named = Arc::clone(uses);
        let bodies = self.0.store.read(move |tx| bodies(tx, app, &named)).await?;
        let uses = Arc::clone(uses);
        let made = tokio::task::spawn_blocking(move || Made::of(bodies, &uses, request_path, make));
        made.await.map_err(Error::internal)?
    }
}

fn origin(usage: &TemplateUse) -> Origin {
    Origin::Template(usage.merge_data.template_id)
}

/// A push that is about to be accepted.
struct Prepared {
    push: Push,
    payload: String,
}

impl Prepared {
    fn new(push: Push) -> Result<Self> {
        let payload = serde_json::to_string(&push).map_err(Error::internal)?;
        Ok(Self { push, payload })
    }
}
