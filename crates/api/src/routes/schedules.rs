//! Schedules. Their answers have the old form: one of them alone is not an object with `"ok": true`.

use axum::extract::State;
use campaigns::{CreatedSchedules, SchedulePage, ScheduleView};
use http::StatusCode;
use model::ids::{OperationId, PushId, ScheduleId, ScheduleKind};
use model::schedule::ScheduledPush;
use model::template::ScheduleReplacement;
use schemars::JsonSchema;
use serde::Serialize;
use targeting::Order;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::inside::Person;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathId;
use crate::query::{ORDERS, Params, order_word};

#[derive(Serialize, JsonSchema)]
pub(super) struct Created<T> {
    operation_id: OperationId,
    schedule_urls: Vec<String>,
    schedule_ids: Vec<ScheduleId>,
    schedules: Vec<ScheduleRecord<T>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    count: usize,
    total_count: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    #[schemars(with = "Vec<ScheduleRecord<serde_json::Map<String, serde_json::Value>>>")]
    schedules: Vec<ScheduleRecord<ScheduledPush>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ScheduleRecord<T> {
    url: String,
    /// A scheduled push, or its JSON.
    #[serde(flatten)]
    scheduled: T,
    /// The last 100 pushes that were sent, and the id of the next.
    push_ids: Vec<PushId>,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    person: Person,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let scheduled = input.parse(ScheduledPush::parse_one_or_many).await?;
    person.may_send(&edge, &app, scheduled.as_slice().iter().map(|scheduled| &scheduled.push)).await?;
    let as_sent = scheduled.as_slice().iter().map(with_pause).collect();
    let created = edge.engine.campaigns().create_schedules(app.id, scheduled, input.idempotency_key).await?;
    Ok(created_answer(&links, &created, as_sent)?.status(StatusCode::CREATED))
}

/// The schedules that a caller has created or changed, each with whether it is paused.
pub(super) fn created_answer<T: Serialize>(
    links: &Links,
    created: &CreatedSchedules,
    scheduled: Vec<(T, bool)>,
) -> Result<Answer> {
    let named = created.schedules.iter().zip(scheduled);
    let schedules = named.map(|(name, (scheduled, is_paused))| {
        let push_ids = if is_paused { Vec::new() } else { vec![name.push] };
        ScheduleRecord { url: url(links, name.id), scheduled, push_ids }
    });
    let created = Created {
        operation_id: created.operation_id,
        schedule_urls: created.schedules.iter().map(|name| url(links, name.id)).collect(),
        schedule_ids: created.schedules.iter().map(|name| name.id).collect(),
        schedules: schedules.collect(),
    };
    Ok(Answer::ok(created)?.data_attribute("schedule_urls"))
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let start = params.id("start");
    let limit = params.limit(PageSize::SCHEDULES);
    let order = params.choice("order", &ORDERS).unwrap_or(Order::Ascending);
    params.finish()?;
    let SchedulePage { shown, next, total: total_count } =
        edge.engine.campaigns().schedules(app.id, start, order, limit).await?;
    let word = order_word(order);
    let next_page = next.map(|next| links.to(&format!("/api/schedules?start={next}&limit={limit}&order={word}")));
    let schedules: Vec<_> = shown.into_iter().map(|view| record(&links, view)).collect();
    let page = Page { count: schedules.len(), total_count, next_page: next_page.clone(), schedules };
    let answer = Answer::ok(&page)?.data_attribute("schedules").counts(page.count, total_count);
    Ok(answer.next_page(next_page.as_deref()))
}

/// Only the fields of the request.
pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ScheduleKind>,
) -> Result<Answer> {
    Answer::bare(edge.engine.campaigns().schedule(app.id, id).await?)
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ScheduleKind>,
    person: Person,
    links: Links,
    input: Input,
) -> Result<Answer> {
    match input.parse(ScheduleReplacement::parse).await? {
        ScheduleReplacement::Push(scheduled) => {
            person.may_send(&edge, &app, std::iter::once(&scheduled.push)).await?;
            let updated = edge.engine.campaigns().update_schedule(app.id, id, (*scheduled).clone()).await?;
            created_answer(&links, &updated, vec![with_pause(&scheduled)])
        }
        ScheduleReplacement::Template(scheduled) => {
            let is_paused = scheduled.schedule.is_paused();
            let updated = edge.engine.campaigns().update_schedule_with_template(app.id, id, *scheduled).await?;
            let records = updated.scheduled.into_iter().map(|scheduled| (scheduled, is_paused));
            created_answer(&links, &updated.created, records.collect())
        }
    }
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ScheduleKind>,
) -> Result<Answer> {
    edge.engine.campaigns().delete_schedule(app.id, id).await?;
    Ok(Answer::nothing())
}

/// Takes no body, like its counterpart: any body is ignored.
pub(super) async fn pause(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ScheduleKind>,
) -> Result<Answer> {
    edge.engine.campaigns().pause_schedule(app.id, id).await?;
    Ok(Answer::nothing())
}

pub(super) async fn resume(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ScheduleKind>,
) -> Result<Answer> {
    edge.engine.campaigns().resume_schedule(app.id, id).await?;
    Ok(Answer::nothing())
}

pub(super) fn with_pause(scheduled: &ScheduledPush) -> (ScheduledPush, bool) {
    (scheduled.clone(), scheduled.schedule.is_paused())
}

fn record(links: &Links, view: ScheduleView) -> ScheduleRecord<ScheduledPush> {
    ScheduleRecord { url: url(links, view.id), scheduled: view.scheduled, push_ids: view.push_ids }
}

fn url(links: &Links, id: ScheduleId) -> String {
    links.to(&format!("/api/schedules/{id}"))
}
