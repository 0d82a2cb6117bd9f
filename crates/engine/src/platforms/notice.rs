//! What an operator should hear about platforms before they stop working, or when they have.

use model::app::AppKey;
use model::ids::AppId;
use model::platform::{DeviceType, OpenPlatform};
use model::time::UtcMillis;
use providers::platform::Provider;
use store::documents::{self, Document, DocumentKind};

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
        let provider = |id: &str| Provider::from_name(id).map(PlatformName::Provider);
        let mut notices = self.about_stored(providers, provider);
        let open_platforms = self.0.store.read(|tx| documents::of_all_apps(tx, DocumentKind::Platform)).await?;
        notices.extend(self.about_stored(open_platforms, |id| OpenPlatform::new(id).ok().map(PlatformName::Open)));
        let paused = self.0.store.read(|tx| documents::of_all_apps(tx, DocumentKind::PlatformHealth)).await?;
        for (_, app, document) in paused {
            let platform = DeviceType::from_name(&document.id).as_ref().and_then(PlatformName::of);
            let platform = platform.ok_or_else(|| Error::internal(format!("a paused platform {:?}", document.id)))?;
            let PlatformHealth { reason, since, .. } = serde_json::from_str(&document.body).map_err(Error::internal)?;
            notices.push(PlatformNotice { app, platform, fact: PlatformFact::Paused { reason, since } });
        }
        Ok(notices)
    }

    fn about_stored(
        &self,
        documents: Vec<(AppId, AppKey, Document)>,
        name: impl Fn(&str) -> Option<PlatformName>,
    ) -> Vec<PlatformNotice> {
        let mut notices = Vec::new();
        for (id, app, document) in documents {
            let Some(platform) = name(&document.id) else { continue };
            let fact = match self.unseal(id, platform.clone(), &document).config {
                Ok(config) => config.expires().map(PlatformFact::Expires),
                Err(_) => Some(PlatformFact::Unreadable),
            };
            notices.extend(fact.map(|fact| PlatformNotice { app, platform, fact }));
        }
        notices
    }
}
