//! Devices of an app in production that get nothing, because nobody has set their platform up.

use model::app::Mode;
use model::device_type::DeviceType;
use serde::Deserialize;
use serde_json::json;

use crate::error::Result;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Explanation {
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Warning {
    message: String,
}

/// What there is to say about devices of some types. All devices are explained for it, so only of types that may lack something;
/// what cannot be told at the moment is left out.
pub(super) async fn warnings(visit: &Visit, device_types: &[&str]) -> Result<Vec<String>> {
    let app = visit.app()?;
    if app.mode != Mode::Production {
        return Ok(Vec::new());
    }
    let mut lacking = Vec::new();
    for device_type in device_types.iter().filter_map(|name| DeviceType::from_name(name)) {
        if visit.console.engine.sending().may_lack(app.id, &device_type).await? {
            lacking.push(device_type);
        }
    }
    if lacking.is_empty() {
        return Ok(Vec::new());
    }
    let question = json!({"audience": "all", "device_types": lacking});
    let explained: Result<Explanation> = visit.post("/api/audience/explain", question).await;
    let warnings = explained.map(|explanation| explanation.warnings).unwrap_or_default();
    Ok(warnings.into_iter().map(|warning| warning.message).collect())
}
