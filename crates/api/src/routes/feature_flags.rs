//! Feature flags: parts of an app that are on for some devices.

use axum::extract::State;
use http::StatusCode;
use model::remote_data::{FeatureFlag, FlagKind, Resolving};
use remote_data::{Item, ItemKind};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use tenancy::Rights;

use super::data_items::{Items, changed};
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights};
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::PathId;

const FLAGS: Items = Items { kind: ItemKind::Flag, id_key: "flag_id", one: "feature_flag", all: "feature_flags" };

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedFeatureFlag")]
pub(super) struct Created {
    flag_id: String,
    version: u32,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneFeatureFlag")]
pub(super) struct One {
    feature_flag: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FeatureFlags")]
pub(super) struct All {
    feature_flags: Vec<Map<String, Value>>,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let item = Item::flag(input.parse(FeatureFlag::parse).await?)?;
    let created = edge.engine.remote_data().create(app.id, item, false, input.idempotency_key).await?;
    let location = links.to(&format!("/api/feature-flags/{}", created.id));
    let body = Created { flag_id: created.id, version: created.version };
    Ok(Answer::changed(created.operation_id, body)?.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn list(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    FLAGS.list(&edge, app.id, |feature_flags| All { feature_flags }).await
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<FlagKind>,
) -> Result<Answer> {
    FLAGS.look_up(&edge, app.id, id.to_string(), |feature_flag| One { feature_flag }).await
}

pub(super) async fn replace(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<FlagKind>,
    input: Input,
) -> Result<Answer> {
    let item = Item::flag(input.parse(FeatureFlag::parse).await?)?;
    changed(&edge.engine.remote_data().replace(app.id, id.to_string(), item, false).await?)
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<FlagKind>,
) -> Result<Answer> {
    FLAGS.delete(&edge, app.id, id.to_string()).await
}

/// A device asks whether a flag is on for it.
pub(super) async fn resolve(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    CallingRights(rights): CallingRights,
    PathId(id): PathId<FlagKind>,
    input: Input,
) -> Result<Answer> {
    let resolving = input.parse(Resolving::parse).await?;
    let channel = match rights {
        Rights::Channel(own) => own,
        Rights::Master | Rights::Device | Rights::Contact(_) | Rights::KeyOnly => resolving.channel_id,
    };
    Answer::bare(edge.engine.remote_data().resolve_flag(&app, id, channel, resolving.overrides()).await?)
}
