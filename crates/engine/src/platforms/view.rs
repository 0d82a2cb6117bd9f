//! Platforms as they may be shown: without their secrets.

use model::ids::AppId;
use model::platform::OpenPlatform;
use model::time::UtcMillis;
use providers::platform::{KeyView, PlatformConfig, Provider};
use store::documents::{self, DocumentKind};
use uuid::Uuid;

use super::{PlatformName, Stored};
use crate::{Engine, Error, PlatformHealth, Result};

#[derive(Clone, Debug)]
pub struct PlatformView {
    pub name: PlatformName,
    pub config: ShownConfig,
    /// What keeps messages from arriving at the moment, if anything does.
    pub health: Option<PlatformHealth>,
    pub created: UtcMillis,
    pub modified: UtcMillis,
}

#[derive(Clone, Debug)]
pub enum ShownConfig {
    Provider {
        keys: Vec<KeyView>,
    },
    /// Sealed with another key, or damaged.
    Unreadable,
    Open {
        url: String,
        auth: &'static str,
        enabled: bool,
        gzip: bool,
        validation_code: Uuid,
    },
}

impl Engine {
    pub async fn platform(&self, app: AppId, name: PlatformName) -> Result<PlatformView> {
        let stored = self.stored(app, name).await?.ok_or(Error::NotFound("platform"))?;
        self.view(app, stored).await
    }

    /// All platforms of an app, those of the providers first.
    pub async fn platforms(&self, app: AppId) -> Result<Vec<PlatformView>> {
        let mut views = Vec::new();
        for provider in Provider::ALL {
            let stored = self.stored(app, PlatformName::Provider(provider)).await?;
            if let Some(stored) = stored {
                views.push(self.view(app, stored).await?);
            }
        }
        let read = move |tx: &mut store::Tx<'_>| documents::list(tx, app, DocumentKind::Platform);
        for document in self.0.store.read(read).await? {
            let platform = OpenPlatform::new(&document.id).map_err(Error::internal)?;
            let stored = self.unseal(app, PlatformName::Open(platform), &document);
            views.push(self.view(app, stored).await?);
        }
        Ok(views)
    }

    async fn view(&self, app: AppId, stored: Stored) -> Result<PlatformView> {
        let health = self.platform_health(app, &stored.name.device_type()).await?;
        let Stored { name, config, created, modified } = stored;
        let config = match config {
            Err(_) => ShownConfig::Unreadable,
            Ok(PlatformConfig::Open(config)) => ShownConfig::Open {
                url: config.url.to_string(),
                auth: config.auth.name(),
                enabled: config.enabled,
                gzip: config.gzip,
                validation_code: config.validation_code,
            },
            Ok(
                config @ (PlatformConfig::Apns(_)
                | PlatformConfig::Fcm(_)
                | PlatformConfig::Adm(_)
                | PlatformConfig::Wns(_)
                | PlatformConfig::WebPush(_)),
            ) => ShownConfig::Provider { keys: config.keys() },
        };
        Ok(PlatformView { name, config, health, created, modified })
    }
}
