//! Sending a template, now or later: it is filled in when it is asked for, and what comes of it is a push like any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::ids::{AppId, OperationId, PushId};
use model::json::OneOrMany;
use model::origin::{Origin, Provenance};
use model::payload::Push;
use model::payload::template::TemplateId;
use model::problem::{Problem, ProblemKind, Problems};
use model::schedule::ScheduledPush;
use model::template::{TemplateSchedule, TemplateUse};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Tx;
use store::apps::{self, App};

use super::stored::{Stored, find};
use crate::push::{NewPush, Place, refuse_unfit_platforms, refuse_unsupported};
use crate::{CreatedSchedules, Engine, Error, Once, Result};

/// The answer to templates that were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTemplates {
    pub operation_id: OperationId,
    pub push_ids: Vec<PushId>,
}

/// The answer to templates that will be sent later, and what will be sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreatedTemplateSchedules {
    pub created: CreatedSchedules,
    /// Each a scheduled push as JSON: a repeated request gets the same, whatever has become of the template.
    pub scheduled: Vec<Value>,
}

impl Engine {
    /// Accepts all of the pushes or none.
    pub async fn send_templates(
        &self,
        app: &Arc<App>,
        uses: OneOrMany<TemplateUse>,
        once: Option<Once>,
    ) -> Result<SentTemplates> {
        let place = Place::of(&uses, "");
        let (uses, now) = (uses.into_vec(), self.clock().now());
        let operation = OperationId::at(now);
        let n_uses = uses.len() as u64;
        let (engine, app) = (self.clone(), Arc::clone(app));
        let written = self.write_once(app.id, once, move |tx| {
            let pushes = take_filled_in(tx, app.id, &uses, place, now)?;
            refuse(tx, app.id, &pushes, place)?;
            let accepted = engine.name_pushes(&app.key, &pushes, now);
            let payloads = pushes.iter().map(serde_json::to_string);
            let payloads: Vec<String> = payloads.collect::<Result<_, _>>().map_err(Error::internal)?;
            let provenances: Vec<_> = uses.iter().map(|usage| Provenance::of(origin(usage))).collect();
            let parts = pushes.iter().zip(&payloads).zip(&provenances).zip(&accepted.push_ids);
            let new = parts.map(|(((push, payload), provenance), id)| NewPush { id: *id, push, payload, provenance });
            engine.insert_pushes(tx, app.id, now, operation, &new.collect::<Vec<_>>())?;
            Ok(SentTemplates { operation_id: operation, push_ids: accepted.push_ids })
        });
        let sent = written.await?;
        // The answer to an earlier request with the same idempotency key bears that request's operation.
        if sent.operation_id == operation {
            self.metrics().pushes_accepted(n_uses);
        }
        Ok(sent)
    }

    /// Finds everything [`Engine::send_templates`] would object to, and records nothing.
    pub async fn validate_templates(&self, app: AppId, uses: OneOrMany<TemplateUse>) -> Result<()> {
        let place = Place::of(&uses, "");
        let read = move |tx: &mut Tx<'_>| {
            let (pushes, _) = filled_in(tx, app, uses.as_slice(), place)?;
            refuse(tx, app, &pushes, place)
        };
        self.0.store.read(read).await
    }

    /// Creates all of the schedules or none. Templates that change later do not change what is sent.
    pub async fn schedule_templates(
        &self,
        app: AppId,
        scheduled: OneOrMany<TemplateSchedule>,
        once: Option<Once>,
    ) -> Result<CreatedTemplateSchedules> {
        let place = Place::of(&scheduled, "");
        let (scheduled, now) = (scheduled.into_vec(), self.clock().now());
        let uses: Vec<TemplateUse> = scheduled.iter().map(|scheduled| scheduled.usage.clone()).collect();
        let engine = self.clone();
        self.write_once(app, once, move |tx| {
            let pushes = take_filled_in(tx, app, &uses, place, now)?;
            let to_schedule = scheduled.iter().zip(pushes).map(|(TemplateSchedule { name, schedule, .. }, push)| {
                ScheduledPush { name: name.clone(), schedule: schedule.clone(), push }
            });
            let planned = engine.plan_schedules(to_schedule.collect(), place)?;
            refuse_unfit_platforms(tx, app, planned.pushes(), place)?;
            engine.insert_schedules(tx, app, &planned)?;
            let printed = planned.scheduled().map(serde_json::to_value).collect::<Result<_, _>>();
            let scheduled = printed.map_err(Error::internal)?;
            Ok(CreatedTemplateSchedules { created: planned.named.clone(), scheduled })
        })
        .await
    }
}

fn origin(usage: &TemplateUse) -> Origin {
    Origin::Template(usage.merge_data.template_id)
}

fn refuse(tx: &mut Tx<'_>, app: AppId, pushes: &[Push], place: Place) -> Result<()> {
    refuse_unsupported(pushes, place)?;
    refuse_unfit_platforms(tx, app, pushes, place)
}

/// The pushes that templates make, after noting that these were used.
fn take_filled_in(
    tx: &mut Tx<'_>,
    app: AppId,
    uses: &[TemplateUse],
    place: Place,
    now: UtcMillis,
) -> Result<Vec<Push>> {
    apps::hold(tx, app)?;
    let (pushes, used) = filled_in(tx, app, uses, place)?;
    for (id, stored) in used {
        Stored { last_used: Some(now), ..stored }.put(tx, app, id, now)?;
    }
    Ok(pushes)
}

/// The pushes that templates make, and those templates.
fn filled_in(
    tx: &mut Tx<'_>,
    app: AppId,
    uses: &[TemplateUse],
    place: Place,
) -> Result<(Vec<Push>, BTreeMap<TemplateId, Stored>)> {
    let mut known: BTreeMap<TemplateId, Stored> = BTreeMap::new();
    let mut pushes = Vec::with_capacity(uses.len());
    let mut problems = Vec::new();
    for (n, usage) in uses.iter().enumerate() {
        let id = usage.merge_data.template_id;
        if !known.contains_key(&id) {
            known.extend(find(tx, app, id)?.map(|stored| (id, stored)));
        }
        match known.get(&id).map_or_else(|| Err(vec![unknown(id)]), |stored| stored.template.render(usage)) {
            Ok(push) => pushes.push(push),
            Err(found) => problems.extend(
                found.into_iter().map(|problem| Problem { path: place.path_outside(n, &problem.path), ..problem }),
            ),
        }
    }
    match Problems::from_vec(problems) {
        Some(problems) => Err(Error::Invalid(problems)),
        None => Ok((pushes, known)),
    }
}

fn unknown(id: TemplateId) -> Problem {
    Problem {
        path: "merge_data.template_id".to_owned(),
        message: format!("There is no template {id}."),
        kind: ProblemKind::Invalid,
    }
}
