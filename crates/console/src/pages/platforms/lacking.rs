//! Devices of an app in production that get nothing, because nobody has set their platform up.

use model::app::Mode;
use serde::Deserialize;
use serde_json::json;

use super::shown::Shown;
use crate::error::Result;
use crate::visit::Visit;

/// Device types with the platforms that reach them. UnifiedPush reaches Android devices with the key pair for browsers: an app may
/// do without Google on purpose, and is not to be told so for ever. Whoever sends to them is.
const REACHED_BY: [(&str, &[&str]); 5] = [
    ("ios", &["apns"]),
    ("android", &["fcm", "webpush"]),
    ("amazon", &["adm"]),
    ("web", &["webpush"]),
    ("wns", &["wns"]),
];

#[derive(Deserialize)]
struct Explanation {
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Warning {
    message: String,
}

/// What there is to say about devices of some types. All devices are explained for it, so only where a platform is not set up; what
/// cannot be told at the moment is left out.
pub(super) async fn warnings(visit: &Visit, platforms: &[Shown], device_types: &[&str]) -> Result<Vec<String>> {
    if visit.app()?.mode != Mode::Production {
        return Ok(Vec::new());
    }
    let is_set_up = |name: &str| platforms.iter().any(|shown| shown.platform == name && shown.is_set_up());
    let lacks = |device_type: &str| {
        REACHED_BY.iter().any(|(of, platforms)| *of == device_type && !platforms.iter().any(|&name| is_set_up(name)))
    };
    let lacking: Vec<&str> = device_types.iter().copied().filter(|device_type| lacks(device_type)).collect();
    if lacking.is_empty() {
        return Ok(Vec::new());
    }
    let question = json!({"audience": "all", "device_types": lacking});
    let explained: Result<Explanation> = visit.post("/api/audience/explain", question).await;
    let warnings = explained.map(|explanation| explanation.warnings).unwrap_or_default();
    Ok(warnings.into_iter().map(|warning| warning.message).collect())
}
