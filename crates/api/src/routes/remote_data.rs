//! Remote data, which device libraries ask for before anything else. The answer is only the address of this service, so that
//! newer ones begin to work and none looks for in-app automation.

use axum::extract::State;
use http::HeaderMap;
use http::header::{IF_MODIFIED_SINCE, LAST_MODIFIED};
use model::time::UtcMillis;
use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::links::Links;
use crate::path_vars::{PathVars, id_in_path};

/// The platforms that ask.
const PLATFORMS: [&str; 4] = ["android", "amazon", "ios", "web"];

#[derive(Serialize, JsonSchema)]
pub(super) struct RemoteData {
    payloads: Vec<Payload>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemoteDataPayload")]
pub(super) struct Payload {
    r#type: &'static str,
    timestamp: String,
    data: AppConfig,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemoteDataConfig")]
pub(super) struct AppConfig {
    airship_config: Addresses,
}

/// Everything is in one place.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ServiceAddresses")]
pub(super) struct Addresses {
    device_api_url: String,
    analytics_url: String,
    remote_data_url: String,
    wallet_url: String,
}

/// Needs no credentials: older libraries send none here, and there is nothing secret in it.
pub(super) async fn of_app(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
    links: Links,
    headers: HeaderMap,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    check_platform(&platform)?;
    let base = match links.to("") {
        relative if relative.is_empty() => edge.engine.sending().public_url().to_owned(),
        base => base,
    };
    let modified = modified(app.created, &base);
    let date = modified.to_http_date();
    if headers.get(IF_MODIFIED_SINCE).is_some_and(|known| known.as_bytes() == date.as_bytes()) {
        return Ok(Answer::not_modified().header(LAST_MODIFIED, &date));
    }
    let addresses = Addresses {
        device_api_url: base.clone(),
        analytics_url: base.clone(),
        remote_data_url: base.clone(),
        wallet_url: base,
    };
    let data = AppConfig { airship_config: addresses };
    let config = Payload { r#type: "app_config", timestamp: modified.to_api(), data };
    Ok(Answer::bare(RemoteData { payloads: vec![config] })?.header(LAST_MODIFIED, &date))
}

/// There is nothing for single contacts.
pub(super) async fn of_contact(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathVars((platform, contact)): PathVars<(String, String)>,
) -> Result<Answer> {
    check_platform(&platform)?;
    rights.devices(&edge).check_contact(app.id, id_in_path(&contact)?).await?;
    Answer::bare(RemoteData { payloads: Vec::new() })
}

fn check_platform(platform: &str) -> Result<()> {
    if PLATFORMS.contains(&platform) {
        return Ok(());
    }
    Err(Error::NotFound(format!("Remote data is for {}.", PLATFORMS.join(", "))))
}

/// Devices send this date back to ask whether anything is new. The data depends on our address alone; so does the date, within
/// the days before the app was created: it is the same on every node, and another for another address.
fn modified(created: UtcMillis, base: &str) -> UtcMillis {
    let [a, b, c, ..] = *digest(&SHA256, base.as_bytes()).as_ref() else { return created };
    let seconds = i64::from(u32::from_be_bytes([0, a, b, c]) >> 4);
    UtcMillis((created.seconds() - seconds) * 1000)
}
