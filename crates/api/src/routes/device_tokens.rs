//! Tokens for devices, and the reports of devices about their use of the service.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::DeviceToken;

use crate::answer::{Answer, Done};
use crate::auth::{CallingApp, CallingChannel};
use crate::edge::Edge;
use crate::error::Result;

#[derive(Serialize, JsonSchema)]
pub(super) struct Token {
    token: String,
    /// Device libraries count in milliseconds here.
    expires_in: u128,
}

pub(super) async fn of_channel(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    CallingChannel(channel): CallingChannel,
) -> Result<Answer> {
    let DeviceToken { text, expires_in } = edge.engine.tenancy().channel_token(&app, channel).await?;
    Answer::ok(Token { token: text, expires_in: expires_in.as_millis() })
}

/// Nothing is billed here: the report is accepted, so that no device keeps it to try again.
pub(super) async fn metered_usage() -> Result<Answer> {
    Answer::ok(Done {})
}
