//! Custom events of servers.

use axum::extract::State;
use model::custom_event::CustomEvent;
use model::ids::OperationId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;

/// Some client libraries look for the operation under this spelling.
#[derive(Serialize, JsonSchema)]
pub(super) struct Spelled {
    #[serde(rename = "operationId")]
    operation_id: OperationId,
}

pub(super) async fn send(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let events = input.parse(CustomEvent::parse_one_or_many).await?;
    let operation_id = edge.engine.events().take_custom_events(app.id, events, input.idempotency_key).await?;
    Answer::changed(operation_id, Spelled { operation_id })
}
