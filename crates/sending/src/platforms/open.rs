//! Open platforms: endpoints that have to confirm that they expect us.

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::device_type::OpenPlatform;
use providers::http::check_url;
use providers::open::{self, OpenPlatformChange, OpenPlatformConfig};
use providers::platform::PlatformConfig;
use uuid::Uuid;

use super::{PlatformName, PlatformView};
use crate::Sending;

#[boxed]
impl Sending {
    pub async fn set_open_platform(
        &self,
        app: &AppKey,
        platform: OpenPlatform,
        change: OpenPlatformChange,
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
        let app = self.0.tenancy.app(app.as_str()).await?.id;
        self.put_platform(app, PlatformName::Open(platform), PlatformConfig::Open(config)).await
    }

    /// Repeats the handshake without sending anything. The error is a sentence for the operator.
    pub(super) async fn shake_hands(&self, config: &OpenPlatformConfig) -> Result<(), String> {
        let answer = open::validate(&self.0.http, config, self.0.clock.now()).await;
        answer.map_err(|error| format!("{error} The platform's validation code is {}.", config.validation_code))
    }

    /// The code that a platform's endpoint has to confirm. It is derived from the names, so that it is known before the platform
    /// is stored, and from the key of the installation, so that nobody else can make an endpoint seem to expect us.
    fn validation_code(&self, app: &AppKey, platform: &OpenPlatform) -> Uuid {
        self.0.tenancy.seal_key().derive_uuid("validation code", &format!("{app}/{}", platform.as_str()))
    }
}
