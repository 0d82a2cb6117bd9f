//! Drafts: messages that are being written, approved and sent.

use axum::extract::State;
use campaigns::{CreatedDraft, DraftPage, DraftView, SentDraft};
use http::StatusCode;
use model::draft::{DraftBody, DraftChange, DraftSending, DraftState, DraftVersion};
use model::ids::{DraftId, DraftKind, ExperimentId, OperationId, PushId, ScheduleId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::inside::Person;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathId;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DraftAnswer")]
pub(super) struct One {
    draft: DraftRecord,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DraftPage")]
pub(super) struct Page {
    drafts: Vec<DraftSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Draft")]
pub(super) struct DraftRecord {
    #[serde(flatten)]
    summary: DraftSummary,
    /// The body of the call that sends it, as it came.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    document: Box<RawValue>,
    /// What the program that has written it keeps with it.
    editor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DraftSummary {
    draft_id: DraftId,
    name: Option<String>,
    /// `push`, `schedule` or `experiment`: the call that takes the document.
    kind: &'static str,
    /// Grows with every change.
    version: u32,
    /// `draft`, `awaiting` (somebody has asked for approval), `approved` or `sent`. A change leads back to `draft`.
    state: &'static str,
    /// Who has written this version: a credential as in the audit log.
    written_by: Option<String>,
    submitted_by: Option<String>,
    approved_by: Option<String>,
    sent_by: Option<String>,
    /// What it was sent as.
    #[serde(skip_serializing_if = "Option::is_none")]
    push_id: Option<PushId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_id: Option<ScheduleId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment_id: Option<ExperimentId>,
    created: String,
    modified: String,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let body = input.parse(DraftBody::parse).await?;
    let CreatedDraft { operation_id, draft } =
        edge.engine.campaigns().create_draft(app.id, body, input.idempotency_key).await?;
    let id = draft.id;
    let answer = Answer::changed(operation_id, One { draft: draft.into() })?.data_attribute("draft");
    Ok(answer.status(StatusCode::CREATED).location(&links.to(&format!("/api/drafts/{id}"))))
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let state = params.choice("state", &DraftState::WORDS);
    let start = params.id("start");
    let limit = params.limit(PageSize::DRAFTS);
    let query = params.repeated(&["state"]);
    params.finish()?;
    let DraftPage { shown, next } = edge.engine.campaigns().drafts(app.id, state, start, limit).await?;
    let next_page = next.map(|next| links.to(&format!("/api/drafts?start={next}&limit={limit}{query}")));
    let drafts = shown.iter().map(DraftSummary::from).collect();
    let answer = Answer::ok(Page { drafts, next_page: next_page.clone() })?.data_attribute("drafts");
    Ok(answer.next_page(next_page.as_deref()))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<DraftKind>,
) -> Result<Answer> {
    let draft = edge.engine.campaigns().draft(app.id, id).await?;
    Ok(Answer::ok(One { draft: draft.into() })?.data_attribute("draft"))
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<DraftKind>,
    input: Input,
) -> Result<Answer> {
    let change = input.parse(DraftChange::parse).await?;
    changed(edge.engine.campaigns().change_draft(app.id, id, change).await?)
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<DraftKind>,
) -> Result<Answer> {
    edge.engine.campaigns().delete_draft(app.id, id).await?;
    Ok(Answer::nothing())
}

pub(super) async fn submit(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<DraftKind>,
    input: Input,
) -> Result<Answer> {
    let version = input.parse(DraftVersion::parse).await?;
    changed(edge.engine.campaigns().submit_draft(&app, id, version).await?)
}

pub(super) async fn approve(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    Person(person): Person,
    PathId(id): PathId<DraftKind>,
    input: Input,
) -> Result<Answer> {
    let version = input.parse(DraftVersion::parse).await?;
    changed(edge.engine.campaigns().approve_draft(&app, id, version, person).await?)
}

pub(super) async fn send(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    Person(person): Person,
    PathId(id): PathId<DraftKind>,
    input: Input,
) -> Result<Answer> {
    let sending = input.parse(DraftSending::parse).await?;
    changed(edge.engine.campaigns().send_draft(&app, id, sending, person).await?)
}

fn changed(draft: DraftView) -> Result<Answer> {
    Ok(Answer::changed(OperationId::random(), One { draft: draft.into() })?.data_attribute("draft"))
}

impl From<DraftView> for DraftRecord {
    fn from(view: DraftView) -> Self {
        let summary = DraftSummary::from(&view);
        Self { summary, document: view.document, editor: view.editor }
    }
}

impl From<&DraftView> for DraftSummary {
    fn from(view: &DraftView) -> Self {
        let (mut push_id, mut schedule_id, mut experiment_id) = (None, None, None);
        match view.sent {
            Some(SentDraft::PushId(id)) => push_id = Some(id),
            Some(SentDraft::ScheduleId(id)) => schedule_id = Some(id),
            Some(SentDraft::ExperimentId(id)) => experiment_id = Some(id),
            None => {}
        }
        Self {
            draft_id: view.id,
            name: view.name.clone(),
            kind: view.kind.word(),
            version: view.version,
            state: view.state.word(),
            written_by: view.written_by.clone(),
            submitted_by: view.submitted_by.clone(),
            approved_by: view.approved_by.clone(),
            sent_by: view.sent_by.clone(),
            push_id,
            schedule_id,
            experiment_id,
            created: view.created.to_api(),
            modified: view.modified.to_api(),
        }
    }
}
