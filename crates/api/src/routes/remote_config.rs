//! Remote configuration: values of an app for its devices, for all and for each platform.

use axum::extract::State;
use model::remote_data::{ConfigScope, ConfigUpdate};
use remote_data::ConfigView;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::remote_data::own_key;
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::PathVars;

#[derive(Serialize, JsonSchema)]
pub(super) struct RemoteConfig {
    /// When it last changed, if there is one.
    timestamp: Option<String>,
    data: Map<String, Value>,
    frequency_constraints: Vec<Value>,
}

pub(super) async fn show(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((key, scope)): PathVars<(String, String)>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let room = edge.engine.remote_data();
    let ConfigView { updated, values: data } = room.config(app.id, known(&scope)?).await?;
    let frequency_constraints = room.frequency_constraints(app.id).await?;
    Answer::ok(RemoteConfig { timestamp: updated.map(model::time::UtcMillis::to_api), data, frequency_constraints })
}

pub(super) async fn change(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((key, scope)): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let (scope, update) = (known(&scope)?, input.parse(ConfigUpdate::parse).await?);
    edge.engine.remote_data().change_config(app.id, scope, update).await?;
    Answer::done()
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((key, scope)): PathVars<(String, String)>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    edge.engine.remote_data().delete_config(app.id, known(&scope)?).await?;
    Answer::done()
}

fn known(scope: &str) -> Result<ConfigScope> {
    let unknown = || Error::NotFound("Configuration is for common, android, amazon, ios and web.".to_owned());
    ConfigScope::from_word(scope).ok_or_else(unknown)
}
