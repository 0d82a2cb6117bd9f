//! From the ids that devices see to the push they come from.

use axum::extract::State;
use model::ids::PushId;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::path_vars::PathVars;

#[derive(Serialize)]
struct OfSend {
    send_id: String,
    push_id: PushId,
}

#[derive(Serialize)]
struct OfMessage {
    message_id: String,
    push_id: PushId,
}

/// Devices are told the push id, so that is what they send back.
pub(in crate::routes) async fn push_of_send(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(send_id): PathVars<String>,
) -> Result<Answer> {
    let push = send_id.parse().map_err(|_| Error::invalid("send_id", "A send id is a UUID."))?;
    let push_id = edge.engine.push_report(app.id, push).await?.id;
    Answer::ok(OfSend { send_id, push_id })
}

pub(in crate::routes) async fn push_of_message(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(message_id): PathVars<String>,
) -> Result<Answer> {
    let undecodable = || Error::invalid("message_id", "A message id has 22 characters of URL-safe base64.");
    let push = providers::push_of_message(&message_id).ok_or_else(undecodable)?;
    let push_id = edge.engine.push_report(app.id, push).await?.id;
    Answer::ok(OfMessage { message_id, push_id })
}
