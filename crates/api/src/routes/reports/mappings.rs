//! From the ids that devices see to the push they come from.

use axum::extract::State;
use model::ids::{MessageId, NoMessageId, PushId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::path_vars::PathVars;

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct OfSend {
    send_id: String,
    push_id: PushId,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct OfMessage {
    message_id: String,
    push_id: PushId,
}

/// Devices get the push id, so that is what they send back.
pub(in crate::routes) async fn push_of_send(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(send_id): PathVars<String>,
) -> Result<Answer> {
    let push = send_id.parse().map_err(|_| Error::invalid("send_id", "A send id is a UUID."))?;
    let push_id = edge.engine.events().push_report(app.id, push).await?.id;
    Answer::ok(OfSend { send_id, push_id })
}

pub(in crate::routes) async fn push_of_message(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(message_id): PathVars<String>,
) -> Result<Answer> {
    let message: MessageId =
        message_id.parse().map_err(|why: NoMessageId| Error::invalid("message_id", why.to_string()))?;
    let push_id = edge.engine.events().push_report(app.id, message.push()).await?.id;
    Answer::ok(OfMessage { message_id, push_id })
}
