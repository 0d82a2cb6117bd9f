//! Sending: accept pushes, check them, and tell what became of them.

use std::collections::BTreeMap;

use axum::extract::State;
use model::ids::PushId;
use model::payload::Push;
use serde::Serialize;
use store::pushes::Tally;

use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::query::Segments;

#[derive(Serialize)]
struct Status {
    push: StatusOfPush,
}

#[derive(Serialize)]
struct StatusOfPush {
    push_id: PushId,
    push_type: String,
    state: &'static str,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    platforms: BTreeMap<String, StatusOnPlatform>,
}

#[derive(Serialize)]
struct StatusOnPlatform {
    targeted: u64,
    delivered: u64,
    gone: u64,
    failed: u64,
    expired: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) async fn send(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let pushes = input.parse(Push::parse_one_or_many).await?;
    let accepted = edge.engine.accept_pushes(&app, pushes, input.once).await?;
    Ok(Answer::ok(accepted)?.data_attribute("push_ids"))
}

pub(super) async fn validate(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let pushes = input.parse(Push::parse_one_or_many).await?;
    edge.engine.validate_pushes(&app, pushes).await?;
    Answer::ok(Done {})
}

pub(super) async fn status(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    Segments(id): Segments<String>,
) -> Result<Answer> {
    let id: PushId = id.parse().map_err(|_| Error::NotFound("There is no such push.".to_owned()))?;
    let status = edge.engine.push_status(app.id, id).await?;
    let platforms = status.platforms.into_iter().map(|(name, tally)| (name, tally.into()));
    let push = StatusOfPush {
        push_id: status.id,
        push_type: status.push_type,
        state: status.state.name(),
        created: status.created.to_api(),
        expires: status.expires.map(|expires| expires.to_api()),
        platforms: platforms.collect(),
    };
    Ok(Answer::ok(Status { push })?.data_attribute("push"))
}

impl From<Tally> for StatusOnPlatform {
    fn from(Tally { targeted, delivered, gone, failed, expired, reason }: Tally) -> Self {
        Self { targeted, delivered, gone, failed, expired, reason }
    }
}
