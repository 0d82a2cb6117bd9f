//! Pushes that bring their recipients along, now or later. Unlike other pushes they are answered with 202, as clients know it.

use axum::extract::State;
use http::StatusCode;
use model::json::OneOrMany;
use model::payload::Push;
use model::schedule::ScheduledPush;

use super::schedules::{created_answer, with_pause};
use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;

pub(super) async fn send(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let push = input.parse(Push::parse_create_and_send).await?;
    let accepted = edge.engine.sending().accept_pushes(&app, OneOrMany::One(push), input.idempotency_key).await?;
    Ok(Answer::ok(accepted)?.data_attribute("push_ids").status(StatusCode::ACCEPTED))
}

pub(super) async fn validate(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let push = input.parse(Push::parse_create_and_send).await?;
    edge.engine.sending().validate_pushes(&app, OneOrMany::One(push)).await?;
    Answer::ok(Done {})
}

pub(super) async fn schedule(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let scheduled = input.parse(ScheduledPush::parse_create_and_send).await?;
    let as_sent = scheduled.as_slice().iter().map(with_pause).collect();
    let created = edge.engine.campaigns().create_schedules(app.id, scheduled, input.idempotency_key).await?;
    Ok(created_answer(&links, &created, as_sent)?.status(StatusCode::ACCEPTED))
}
