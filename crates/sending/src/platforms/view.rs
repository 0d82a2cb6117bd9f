//! Platforms as they may be shown: without their secrets.

use std::collections::BTreeMap;

use base::{Error, Result};
use boxed::boxed;
use model::device_type::OpenPlatform;
use model::ids::AppId;
use model::time::UtcMillis;
use providers::platform::{KeyView, PlatformConfig, Provider};
use store::Tx;
use store::documents::{self, DocumentKind};
use uuid::Uuid;

use super::{PlatformName, Stored};
use crate::{PlatformHealth, Sending};

#[derive(Clone, Debug)]
pub struct PlatformView {
    pub name: PlatformName,
    /// How it is reached. A platform without configuration is shown if it has a health: it may be held all the same.
    pub configured: Option<Configured>,
    /// Why messages do not arrive at the moment; `None` if they do.
    pub health: Option<PlatformHealth>,
}

#[derive(Clone, Debug)]
pub struct Configured {
    pub config: ShownConfig,
    pub created: UtcMillis,
    pub modified: UtcMillis,
    /// When the platform took the credentials, or a message with them, for the first time since they were set.
    pub proven: Option<UtcMillis>,
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

#[boxed]
impl Sending {
    pub async fn platform(&self, app: AppId, name: PlatformName) -> Result<PlatformView> {
        let device_type = name.device_type();
        let read = move |tx: &mut Tx<'_>| {
            let proof = documents::get(tx, app, DocumentKind::PlatformProof, &device_type.to_string())?;
            Ok::<_, Error>((PlatformHealth::find_known(tx, app, &device_type)?, proof.map(|proof| proof.created)))
        };
        let (health, proven) = self.0.store.read(read).await?;
        let stored = self.stored(app, name.clone()).await?;
        view(name, stored, health, proven).ok_or(Error::NotFound("platform"))
    }

    /// All platforms of an app that are configured or in trouble, those of the providers first.
    pub async fn platforms(&self, app: AppId) -> Result<Vec<PlatformView>> {
        let mut healths = self.platform_healths(app).await?;
        let read = move |tx: &mut Tx<'_>| documents::list(tx, app, DocumentKind::PlatformProof);
        let proofs = self.0.store.read(read).await?.into_iter().map(|proof| (proof.id, proof.created));
        let proofs: BTreeMap<String, UtcMillis> = proofs.collect();
        let proven = |name: &PlatformName| proofs.get(&name.device_type().to_string()).copied();
        let mut views = Vec::new();
        for name in Provider::ALL.map(PlatformName::Provider) {
            let health = healths.remove(&name.device_type());
            let stored = self.stored(app, name.clone()).await?;
            let proven = proven(&name);
            views.extend(view(name, stored, health, proven));
        }
        let read = move |tx: &mut Tx<'_>| documents::list(tx, app, DocumentKind::Platform);
        for document in self.0.store.read(read).await? {
            let name = PlatformName::Open(OpenPlatform::new(&document.id).map_err(Error::internal)?);
            let health = healths.remove(&name.device_type());
            let stored = self.unseal(app, &name, &document);
            let proven = proven(&name);
            views.extend(view(name, Some(stored), health, proven));
        }
        for (device_type, health) in healths {
            let name = PlatformName::of(&device_type);
            views.extend(name.and_then(|name| view(name, None, Some(health), None)));
        }
        Ok(views)
    }
}

/// Nothing if there is nothing to show.
fn view(
    name: PlatformName,
    stored: Option<Stored>,
    health: Option<PlatformHealth>,
    proven: Option<UtcMillis>,
) -> Option<PlatformView> {
    let configured = stored.map(|Stored { config, created, modified }| Configured {
        config: config.map_or(ShownConfig::Unreadable, ShownConfig::from),
        created,
        modified,
        proven,
    });
    (configured.is_some() || health.is_some()).then_some(PlatformView { name, configured, health })
}

impl From<PlatformConfig> for ShownConfig {
    fn from(config: PlatformConfig) -> Self {
        match config {
            PlatformConfig::Open(config) => ShownConfig::Open {
                url: config.url.to_string(),
                auth: config.auth.name(),
                enabled: config.enabled,
                gzip: config.gzip,
                validation_code: config.validation_code,
            },
            PlatformConfig::Apns(_)
            | PlatformConfig::Fcm(_)
            | PlatformConfig::Adm(_)
            | PlatformConfig::Wns(_)
            | PlatformConfig::WebPush(_) => ShownConfig::Provider { keys: config.keys() },
        }
    }
}
