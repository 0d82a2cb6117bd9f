//! Journeys: servers let channels enter and leave them.

use axum::extract::State;
use model::journey::{JourneyExit, JourneyTrigger};

use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;

pub(super) async fn enter(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let trigger = input.parse(JourneyTrigger::parse).await?;
    let operation_id = edge.engine.campaigns().enter_journeys(app.id, trigger, input.idempotency_key).await?;
    Answer::changed(operation_id, Done {})
}

pub(super) async fn exit(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let exit = input.parse(JourneyExit::parse).await?;
    let operation_id = edge.engine.campaigns().exit_journeys(app.id, exit).await?;
    Answer::changed(operation_id, Done {})
}
