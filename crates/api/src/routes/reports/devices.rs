//! How many devices there are, and how many of them are used.

use std::collections::BTreeMap;

use axum::extract::State;
use events::DeviceCounts;
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;

use super::ALWAYS;
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct DevicesReport {
    total_unique_devices: u64,
    date_closed: String,
    date_computed: String,
    counts: BTreeMap<&'static str, PlatformDevices>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeviceCounts")]
pub(in crate::routes) struct PlatformDevices {
    unique_devices: u64,
    opted_in: u64,
    opted_out: u64,
    uninstalled: u64,
}

pub(in crate::routes) async fn devices(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    mut params: Params,
) -> Result<Answer> {
    let date = params.date("date");
    params.finish()?;
    // One client library has no way to say a date.
    let date = date.unwrap_or_else(|| edge.engine.clock().now());
    let mut devices = edge.engine.events().devices(app.id, date).await?;
    for family in ALWAYS {
        devices.by_family.entry(family).or_default();
    }
    let total_unique_devices = devices.by_family.values().map(|counts| counts.unique).sum();
    let counts = devices.by_family.into_iter().map(|(family, counts)| (family, counts.into()));
    let midnight = UtcMillis::of_day(date.day());
    Answer::ok(DevicesReport {
        total_unique_devices,
        date_closed: midnight.to_report(),
        date_computed: devices.computed.to_report(),
        counts: counts.collect(),
    })
}

pub(in crate::routes) async fn active_users(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    mut params: Params,
) -> Result<Answer> {
    let date = params.required_date("date");
    let date = params.finish_with(date)?;
    let counts = edge.engine.events().active_users(app.id, date).await?;
    let named = counts.into_iter().map(|(device_type, n)| (device_type.to_string(), n));
    let shown = named.filter(|(platform, n)| *n > 0 || ALWAYS.contains(&platform.as_str()));
    Answer::ok(shown.collect::<BTreeMap<_, _>>())
}

impl From<DeviceCounts> for PlatformDevices {
    fn from(counts: DeviceCounts) -> Self {
        let DeviceCounts { unique, opted_in, uninstalled } = counts;
        Self { unique_devices: unique, opted_in, opted_out: unique.saturating_sub(opted_in), uninstalled }
    }
}
