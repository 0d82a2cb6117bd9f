//! Content templates: texts for one kind of channel, named by an id of the service or of the caller.

use axum::extract::State;
use campaigns::{ContentTemplatePage, ContentTemplateSort, CreatedContentTemplate};
use http::StatusCode;
use model::content_template::{ContentTemplate, ContentTemplateId, ContentTemplateKind, ContentTemplateType};
use model::time::UtcMillis;
use schemars::JsonSchema;
use sending::{ContentTemplateName, ContentTemplateView};
use serde::Serialize;
use targeting::Order;
use tenancy::App;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::{PathId, PathVars};
use crate::query::{ORDERS, Params, order_word};

const SORTS: [(&str, ContentTemplateSort); 2] =
    [("created_at", ContentTemplateSort::Created), ("modified_at", ContentTemplateSort::Modified)];

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedContentTemplate")]
pub(super) struct Created {
    template_id: ContentTemplateId,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneContentTemplate")]
pub(super) struct One {
    content_template: ContentTemplateRecord,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ContentTemplatePage")]
pub(super) struct Page {
    count: usize,
    total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_page: Option<String>,
    content_templates: Vec<ContentTemplateRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ContentTemplateRecord {
    id: ContentTemplateId,
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    template: ContentTemplate,
    created_at: String,
    modified_at: String,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let template = input.parse(ContentTemplate::parse).await?;
    let CreatedContentTemplate { operation_id, id } =
        edge.engine.campaigns().create_content_template(app.id, template, input.idempotency_key).await?;
    let answer = Answer::changed(operation_id, Created { template_id: id })?.status(StatusCode::CREATED);
    Ok(answer.location(&links.to(&format!("/api/content/templates/{id}"))))
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let page = params.number("page", 1..=u32::MAX).unwrap_or(1);
    let size = params.page_size("page_size", PageSize::TEMPLATES).unwrap_or(PageSize::TEMPLATES.usual());
    let sort = params.choice("sort", &SORTS).unwrap_or(ContentTemplateSort::Created);
    let order = params.choice("order", &ORDERS).unwrap_or(Order::Ascending);
    params.finish()?;
    let ContentTemplatePage { shown, total: total_count } =
        edge.engine.campaigns().content_templates(app.id, sort, order, page, size).await?;
    let sort = SORTS.iter().find(|(_, known)| *known == sort).map_or("created_at", |(word, _)| word);
    let order = order_word(order);
    let link =
        |page: u32| links.to(&format!("/api/content/templates?page={page}&page_size={size}&sort={sort}&order={order}"));
    let next_page = ((page as usize).saturating_mul(size as usize) < total_count).then(|| link(page + 1));
    let prev_page = (page > 1).then(|| link(page - 1));
    let content_templates: Vec<_> = shown.into_iter().map(ContentTemplateRecord::from).collect();
    let (count, total) = (content_templates.len(), i64::try_from(total_count).unwrap_or(i64::MAX));
    let answer = Answer::ok(Page { count, total_count, next_page: next_page.clone(), prev_page, content_templates })?;
    Ok(answer.data_attribute("content_templates").counts(count, total).next_page(next_page.as_deref()))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ContentTemplateKind>,
) -> Result<Answer> {
    show(&edge, &app, ContentTemplateName::Id(id)).await
}

pub(super) async fn look_up_external(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((kind, id)): PathVars<(String, String)>,
) -> Result<Answer> {
    show(&edge, &app, external(&kind, id)?).await
}

pub(super) async fn replace(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ContentTemplateKind>,
    input: Input,
) -> Result<Answer> {
    let template = input.parse(ContentTemplate::parse).await?;
    edge.engine.campaigns().replace_content_template(app.id, ContentTemplateName::Id(id), template).await?;
    Answer::done()
}

pub(super) async fn replace_external(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((kind, id)): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    let template = input.parse(ContentTemplate::parse).await?;
    edge.engine.campaigns().replace_content_template(app.id, external(&kind, id)?, template).await?;
    Answer::done()
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ContentTemplateKind>,
) -> Result<Answer> {
    edge.engine.campaigns().delete_content_template(app.id, ContentTemplateName::Id(id)).await?;
    Answer::done()
}

pub(super) async fn delete_external(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((kind, id)): PathVars<(String, String)>,
) -> Result<Answer> {
    edge.engine.campaigns().delete_content_template(app.id, external(&kind, id)?).await?;
    Answer::done()
}

async fn show(edge: &Edge, app: &App, name: ContentTemplateName) -> Result<Answer> {
    let content_template = edge.engine.campaigns().content_template(app.id, name).await?.into();
    Ok(Answer::ok(One { content_template })?.data_attribute("content_template"))
}

/// A type that no content template has is that of none.
fn external(kind: &str, external_id: String) -> Result<ContentTemplateName> {
    let kind = ContentTemplateType::ALL.into_iter().find(|known| known.word() == kind);
    let none = || Error::NotFound("There is no such content template.".to_owned());
    Ok(ContentTemplateName::External { kind: kind.ok_or_else(none)?, external_id })
}

impl From<ContentTemplateView> for ContentTemplateRecord {
    fn from(view: ContentTemplateView) -> Self {
        let zulu = |instant: UtcMillis| format!("{}Z", instant.to_api());
        Self { id: view.id, created_at: zulu(view.created), modified_at: zulu(view.modified), template: view.template }
    }
}
