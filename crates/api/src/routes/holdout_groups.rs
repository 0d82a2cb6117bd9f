//! Holdout groups: devices that are shown no in-app messages, for comparison.

use axum::extract::State;
use http::StatusCode;
use model::remote_data::{HoldoutGroup, HoldoutKind};
use remote_data::{Item, ItemKind};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::data_items::{Items, changed};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::PathId;

const HOLDOUTS: Items =
    Items { kind: ItemKind::Holdout, id_key: "holdout_id", one: "holdout_group", all: "holdout_groups" };

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedHoldoutGroup")]
pub(super) struct Created {
    holdout_id: String,
    version: u32,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneHoldoutGroup")]
pub(super) struct One {
    holdout_group: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HoldoutGroups")]
pub(super) struct All {
    holdout_groups: Vec<Map<String, Value>>,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let item = Item::holdout(&input.parse(HoldoutGroup::parse).await?)?;
    let created = edge.engine.remote_data().create(app.id, item, false, input.idempotency_key).await?;
    let location = links.to(&format!("/api/holdout-groups/{}", created.id));
    let body = Created { holdout_id: created.id, version: created.version };
    Ok(Answer::changed(created.operation_id, body)?.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn list(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    HOLDOUTS.list(&edge, app.id, |holdout_groups| All { holdout_groups }).await
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<HoldoutKind>,
) -> Result<Answer> {
    HOLDOUTS.look_up(&edge, app.id, id.to_string(), |holdout_group| One { holdout_group }).await
}

pub(super) async fn replace(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<HoldoutKind>,
    input: Input,
) -> Result<Answer> {
    let item = Item::holdout(&input.parse(HoldoutGroup::parse).await?)?;
    changed(&edge.engine.remote_data().replace(app.id, id.to_string(), item, false).await?)
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<HoldoutKind>,
) -> Result<Answer> {
    HOLDOUTS.delete(&edge, app.id, id.to_string()).await
}
