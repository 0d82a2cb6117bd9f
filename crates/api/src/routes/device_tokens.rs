//! Tokens for devices, the key with which servers make proofs for them, and the reports of devices about their use of the service.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::DeviceToken;

use crate::answer::{Answer, Done};
use crate::auth::{Calling, CallingApp, CallingChannel};
use crate::edge::Edge;
use crate::error::Result;

#[derive(Serialize, JsonSchema)]
pub(super) struct Token {
    token: String,
    /// Device libraries count in milliseconds here.
    expires_in: u128,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ProofKey<'c> {
    alg: &'static str,
    /// The claim that every proof has to have: the key of the app.
    aud: &'c str,
    /// The text is the key, as it is.
    key: String,
}

pub(super) async fn of_channel(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    CallingChannel(channel): CallingChannel,
) -> Result<Answer> {
    let DeviceToken { text, expires_in } = edge.engine.tenancy().channel_token(&app, channel).await?;
    Answer::ok(Token { token: text, expires_in: expires_in.as_millis() })
}

/// Servers sign with it who the users of devices are. They may know it, because they may do everything that a proof allows.
pub(super) async fn proof_key(State(edge): State<Edge>, Calling(caller): Calling) -> Result<Answer> {
    let key = edge.engine.tenancy().proof_key(&caller);
    Answer::ok(ProofKey { alg: "HS256", aud: caller.app().key.as_str(), key })
}

/// Nothing is billed here: the report is accepted, so that no device keeps it to try again.
pub(super) async fn metered_usage() -> Result<Answer> {
    Answer::ok(Done {})
}
