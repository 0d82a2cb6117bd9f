//! Tests of pushes: sent to the test group of the app, which is kept here.

use axum::extract::State;
use model::selector::Selector;
use model::test_push::{TestGroup, TestPush};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;

/// Who gets tests.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TestGroupInForce")]
pub(super) struct Group {
    /// A selector; `null` for nobody.
    audience: Option<Selector>,
}

pub(super) async fn send(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let TestPush { push } = input.parse(TestPush::parse).await?;
    let accepted = edge.engine.sending().send_test(&app, push, input.idempotency_key).await?;
    Ok(Answer::ok(accepted)?.data_attribute("push_ids"))
}

pub(super) async fn group(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    let TestGroup { audience } = edge.engine.sending().test_group(app.id).await?;
    Answer::ok(Group { audience })
}

pub(super) async fn set_group(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let group = input.parse(TestGroup::parse).await?;
    edge.engine.sending().set_test_group(app.id, group).await?;
    Answer::done()
}
