//! How the platforms of an app are reached, for the operator; and what a web page needs to subscribe.

pub(super) mod record;

use axum::extract::State;
use model::ids::OperationId;
use model::json::body::Body;
use model::json::{At, Json};
use providers::open::OpenPlatformChange;
use providers::platform::{PlatformConfig, Provider};
use providers::webpush::WebPushContact;
use schemars::JsonSchema;
use sending::{PlatformName, ProviderChange, WebPush};
use serde::Serialize;

use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::PathVars;
use record::{NoticeRecord, PlatformRecord};

const REASON_CHARS: usize = 1000;

#[derive(Serialize, JsonSchema)]
pub(super) struct All {
    platforms: Vec<PlatformRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WebKey {
    public_key: String,
    /// Whether messages to browsers are sent: without web push they stay in the sandbox, or fail in a production app.
    configured: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Notices {
    notices: Vec<NoticeRecord>,
}

/// Why a platform is paused.
#[derive(Body)]
#[body(not_printed)]
pub(super) struct PlatformPause {
    /// Shown with the platform and in the reports of pushes that wait for it.
    #[body(length = 1..=REASON_CHARS)]
    reason: Option<String>,
}

/// Notices for the operator about the platforms of all apps.
pub(super) async fn notices(State(edge): State<Edge>) -> Result<Answer> {
    let notices = edge.engine.sending().platform_notices().await?;
    Answer::ok(Notices { notices: notices.into_iter().map(NoticeRecord::from).collect() })
}

pub(super) async fn list(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let platforms = edge.engine.sending().platforms(app.id).await?;
    Answer::ok(All { platforms: platforms.into_iter().map(PlatformRecord::from).collect() })
}

pub(super) async fn set(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let view = match name(&platform)? {
        PlatformName::Open(platform) => {
            let change = input.parse(OpenPlatformChange::parse).await?;
            edge.engine.sending().set_open_platform(&app.key, platform, change).await?
        }
        PlatformName::Provider(provider) => {
            let change = input.parse(move |at| parse_provider(provider, at)).await?;
            edge.engine.sending().set_provider(&app.key, provider, change).await?
        }
    };
    Answer::changed(OperationId::random(), PlatformRecord::from(view))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let view = edge.engine.sending().platform(app.id, name(&platform)?).await?;
    Answer::ok(PlatformRecord::from(view))
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    edge.engine.sending().delete_platform(app.id, name(&platform)?).await?;
    Ok(Answer::nothing())
}

pub(super) async fn add_keys(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let provider = provider(&platform)?;
    let more = input.parse(move |at| PlatformConfig::parse(provider, at)).await?;
    let view = edge.engine.sending().add_keys(app.id, provider, more).await?;
    Answer::changed(OperationId::random(), PlatformRecord::from(view))
}

pub(super) async fn remove_key(
    State(edge): State<Edge>,
    PathVars((key, platform, fingerprint)): PathVars<(String, String, String)>,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    edge.engine.sending().remove_key(app.id, provider(&platform)?, fingerprint).await?;
    Ok(Answer::nothing())
}

pub(super) async fn test(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    edge.engine.sending().test_platform(app.id, name(&platform)?).await?.map_err(Error::Conflict)?;
    Answer::ok(Done {})
}

/// Nothing is sent to the platform until it is resumed. Without a body there is no reason to show.
pub(super) async fn pause(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let platform = name(&platform)?;
    let reason = if input.is_empty() { None } else { input.parse(PlatformPause::parse).await?.reason };
    let reason = reason.as_deref().unwrap_or("The operator paused it.");
    edge.engine.sending().hold_platform(app.id, &platform, reason).await?;
    Answer::done()
}

/// Takes no body: any body is ignored.
pub(super) async fn resume(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    edge.engine.sending().release_platform(app.id, &name(&platform)?).await?;
    Answer::done()
}

/// The key with which a web page of the app subscribes.
pub(super) async fn web_key(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    let WebPush { public_key, is_configured } = edge.engine.sending().web_push(app.id).await?;
    Answer::ok(WebKey { public_key, configured: is_configured })
}

fn name(name: &str) -> Result<PlatformName> {
    PlatformName::from_name(name).map_err(|message| Error::invalid("platform", message))
}

fn provider(platform: &str) -> Result<Provider> {
    match name(platform)? {
        PlatformName::Provider(provider) => Ok(provider),
        PlatformName::Open(_) => Err(Error::invalid(
            "platform",
            "An open platform has no keys; its endpoint has 'auth', which is set as a whole.",
        )),
    }
}

fn parse_provider(provider: Provider, at: &At<'_>) -> Option<ProviderChange> {
    let has_keys = matches!(at.json(), Json::Object(entries)
        if entries.iter().any(|(key, _)| matches!(key.as_str(), "keys" | "private_key" | "public_key")));
    match (provider, has_keys) {
        // The app has a key pair already, so the contact for push services is enough.
        (Provider::WebPush, false) => WebPushContact::parse(at).map(ProviderChange::WebContact),
        (Provider::WebPush, true) | (Provider::Apns | Provider::Fcm | Provider::Adm | Provider::Wns, _) => {
            PlatformConfig::parse(provider, at).map(ProviderChange::Keys)
        }
    }
}
