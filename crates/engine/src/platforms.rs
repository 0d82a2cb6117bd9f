//! How the platforms of an app are reached: configured by the operator, sealed in the store.

use model::app::AppKey;
use model::ids::AppId;
use model::platform::OpenPlatform;
use model::time::UtcMillis;
use providers::http::check_url;
use providers::open::{self, OpenAuth, OpenPlatformConfig};
use store::documents::{self, Document, DocumentKind};
use uuid::Uuid;

use crate::{Engine, Error, Result};

/// What the operator wants an open platform to be.
#[derive(Clone, Debug)]
pub struct PlatformChange {
    pub url: String,
    pub auth: OpenAuth,
    pub enabled: bool,
    pub gzip: bool,
    /// Whether the webhook must pass the handshake before anything is stored.
    pub validate: bool,
}

/// A platform as it may be shown: without its secrets.
#[derive(Clone, Debug)]
pub struct PlatformView {
    pub platform: OpenPlatform,
    pub url: String,
    pub auth: &'static str,
    pub enabled: bool,
    pub gzip: bool,
    pub validation_code: Uuid,
    pub created: UtcMillis,
    pub modified: UtcMillis,
}

impl Engine {
    pub async fn set_platform(
        &self,
        app: &AppKey,
        platform: OpenPlatform,
        change: PlatformChange,
    ) -> Result<PlatformView> {
        let url = check_url(&change.url, self.0.address_policy)
            .map_err(|refusal| Error::invalid("url", refusal.to_string()))?;
        let config = OpenPlatformConfig {
            url,
            auth: change.auth,
            validation_code: self.validation_code(app, &platform),
            enabled: change.enabled,
            gzip: change.gzip,
        };
        if change.validate && change.enabled {
            self.shake_hands(&config).await.map_err(|message| Error::invalid("url", message))?;
        }
        let app_id = self.app(app.as_str()).await?.id;
        let body = serde_json::to_string(&config).map_err(Error::internal)?;
        let sealed = self.0.seal_key.seal(&purpose(app_id, &platform), &body)?;
        let (id, now) = (platform.as_str().to_owned(), self.0.clock.now());
        let write = move |tx: &mut store::Tx<'_>| documents::put(tx, app_id, DocumentKind::Platform, &id, &sealed, now);
        self.0.store.write(app_id, write).await?;
        self.platform(app_id, &platform).await
    }

    pub async fn platform(&self, app: AppId, platform: &OpenPlatform) -> Result<PlatformView> {
        let document = self.platform_document(app, platform).await?.ok_or(Error::NotFound("platform"))?;
        self.view(app, &document)
    }

    pub async fn platforms(&self, app: AppId) -> Result<Vec<PlatformView>> {
        let read = move |tx: &mut store::Tx<'_>| documents::list(tx, app, DocumentKind::Platform);
        let documents = self.0.store.read(read).await?;
        documents.iter().map(|document| self.view(app, document)).collect()
    }

    pub async fn delete_platform(&self, app: AppId, platform: &OpenPlatform) -> Result<()> {
        let id = platform.as_str().to_owned();
        let write = move |tx: &mut store::Tx<'_>| documents::delete(tx, app, DocumentKind::Platform, &id);
        match self.0.store.write(app, write).await? {
            true => Ok(()),
            false => Err(Error::NotFound("platform")),
        }
    }

    /// Repeats the handshake without sending anything. The error is a sentence for the operator.
    pub async fn test_platform(&self, app: AppId, platform: &OpenPlatform) -> Result<Result<(), String>> {
        let config = self.open_platform(app, platform).await?.ok_or(Error::NotFound("platform"))?;
        Ok(self.shake_hands(&config).await)
    }

    /// The configuration of an open platform, if it has one.
    pub(crate) async fn open_platform(
        &self,
        app: AppId,
        platform: &OpenPlatform,
    ) -> Result<Option<OpenPlatformConfig>> {
        let Some(document) = self.platform_document(app, platform).await? else { return Ok(None) };
        self.config(app, &document).map(|(_, config)| Some(config))
    }

    async fn platform_document(&self, app: AppId, platform: &OpenPlatform) -> Result<Option<Document>> {
        let id = platform.as_str().to_owned();
        Ok(self.0.store.read(move |tx| documents::get(tx, app, DocumentKind::Platform, &id)).await?)
    }

    /// The code a platform's webhook has to confirm. It follows from the names, so that it is known before the platform is
    /// stored, and from the key of the installation, so that nobody else can make a webhook seem to expect us.
    fn validation_code(&self, app: &AppKey, platform: &OpenPlatform) -> Uuid {
        self.0.seal_key.derive_uuid("validation code", &format!("{app}/{}", platform.as_str()))
    }

    async fn shake_hands(&self, config: &OpenPlatformConfig) -> Result<(), String> {
        let answer = open::validate(&self.0.http, config, self.0.clock.now()).await;
        answer.map_err(|error| format!("{error} The platform's validation code is {}.", config.validation_code))
    }

    fn config(&self, app: AppId, document: &Document) -> Result<(OpenPlatform, OpenPlatformConfig)> {
        let platform = OpenPlatform::new(&document.id).map_err(Error::internal)?;
        let body = self.0.seal_key.open(&purpose(app, &platform), &document.body)?;
        Ok((platform, serde_json::from_str(&body).map_err(Error::internal)?))
    }

    fn view(&self, app: AppId, document: &Document) -> Result<PlatformView> {
        let (platform, config) = self.config(app, document)?;
        Ok(PlatformView {
            platform,
            url: config.url.to_string(),
            auth: config.auth.name(),
            enabled: config.enabled,
            gzip: config.gzip,
            validation_code: config.validation_code,
            created: document.created,
            modified: document.modified,
        })
    }
}

/// Ties a sealed configuration to its place, so that it cannot be moved to another app or platform.
fn purpose(app: AppId, platform: &OpenPlatform) -> String {
    format!("platform/{}/{}", app.0, platform.as_str())
}
