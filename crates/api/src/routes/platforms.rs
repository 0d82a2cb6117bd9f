//! How the platforms of an app are reached, for the operator.

use axum::extract::State;
use engine::{PlatformChange, PlatformView};
use model::ids::OperationId;
use model::json::At;
use model::platform::{DeviceType, OpenPlatform};
use providers::open::OpenAuth;
use serde::Serialize;

use crate::answer::{Answer, Done};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::query::Segments;

const URL_CHARS: usize = 2048;

/// A platform without its secrets.
#[derive(Serialize)]
struct PlatformRecord {
    platform: String,
    url: String,
    auth: AuthRecord,
    enabled: bool,
    gzip: bool,
    /// What the webhook must answer to `GET <url>/validate`.
    validation_code: String,
    created: String,
    modified: String,
}

#[derive(Serialize)]
struct AuthRecord {
    r#type: &'static str,
}

#[derive(Serialize)]
struct All {
    platforms: Vec<PlatformRecord>,
}

pub(super) async fn list(State(edge): State<Edge>, Segments(key): Segments<String>) -> Result<Answer> {
    let app = edge.engine.app(&key).await?;
    let platforms = edge.engine.platforms(app.id).await?;
    Answer::ok(All { platforms: platforms.into_iter().map(PlatformRecord::from).collect() })
}

pub(super) async fn set(
    State(edge): State<Edge>,
    Segments((key, platform)): Segments<(String, String)>,
    input: Input,
) -> Result<Answer> {
    let app = edge.engine.app(&key).await?;
    let platform = open_platform(&platform)?;
    let change = input.parse(parse_change).await?;
    let view = edge.engine.set_platform(&app.key, platform, change).await?;
    Answer::changed(OperationId::random(), PlatformRecord::from(view))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    Segments((key, platform)): Segments<(String, String)>,
) -> Result<Answer> {
    let app = edge.engine.app(&key).await?;
    let view = edge.engine.platform(app.id, &open_platform(&platform)?).await?;
    Answer::ok(PlatformRecord::from(view))
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    Segments((key, platform)): Segments<(String, String)>,
) -> Result<Answer> {
    let app = edge.engine.app(&key).await?;
    edge.engine.delete_platform(app.id, &open_platform(&platform)?).await?;
    Ok(Answer::nothing())
}

pub(super) async fn test(
    State(edge): State<Edge>,
    Segments((key, platform)): Segments<(String, String)>,
) -> Result<Answer> {
    let app = edge.engine.app(&key).await?;
    edge.engine.test_platform(app.id, &open_platform(&platform)?).await?.map_err(Error::Conflict)?;
    Answer::ok(Done {})
}

fn open_platform(name: &str) -> Result<OpenPlatform> {
    const PROVIDERS: [&str; 5] = ["apns", "fcm", "adm", "wns", "webpush"];
    match DeviceType::from_name(name) {
        Some(DeviceType::Open(platform)) => Ok(platform),
        Some(_) | None if PROVIDERS.contains(&name) => Err(Error::invalid(
            "platform",
            format!("Credentials for {name} cannot be set in this version; development apps deliver to the sandbox."),
        )),
        Some(_) | None => {
            Err(Error::invalid("platform", "Platforms that can be set are named open::<name>, such as open::fridge."))
        }
    }
}

fn parse_change(at: &At<'_>) -> Option<PlatformChange> {
    let mut fields = at.object()?;
    let url = fields.required("url", |at| at.text(1..=URL_CHARS));
    let has_auth = fields.has("auth");
    let auth = fields.optional("auth", OpenAuth::parse);
    let enabled = fields.optional("enabled", At::boolean).unwrap_or(true);
    let gzip = fields.optional("gzip", At::boolean).unwrap_or(false);
    let validate = fields.optional("validate", At::boolean).unwrap_or(true);
    fields.finish();
    let auth = if has_auth { auth? } else { OpenAuth::None };
    Some(PlatformChange { url: url?, auth, enabled, gzip, validate })
}

impl From<PlatformView> for PlatformRecord {
    fn from(view: PlatformView) -> Self {
        Self {
            platform: DeviceType::Open(view.platform).to_string(),
            url: view.url,
            auth: AuthRecord { r#type: view.auth },
            enabled: view.enabled,
            gzip: view.gzip,
            validation_code: view.validation_code.to_string(),
            created: view.created.to_api(),
            modified: view.modified.to_api(),
        }
    }
}
