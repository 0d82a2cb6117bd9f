//! In-app messages: kept for devices, which show them when something happens in the app.

use axum::extract::State;
use http::StatusCode;
use model::remote_data::{
    Eligibility, FrequencyConstraints, InAppMessageId, InAppMessageKind, NewInAppMessage, Resolving,
};
use remote_data::{Asker, Item, ItemKind, ResolvedMessage};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use tenancy::Rights;

use super::data_items::{Items, changed};
use super::remote_data::own_key;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights};
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::{PathVars, id_in_path};

const MESSAGES: Items = Items { kind: ItemKind::Message, id_key: "id", one: "in_app_message", all: "in_app_messages" };

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedInAppMessage")]
pub(super) struct Created {
    message_id: String,
    version: u32,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneInAppMessage")]
pub(super) struct One {
    in_app_message: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InAppMessages")]
pub(super) struct All {
    in_app_messages: Vec<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FrequencyConstraintsOfApp")]
pub(super) struct Constraints {
    frequency_constraints: Vec<Value>,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(key): PathVars<String>,
    links: Links,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let NewInAppMessage { in_app_message, notify } = input.parse(NewInAppMessage::parse).await?;
    let item = Item::message(in_app_message)?;
    let created = edge.engine.remote_data().create(app.id, item, notify, input.idempotency_key).await?;
    let location = links.to(&format!("/api/in-app/{key}/{}", created.id));
    let body = Created { message_id: created.id, version: created.version };
    Ok(Answer::changed(created.operation_id, body)?.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn validate(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(key): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let message = input.parse(NewInAppMessage::parse).await?.in_app_message;
    edge.engine.remote_data().validate(app.id, Item::message(message)?).await?;
    Answer::ok(crate::answer::Done {})
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(key): PathVars<String>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    MESSAGES.list(&edge, app.id, |in_app_messages| All { in_app_messages }).await
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((key, id)): PathVars<(String, String)>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let id = message_id(&id)?.to_string();
    MESSAGES.look_up(&edge, app.id, id, |in_app_message| One { in_app_message }).await
}

pub(super) async fn replace(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((key, id)): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let id = message_id(&id)?.to_string();
    let NewInAppMessage { in_app_message, notify } = input.parse(NewInAppMessage::parse).await?;
    changed(&edge.engine.remote_data().replace(app.id, id, Item::message(in_app_message)?, notify).await?)
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((key, id)): PathVars<(String, String)>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    MESSAGES.delete(&edge, app.id, message_id(&id)?.to_string()).await
}

pub(super) async fn set_eligibility(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(key): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let eligibility = input.parse(Eligibility::parse).await?;
    edge.engine.remote_data().set_eligibility(app.id, eligibility).await?;
    Answer::done()
}

pub(super) async fn constraints(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(key): PathVars<String>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let frequency_constraints = edge.engine.remote_data().frequency_constraints(app.id).await?;
    Ok(Answer::ok(Constraints { frequency_constraints })?.data_attribute("frequency_constraints"))
}

pub(super) async fn set_constraints(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(key): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let constraints = input.parse(FrequencyConstraints::parse).await?;
    edge.engine.remote_data().set_frequency_constraints(app.id, constraints).await?;
    Answer::done()
}

/// A device asks whether it is meant by a message, and what to show.
pub(super) async fn resolve(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    CallingRights(rights): CallingRights,
    PathVars((key, id)): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let id = message_id(&id)?;
    let resolving = input.parse(Resolving::parse).await?;
    let asker = match rights {
        Rights::Channel(own) => Asker::Proven(own),
        Rights::Master => Asker::Proven(resolving.channel_id),
        Rights::Device | Rights::Contact(_) | Rights::KeyOnly => Asker::Claimed(resolving.channel_id),
    };
    let due = edge.engine.remote_data().due_message(&app, id, asker, resolving).await?;
    let Some(due) = due else { return Answer::bare(ResolvedMessage::not_meant()) };
    edge.apart(move || Answer::bare(due.resolved())).await?
}

fn message_id(text: &str) -> Result<InAppMessageId> {
    id_in_path::<InAppMessageKind>(text)
}
