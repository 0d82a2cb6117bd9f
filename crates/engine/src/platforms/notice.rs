//! What an operator should hear about platforms before they stop working, or when they have.

use model::app::AppKey;
use model::platform::DeviceType;
use model::time::UtcMillis;
use providers::platform::Provider;
use store::documents::{self, DocumentKind};

use super::PlatformName;
use crate::{Engine, Error, PlatformHealth, Result};

#[derive(Clone, Debug)]
pub struct PlatformNotice {
    pub app: AppKey,
    pub platform: PlatformName,
    pub fact: PlatformFact,
}

#[derive(Clone, Debug)]
pub enum PlatformFact {
    /// The first of its certificates runs out then.
    Expires(UtcMillis),
    /// Its provider refuses us.
    Paused { reason: String, since: UtcMillis },
    /// Its credentials were sealed with another key, or are damaged.
    Unreadable,
}

impl Engine {
    /// The notices of all apps.
    pub async fn platform_notices(&self) -> Result<Vec<PlatformNotice>> {
        let providers = self.0.store.read(|tx| documents::of_all_apps(tx, DocumentKind::Provider)).await?;
        let mut notices = Vec::new();
        for (id, app, document) in providers {
            // Nothing else runs out, so nothing else needs to be unsealed.
            let Some(provider @ Provider::Apns) = Provider::from_name(&document.id) else { continue };
            let platform = PlatformName::Provider(provider);
            let fact = match self.unseal(id, platform.clone(), &document) {
                Ok(stored) => stored.config.expires().map(PlatformFact::Expires),
                Err(_) => Some(PlatformFact::Unreadable),
            };
            notices.extend(fact.map(|fact| PlatformNotice { app, platform, fact }));
        }
        let paused = self.0.store.read(|tx| documents::of_all_apps(tx, DocumentKind::PlatformHealth)).await?;
        for (_, app, document) in paused {
            let platform = DeviceType::from_name(&document.id).as_ref().and_then(PlatformName::of);
            let platform = platform.ok_or_else(|| Error::internal(format!("a paused platform {:?}", document.id)))?;
            let PlatformHealth { reason, since, .. } = serde_json::from_str(&document.body).map_err(Error::internal)?;
            notices.push(PlatformNotice { app, platform, fact: PlatformFact::Paused { reason, since } });
        }
        Ok(notices)
    }
}
