//! How the platforms of an app are reached: configured by the operator, sealed in the store.

mod addresses;
mod change;
mod lacking;
mod notice;
mod open;
mod proof;
mod view;
mod web_keys;

use std::fmt;

use base::{Error, Result};
use model::device_type::{DeviceType, OpenPlatform};
use model::ids::AppId;
use model::time::UtcMillis;
use providers::platform::{PlatformConfig, Provider};
use store::documents::{self, Document, DocumentKind};

use crate::Sending;

pub use change::ProviderChange;
pub use lacking::Lacking;
pub use notice::{PlatformFact, PlatformNotice};
pub use view::{Configured, PlatformView, ShownConfig};
pub use web_keys::WebPush;

/// A platform that can be configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformName {
    Provider(Provider),
    Open(OpenPlatform),
}

/// A configuration from the store.
struct Stored {
    /// An error if it was sealed with another key, or is damaged.
    config: Result<PlatformConfig>,
    created: UtcMillis,
    modified: UtcMillis,
}

impl PlatformName {
    /// `apns`, `fcm`, `adm`, `wns`, `webpush` or `open::<name>`. The error is a sentence for the operator.
    pub fn from_name(name: &str) -> Result<Self, String> {
        if let Some(provider) = Provider::from_name(name) {
            return Ok(PlatformName::Provider(provider));
        }
        match DeviceType::from_name(name) {
            Some(DeviceType::Open(platform)) => Ok(PlatformName::Open(platform)),
            device_type => Err(match device_type.as_ref().and_then(Provider::of) {
                Some(provider) => format!("Devices of the type {name} are reached through the platform {provider}."),
                None => {
                    "Platforms are apns, fcm, adm, wns, webpush, and your own, which are named open::<name>.".to_owned()
                }
            }),
        }
    }

    /// The devices that are reached through it.
    pub fn device_type(&self) -> DeviceType {
        match self {
            PlatformName::Provider(provider) => provider.device_type(),
            PlatformName::Open(platform) => DeviceType::Open(platform.clone()),
        }
    }

    /// The configuration for devices of a type, if they can be reached.
    pub(crate) fn of(device_type: &DeviceType) -> Option<Self> {
        match device_type {
            DeviceType::Open(platform) => Some(PlatformName::Open(platform.clone())),
            device_type => Provider::of(device_type).map(PlatformName::Provider),
        }
    }

    /// The operator's name for the platform of a device type.
    pub(crate) fn for_log(device_type: &DeviceType) -> String {
        Self::of(device_type).map_or_else(|| device_type.to_string(), |name| name.to_string())
    }

    /// Why nothing can be sent to devices of a type as long as nothing is configured.
    pub(crate) fn missing(device_type: &DeviceType) -> String {
        match Self::of(device_type) {
            Some(PlatformName::Provider(Provider::WebPush)) => "Push services of browsers want to know whom they may \
                contact; set a subject: aerogram platform set KEY webpush --subject mailto:you@example.com"
                .to_owned(),
            Some(PlatformName::Provider(_) | PlatformName::Open(_)) | None => {
                format!("The app has no credentials for the platform {device_type}.")
            }
        }
    }

    fn kind(&self) -> DocumentKind {
        match self {
            PlatformName::Provider(_) => DocumentKind::Provider,
            PlatformName::Open(_) => DocumentKind::Platform,
        }
    }

    fn id(&self) -> &str {
        match self {
            PlatformName::Provider(provider) => provider.name(),
            PlatformName::Open(platform) => platform.as_str(),
        }
    }

    /// Ties a sealed configuration to its app and platform: it cannot be opened as that of another.
    pub fn purpose(&self, app: AppId) -> String {
        match self {
            PlatformName::Provider(provider) => format!("provider/{}/{provider}", app.0),
            PlatformName::Open(platform) => format!("platform/{}/{}", app.0, platform.as_str()),
        }
    }
}

impl fmt::Display for PlatformName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlatformName::Provider(provider) => provider.fmt(f),
            PlatformName::Open(platform) => write!(f, "open::{}", platform.as_str()),
        }
    }
}

impl Sending {
    /// How devices of a type are reached, if that is configured. Two answers are equal unless something was changed between them,
    /// so that a value derived from one can be cached together with it.
    pub(crate) async fn platform_config(&self, app: AppId, device_type: &DeviceType) -> Result<Option<PlatformConfig>> {
        let Some(name) = PlatformName::of(device_type) else { return Ok(None) };
        self.stored(app, name).await?.map(|stored| stored.config).transpose()
    }

    async fn stored(&self, app: AppId, name: PlatformName) -> Result<Option<Stored>> {
        let platform = name.clone();
        let read = move |tx: &mut store::Tx<'_>| documents::get(tx, app, platform.kind(), platform.id());
        match (self.0.store.read(read).await?, &name) {
            (Some(document), _) => Ok(Some(self.unseal(app, &name, &document))),
            (None, PlatformName::Provider(Provider::WebPush)) => self.own_web_push(app).await,
            (None, PlatformName::Provider(_) | PlatformName::Open(_)) => Ok(None),
        }
    }

    fn unseal(&self, app: AppId, name: &PlatformName, document: &Document) -> Stored {
        let body = self.0.tenancy.seal_key().open(&name.purpose(app), &document.body);
        let config = body.and_then(|body| match name {
            PlatformName::Provider(_) => serde_json::from_str(&body).map_err(Error::internal),
            PlatformName::Open(_) => serde_json::from_str(&body).map(PlatformConfig::Open).map_err(Error::internal),
        });
        Stored { config, created: document.created, modified: document.modified }
    }

    fn seal(&self, app: AppId, name: &PlatformName, config: &PlatformConfig) -> Result<String> {
        let body = match config {
            // Under the name of the platform, so without saying again which it is.
            PlatformConfig::Open(open) => serde_json::to_string(open),
            PlatformConfig::Apns(_)
            | PlatformConfig::Fcm(_)
            | PlatformConfig::Adm(_)
            | PlatformConfig::Wns(_)
            | PlatformConfig::WebPush(_) => serde_json::to_string(config),
        };
        self.0.tenancy.seal_key().seal(&name.purpose(app), &body.map_err(Error::internal)?)
    }
}
