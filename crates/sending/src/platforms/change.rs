//! Setting, extending and deleting the configuration of platforms. Running nodes use the new configuration for their next
//! messages.

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::problem::{Problem, ProblemKind};
use providers::http::{WebUrl, check_url};
use providers::platform::{Keys, MOST_KEYS, PlatformConfig, Provider};
use providers::webpush::{ONE_PAIR, WebPushContact, WebPushCredentials};
use store::documents;

use super::proof::forget_proof;
use super::{PlatformName, PlatformView};
use crate::Sending;

/// The operator's wish for a provider.
#[derive(Clone, Debug)]
pub enum ProviderChange {
    Keys(PlatformConfig),
    /// Web push with the pair that the app has already.
    WebContact(WebPushContact),
}

#[boxed]
impl Sending {
    /// Replaces everything that is configured for a provider.
    pub async fn set_provider(&self, app: &AppKey, provider: Provider, change: ProviderChange) -> Result<PlatformView> {
        let app = self.0.tenancy.app(app.as_str()).await?.id;
        let config = match change {
            ProviderChange::Keys(config) => config,
            ProviderChange::WebContact(WebPushContact { subject, endpoint }) => {
                let keys = self.current_web_keys(app).await?;
                PlatformConfig::WebPush(Keys::one(WebPushCredentials { subject, endpoint, ..keys }))
            }
        };
        self.check(&config)?;
        self.put_platform(app, PlatformName::Provider(provider), config).await
    }

    /// Adds keys after the existing ones, to take over when the provider refuses those. An existing key is replaced in its
    /// position.
    pub async fn add_keys(&self, app: AppId, provider: Provider, more: PlatformConfig) -> Result<PlatformView> {
        self.check(&more)?;
        let (own, full) = match provider {
            Provider::WebPush => {
                let own = self.0.tenancy.own_web_keys(app).await?;
                (Some(PlatformConfig::WebPush(Keys::one(own))), ONE_PAIR.to_owned())
            }
            Provider::Apns | Provider::Fcm | Provider::Adm | Provider::Wns => {
                (None, format!("A platform has at most {MOST_KEYS} keys; remove one that is no longer used."))
            }
        };
        // Browsers may have subscribed with the pair that the app has before anything is configured.
        self.rewrite_keys(app, provider, move |config| match config.or_else(|| own.clone()) {
            None => Ok(more.clone()),
            Some(config) => config.with(more.clone()).ok_or_else(|| Error::Conflict(full.clone())),
        })
        .await
    }

    pub async fn remove_key(&self, app: AppId, provider: Provider, fingerprint: String) -> Result<()> {
        self.rewrite_keys(app, provider, move |config| {
            let config = config.ok_or(Error::NotFound("platform"))?;
            if !config.keys().iter().any(|key| key.fingerprint == fingerprint) {
                return Err(Error::NotFound("key"));
            }
            config.without(&fingerprint).ok_or_else(|| {
                Error::Conflict("This is the only key of the platform; delete the platform instead.".to_owned())
            })
        })
        .await
        .map(drop)
    }

    pub async fn delete_platform(&self, app: AppId, name: PlatformName) -> Result<()> {
        let platform = name.clone();
        let write = move |tx: &mut store::Tx<'_>| {
            forget_proof(tx, app, &platform)?;
            documents::delete(tx, app, platform.kind(), platform.id())
        };
        match self.0.store.write(app, write).await? {
            true => self.platform_changed(app, &name).await,
            false => Err(Error::NotFound("platform")),
        }
    }

    pub(super) async fn put_platform(
        &self,
        app: AppId,
        name: PlatformName,
        config: PlatformConfig,
    ) -> Result<PlatformView> {
        let (sealed, platform, now) = (self.seal(app, &name, &config)?, name.clone(), self.0.clock.now());
        let fingerprints = fingerprints(&config);
        let write = move |tx: &mut store::Tx<'_>| {
            tx.note_detail("keys", fingerprints.clone());
            forget_proof(tx, app, &platform)?;
            documents::put(tx, app, platform.kind(), platform.id(), &sealed, now)
        };
        self.0.store.write(app, write).await?;
        self.platform_changed(app, &name).await?;
        self.platform(app, name).await
    }

    /// Changes the configuration in one transaction, so that two operators do not undo each other's work.
    async fn rewrite_keys(
        &self,
        app: AppId,
        provider: Provider,
        rewrite: impl Fn(Option<PlatformConfig>) -> Result<PlatformConfig> + Send + 'static,
    ) -> Result<PlatformView> {
        let (name, now) = (PlatformName::Provider(provider), self.0.clock.now());
        let (sending, platform) = (self.clone(), name.clone());
        let write = move |tx: &mut store::Tx<'_>| {
            let document = documents::get(tx, app, platform.kind(), platform.id())?;
            let config = document.map(|document| sending.unseal(app, &platform, &document).config).transpose()?;
            let config = rewrite(config)?;
            let sealed = sending.seal(app, &platform, &config)?;
            tx.note_detail("keys", fingerprints(&config));
            forget_proof(tx, app, &platform)?;
            Ok::<_, Error>(documents::put(tx, app, platform.kind(), platform.id(), &sealed, now)?)
        };
        self.0.store.write(app, write).await?;
        self.platform_changed(app, &name).await?;
        self.platform(app, name).await
    }

    async fn current_web_keys(&self, app: AppId) -> Result<WebPushCredentials> {
        match self.platform_config(app, &DeviceType::Web).await? {
            Some(PlatformConfig::WebPush(keys)) => Ok(keys.first().clone()),
            Some(_) | None => self.0.tenancy.own_web_keys(app).await,
        }
    }

    /// Checks that need the address policy and the time.
    fn check(&self, config: &PlatformConfig) -> Result<()> {
        let (keys, now) = (config.keys(), self.0.clock.now());
        let mut problems = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            let at = |field: &str| if keys.len() == 1 { field.to_owned() } else { format!("keys[{i}].{field}") };
            let mut note = |field: &str, message: String| {
                problems.push(Problem { path: at(field), message, kind: ProblemKind::Invalid });
            };
            let refusal = |url: &Option<WebUrl>| {
                let url = url.as_ref()?.to_string();
                check_url(&url, self.0.address_policy).err().map(|refusal| refusal.to_string())
            };
            if let Some(refusal) = refusal(&key.endpoint) {
                note("endpoint.url", refusal);
            }
            if let Some(refusal) = refusal(&key.token_uri) {
                note("service_account.token_uri", refusal);
            }
            if let Some(expires) = key.expires.filter(|expires| *expires <= now) {
                note("certificate", format!("The certificate expired at {} UTC; ask for a new one.", expires.to_api()));
            }
        }
        Error::refuse(problems)
    }

    /// Lets deliveries continue with the new configuration, also those that wait because the provider refused the old one. Other
    /// nodes compare their copy with the store.
    async fn platform_changed(&self, app: AppId, name: &PlatformName) -> Result<()> {
        let device_type = name.device_type();
        self.0.senders.forget(app, &device_type);
        self.resume_platform(app, &device_type).await?;
        Ok(())
    }
}

/// What the audit log tells of the secrets of a platform.
fn fingerprints(config: &PlatformConfig) -> Vec<String> {
    config.keys().into_iter().map(|key| key.fingerprint).collect()
}
