//! Who asked for which change, for the operator.

use axum::extract::State;
use model::ids::AppId;
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use tenancy::{AuditEntry, AuditFilter, AuditPosition};

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathVars;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    entries: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditEntry")]
struct Entry {
    /// The time of the request; of requests that share an entry, the beginning of their minute.
    at: String,
    /// How many requests the entry stands for.
    n: u64,
    /// The time of the last of them.
    last_at: String,
    /// The key of the app; absent for changes of the installation, such as the deletion of an app.
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<String>,
    /// The kind of credential, with a fingerprint that changes with the secret.
    credential: String,
    /// Where the connection came from.
    address: Option<String>,
    action: String,
    /// What was changed: names of things, and the id of each or a list of ids.
    object: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Map<String, Value>>,
    /// The id of the last request.
    request_id: Option<String>,
}

pub(super) async fn list(State(edge): State<Edge>, links: Links, params: Params) -> Result<Answer> {
    let app = params.text("app");
    page(&edge, &links, params, "/operator/audit", app).await
}

/// Of one app.
pub(super) async fn of_app(
    State(edge): State<Edge>,
    PathVars(key): PathVars<String>,
    links: Links,
    params: Params,
) -> Result<Answer> {
    page(&edge, &links, params, &format!("/operator/apps/{key}/audit"), Some(key)).await
}

async fn page(edge: &Edge, links: &Links, mut params: Params, path: &str, app: Option<String>) -> Result<Answer> {
    let (credential, action) = (params.text("credential"), params.text("action"));
    let (from, to) = (params.date("from"), params.date("to"));
    let start = params.parsed("start", position);
    let limit = params.limit(PageSize::AUDIT);
    let query = params.repeated(&["app", "credential", "action", "from", "to"]);
    params.finish()?;
    let at = from.unwrap_or(UtcMillis(i64::MIN))..to.unwrap_or(UtcMillis(i64::MAX));
    let filter = AuditFilter { at, app, credential, action };
    let (found, next) = edge.engine.tenancy().audit_log(filter, start, limit).await?;
    let next_page = next.map(|next| {
        let AuditPosition { at, app, number } = next;
        links.to(&format!("{path}?start={}_{}_{number}&limit={limit}{query}", at.0, app.0))
    });
    let entries = found.into_iter().map(Entry::of).collect::<Result<_>>()?;
    let answer = Answer::ok(Page { entries, next_page: next_page.clone() })?.data_attribute("entries");
    Ok(answer.next_page(next_page.as_deref()))
}

impl Entry {
    fn of(entry: AuditEntry) -> Result<Self> {
        let AuditEntry { app, row } = entry;
        let read = |json: &str| serde_json::from_str(json).map_err(Error::internal);
        Ok(Self {
            at: row.position.at.to_iso(),
            n: row.n,
            last_at: row.last_at.to_iso(),
            app: app.map(|app| app.as_str().to_owned()),
            credential: row.credential,
            address: row.address,
            action: row.action,
            object: read(&row.object)?,
            detail: row.detail.as_deref().map(read).transpose()?,
            request_id: row.request_id,
        })
    }
}

fn position(text: &str) -> Result<AuditPosition, &'static str> {
    let mut numbers = text.split('_').map(|part| part.parse().ok());
    match (numbers.next().flatten(), numbers.next().flatten(), numbers.next().flatten(), numbers.next()) {
        (Some(at), Some(app), Some(number), None) => Ok(AuditPosition { at: UtcMillis(at), app: AppId(app), number }),
        _ => Err("This must be as in the 'next_page' of an answer."),
    }
}
