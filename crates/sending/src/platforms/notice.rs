//! Notices for the operator about platforms that are about to stop working, or have stopped.

use std::collections::HashSet;

use base::{Error, Result, readable};
use boxed::boxed;
use model::app::AppKey;
use model::device_type::{DeviceType, OpenPlatform};
use model::ids::AppId;
use model::time::UtcMillis;
use providers::platform::Provider;
use store::documents::{self, Document, DocumentKind};

use super::PlatformName;
use crate::{PlatformHealth, Sending};

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
    /// Nothing is sent to it, or nothing that is sent is taken.
    Hindered(PlatformHealth),
    /// Its credentials were sealed with another key, or are damaged.
    Unreadable,
}

#[boxed]
impl Sending {
    /// The notices of all apps.
    pub async fn platform_notices(&self) -> Result<Vec<PlatformNotice>> {
        let mut notices = self.credential_notices().await?;
        notices.extend(self.health_notices().await?);
        Ok(notices)
    }

    /// Notices about credentials, all of which have to be decrypted for it.
    pub async fn credential_notices(&self) -> Result<Vec<PlatformNotice>> {
        let read = |tx: &mut store::Tx<'_>, part: &store::Part| {
            let providers = documents::of_all_apps(tx, part, DocumentKind::Provider)?;
            Ok::<_, store::Error>(vec![(providers, documents::of_all_apps(tx, part, DocumentKind::Platform)?)])
        };
        let (providers, open_platforms): (Vec<_>, Vec<_>) = self.0.store.read_all(read).await?.into_iter().unzip();
        let (providers, open_platforms) = (providers.concat(), open_platforms.concat());
        let sending = self.clone();
        let examine = move || {
            let mut notices = sending.about_stored(providers, |id| Provider::from_name(id).map(PlatformName::Provider));
            notices
                .extend(sending.about_stored(open_platforms, |id| OpenPlatform::new(id).ok().map(PlatformName::Open)));
            notices
        };
        tokio::task::spawn_blocking(examine).await.map_err(Error::internal)
    }

    /// The providers that each app has credentials of, whether or not they can be read.
    pub async fn configured_providers(&self) -> Result<HashSet<(AppId, Provider)>> {
        let documents =
            self.0.store.read_all(|tx, part| documents::of_all_apps(tx, part, DocumentKind::Provider)).await?;
        let named = |(app, _, document): (AppId, AppKey, Document)| Some((app, Provider::from_name(&document.id)?));
        Ok(documents.into_iter().filter_map(named).collect())
    }

    /// Notices about platforms that are paused or wait for their provider. They are of all apps, so that one that cannot be read is
    /// passed over.
    pub async fn health_notices(&self) -> Result<Vec<PlatformNotice>> {
        let hindered =
            self.0.store.read_all(|tx, part| documents::of_all_apps(tx, part, DocumentKind::PlatformHealth)).await?;
        let mut notices = Vec::with_capacity(hindered.len());
        for (_, app, document) in hindered {
            let platform = DeviceType::from_name(&document.id).as_ref().and_then(PlatformName::of);
            let platform = platform.ok_or_else(|| Error::internal(format!("a hindered platform {:?}", document.id)));
            let read = platform.and_then(|platform| PlatformHealth::read(&document).map(|health| (platform, health)));
            let Some((platform, health)) = readable(DocumentKind::PlatformHealth, &document.id, read) else { continue };
            notices.push(PlatformNotice { app, platform, fact: PlatformFact::Hindered(health) });
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
            let fact = match self.unseal(id, &platform, &document).config {
                Ok(config) => config.expires().map(PlatformFact::Expires),
                Err(_) => Some(PlatformFact::Unreadable),
            };
            notices.extend(fact.map(|fact| PlatformNotice { app, platform, fact }));
        }
        notices
    }
}
