//! Exporting and erasing everything that is stored about a person. Both are done by jobs; callers look a request up until it has
//! ended.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use engine::{AskedPrivacy, Engine, PrivacyKind as RequestKind, PrivacyView};
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use model::ids::{AppId, PrivacyId, PrivacyKind};
use model::privacy::Subject;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::PathId;

const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");

#[derive(Serialize, JsonSchema)]
pub(super) struct Asked {
    /// By which the request is looked up.
    privacy_id: PrivacyId,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PrivacyRequest {
    privacy_id: PrivacyId,
    /// `export` or `erase`.
    kind: &'static str,
    /// `running` or `done`.
    state: &'static str,
    created: String,
    /// Not there as long as it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    /// When the request and its result are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    /// Where the result of an export is.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_path: Option<String>,
    /// What was found and done.
    receipt: Vec<ReceiptTable>,
    /// How the database's file was cleaned of what was erased: `complete`, `without_vacuum`, `blocked` or `left_to_postgresql`.
    #[serde(skip_serializing_if = "Option::is_none")]
    clean_up: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ReceiptTable {
    table: &'static str,
    /// How many rows are about the person.
    found: u64,
    /// `exported`, `deleted` or `anonymized`.
    done: &'static str,
}

pub(super) async fn export(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    ask(&edge.engine, app.id, RequestKind::Export, &links, input).await
}

pub(super) async fn erase(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let asked = ask(&edge.engine, app.id, RequestKind::Erase, &links, input).await?;
    // Some of the last requests may name the person.
    edge.recent_requests.forget(app.id);
    Ok(asked)
}

async fn ask(engine: &Engine, app: AppId, kind: RequestKind, links: &Links, input: Input) -> Result<Answer> {
    let subject = input.parse(Subject::parse).await?;
    let AskedPrivacy { operation_id, id: privacy_id } =
        engine.request_privacy(app, kind, subject, input.idempotency_key).await?;
    let answer = Answer::changed(operation_id, Asked { privacy_id })?;
    Ok(answer.status(StatusCode::ACCEPTED).location(&links.to(&format!("/api/privacy/{privacy_id}"))))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<PrivacyKind>,
) -> Result<Answer> {
    Answer::ok(PrivacyRequest::from(edge.engine.privacy_request(app.id, id).await?))
}

pub(super) async fn result(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<PrivacyKind>,
) -> Result<Response> {
    let view = edge.engine.privacy_request(app.id, id).await?;
    if view.kind == RequestKind::Erase {
        return Err(Error::NotFound("An erasure has a receipt and no result.".to_owned()));
    }
    if view.ended.is_none() {
        return Err(Error::Conflict("The export has not ended yet; ask again later.".to_owned()));
    }
    let (app, permit) = (app.id, edge.admit_transfer(app.id)?);
    // An export that cannot be opened is refused before the answer begins.
    edge.engine.privacy_result(app, id, 0).await?;
    let pieces = stream::unfold((edge.engine.clone(), 0, Some(permit)), move |(engine, n, permit)| async move {
        permit.as_ref()?;
        let piece = match engine.privacy_result(app, id, n).await {
            Ok(piece) => Ok(Bytes::from(piece?)),
            Err(error) => Err(std::io::Error::other(error)),
        };
        let permit = permit.filter(|_| piece.is_ok());
        Some((piece, (engine, n + 1, permit)))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    response.headers_mut().insert(CONTENT_TYPE, NDJSON);
    Ok(response)
}

impl From<PrivacyView> for PrivacyRequest {
    fn from(view: PrivacyView) -> Self {
        let PrivacyView { id, kind, created, ended, expires, tables, clean_up } = view;
        let is_export = kind == RequestKind::Export && ended.is_some();
        Self {
            privacy_id: id,
            kind: kind.word(),
            state: if ended.is_some() { "done" } else { "running" },
            created: created.to_api(),
            ended: ended.map(|ended| ended.to_api()),
            expires: expires.map(|expires| expires.to_api()),
            result_path: is_export.then(|| format!("/api/privacy/{id}/result")),
            receipt: tables
                .into_iter()
                .map(|table| ReceiptTable { table: table.table, found: table.found, done: table.done })
                .collect(),
            clean_up,
        }
    }
}
