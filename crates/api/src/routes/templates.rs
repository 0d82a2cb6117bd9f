//! Templates: kept, shown, and sent with values for their variables, now or later.

use axum::extract::State;
use campaigns::{CreatedTemplate, TemplatePage, TemplateSort, TemplateView};
use http::StatusCode;
use model::ids::OperationId;
use model::payload::template::{TemplateId, TemplateKind};
use model::template::{Template, TemplateChange, TemplateSchedule, TemplateUse};
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;
use targeting::Order;

use super::schedules;
use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathId;
use crate::query::{ORDERS, Params, order_word};

const SORTS: [(&str, TemplateSort); 3] = [
    ("created_at", TemplateSort::Created),
    ("modified_at", TemplateSort::Modified),
    ("last_used", TemplateSort::LastUsed),
];

#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    template_id: TemplateId,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct One {
    template: TemplateRecord,
}

/// Both links are always there: one client reads them without looking.
#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    count: usize,
    total_count: usize,
    templates: Vec<TemplateRecord>,
    next_page: Option<String>,
    prev_page: Option<String>,
}

/// The id under two names, which were documented one after the other.
#[derive(Serialize, JsonSchema)]
pub(super) struct TemplateRecord {
    id: TemplateId,
    template_id: TemplateId,
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    template: Template,
    created_at: String,
    modified_at: String,
    last_used: Option<String>,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let template = input.parse(Template::parse).await?;
    let CreatedTemplate { operation_id, id } =
        edge.engine.campaigns().create_template(app.id, template, input.idempotency_key).await?;
    let answer = Answer::changed(operation_id, Created { template_id: id })?;
    Ok(answer.status(StatusCode::CREATED).location(&links.to(&format!("/api/templates/{id}"))))
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let page = params.number("page", 1..=u32::MAX).unwrap_or(1);
    // One client calls it `limit`.
    let size = params.page_size("page_size", PageSize::TEMPLATES);
    let limit = params.limit(PageSize::TEMPLATES);
    let size = size.unwrap_or(limit);
    let sort = params.choice("sort", &SORTS).unwrap_or(TemplateSort::Created);
    let order = params.choice("order", &ORDERS).unwrap_or(Order::Ascending);
    params.finish()?;
    let TemplatePage { shown, total: total_count } =
        edge.engine.campaigns().templates(app.id, sort, order, page, size).await?;
    let sort_word = SORTS.iter().find(|(_, known)| *known == sort).map_or("created_at", |(word, _)| word);
    let order = order_word(order);
    let link =
        |page: u32| links.to(&format!("/api/templates?page={page}&page_size={size}&sort={sort_word}&order={order}"));
    let has_next = (page as usize).saturating_mul(size as usize) < total_count;
    let next_page = has_next.then(|| link(page + 1));
    let prev_page = (page > 1).then(|| link(page - 1));
    let templates: Vec<_> = shown.into_iter().map(TemplateRecord::from).collect();
    let page = Page { count: templates.len(), total_count, templates, next_page: next_page.clone(), prev_page };
    let total = i64::try_from(total_count).unwrap_or(i64::MAX);
    let answer = Answer::ok(&page)?.data_attribute("templates").counts(page.count, total);
    Ok(answer.next_page(next_page.as_deref()))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<TemplateKind>,
) -> Result<Answer> {
    let template = edge.engine.campaigns().template(app.id, id).await?;
    Ok(Answer::ok(One { template: template.into() })?.data_attribute("template"))
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<TemplateKind>,
    input: Input,
) -> Result<Answer> {
    let change = input.parse(TemplateChange::parse).await?;
    edge.engine.campaigns().update_template(app.id, id, change).await?;
    Answer::done()
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<TemplateKind>,
) -> Result<Answer> {
    edge.engine.campaigns().delete_template(app.id, id).await?;
    Answer::changed(OperationId::random(), Done {})
}

pub(super) async fn send(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let uses = input.parse(TemplateUse::parse_one_or_many).await?;
    let sent = edge.engine.campaigns().send_templates(&app, uses, input.idempotency_key).await?;
    Ok(Answer::ok(sent)?.data_attribute("push_ids"))
}

pub(super) async fn validate(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let uses = input.parse(TemplateUse::parse_one_or_many).await?;
    edge.engine.campaigns().validate_templates(app.id, uses).await?;
    Answer::ok(Done {})
}

pub(super) async fn schedule(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let scheduled = input.parse(TemplateSchedule::parse_one_or_many).await?;
    let paused = scheduled.as_slice().iter().map(|scheduled| scheduled.schedule.is_paused()).collect::<Vec<_>>();
    let answer = edge.engine.campaigns().schedule_templates(app.id, scheduled, input.idempotency_key).await?;
    let records = answer.scheduled.into_iter().zip(paused).collect();
    Ok(schedules::created_answer(&links, &answer.created, records)?.status(StatusCode::CREATED))
}

impl From<TemplateView> for TemplateRecord {
    fn from(view: TemplateView) -> Self {
        Self {
            id: view.id,
            template_id: view.id,
            template: view.template,
            created_at: view.created.to_iso(),
            modified_at: view.modified.to_iso(),
            last_used: view.last_used.map(UtcMillis::to_iso),
        }
    }
}
