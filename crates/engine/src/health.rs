//! Platforms that are paused because their provider refuses us: why, since when, and when somebody looks again.

use std::time::Duration;

use model::ids::AppId;
use model::platform::DeviceType;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind};
use store::jobs::{self, Lane};

use crate::job::delivery_lane;
use crate::{Engine, Error, Result};

/// How often one message is tried on a paused platform.
pub(crate) const PROBE_EVERY: Duration = Duration::from_secs(60);

/// Why nothing is sent to a platform. It ends by itself when a message is taken again, or when the operator changes the
/// platform's credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformHealth {
    /// A sentence for the operator.
    pub reason: String,
    pub since: UtcMillis,
    /// When the next message is tried.
    pub probe_at: UtcMillis,
}

impl Engine {
    /// Why a platform is paused, if it is.
    pub async fn platform_health(&self, app: AppId, device_type: &DeviceType) -> Result<Option<PlatformHealth>> {
        let id = device_type.to_string();
        self.0.store.read(move |tx| PlatformHealth::find(tx, app, &id)).await
    }

    /// Lets deliveries to a platform go on at once, on every node. Whether it was paused.
    pub async fn resume_platform(&self, app: AppId, device_type: &DeviceType) -> Result<bool> {
        let (id, now) = (device_type.to_string(), self.clock().now());
        let lane = Lane { app, name: delivery_lane(&id) };
        let write = move |tx: &mut Tx<'_>| {
            let was_paused = documents::delete(tx, app, DocumentKind::PlatformHealth, &id)?;
            if was_paused {
                jobs::wake_lane(tx, &lane, now)?;
            }
            Ok::<_, Error>(was_paused)
        };
        let was_paused = self.0.store.write(app, write).await?;
        if was_paused {
            tracing::info!(app = app.0, platform = %device_type, "deliveries to a platform go on");
        }
        Ok(was_paused)
    }

    /// Pauses a platform, unless it is already. Answers when the next message is to be tried.
    pub(crate) async fn pause_platform(&self, app: AppId, device_type: &DeviceType, reason: &str) -> Result<UtcMillis> {
        let (id, now, why) = (device_type.to_string(), self.clock().now(), reason.to_owned());
        let write = move |tx: &mut Tx<'_>| {
            // What is known already stays as it is, but for the reason, which may be another by now.
            let known = PlatformHealth::find(tx, app, &id)?;
            let (since, probe_at) = known.as_ref().map_or((now, now.plus(PROBE_EVERY)), |at| (at.since, at.probe_at));
            let health = PlatformHealth { reason: why.clone(), since, probe_at };
            if known.as_ref() != Some(&health) {
                health.put(tx, app, &id, now)?;
            }
            Ok::<_, Error>((known.is_none(), probe_at))
        };
        let (is_new, probe_at) = self.0.store.write(app, write).await?;
        if is_new {
            tracing::error!(app = app.0, platform = %device_type, reason, "a platform is paused: its provider refuses us");
        }
        Ok(probe_at)
    }

    /// Whether the caller is the one to try a message now. At most one is, on all nodes.
    pub(crate) async fn claim_probe(&self, app: AppId, device_type: &DeviceType) -> Result<bool> {
        let (id, now) = (device_type.to_string(), self.clock().now());
        let write = move |tx: &mut Tx<'_>| {
            let Some(health) = PlatformHealth::find(tx, app, &id)?.filter(|health| health.probe_at <= now) else {
                return Ok::<_, Error>(false);
            };
            PlatformHealth { probe_at: now.plus(PROBE_EVERY), ..health }.put(tx, app, &id, now)?;
            Ok(true)
        };
        self.0.store.write(app, write).await
    }
}

impl PlatformHealth {
    pub(crate) fn find(tx: &mut Tx<'_>, app: AppId, device_type: &str) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::PlatformHealth, device_type)?;
        document.map(|document| serde_json::from_str(&document.body).map_err(Error::internal)).transpose()
    }

    fn put(&self, tx: &mut Tx<'_>, app: AppId, device_type: &str, now: UtcMillis) -> Result<()> {
        let body = serde_json::to_string(self).map_err(Error::internal)?;
        Ok(documents::put(tx, app, DocumentKind::PlatformHealth, device_type, &body, now)?)
    }
}
