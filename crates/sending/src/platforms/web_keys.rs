//! Web push with the key pair that every app has from the beginning.

use base::Result;
use boxed::boxed;
use model::app::Mode;
use model::device_type::DeviceType;
use model::ids::AppId;
use providers::http::{AddressPolicy, check_url};
use providers::platform::{Keys, PlatformConfig};
use providers::webpush::WebPushCredentials;

use super::Stored;
use crate::Sending;

/// Web push of an app, as a web page has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebPush {
    /// The key with which a web page subscribes: the public half of the pair that messages to browsers are signed with.
    pub public_key: String,
    /// Whether messages to browsers are sent to push services. Otherwise they stay in the sandbox, or fail.
    pub is_configured: bool,
}

#[boxed]
impl Sending {
    pub async fn web_push(&self, app: AppId) -> Result<WebPush> {
        let config = self.platform_config(app, &DeviceType::Web).await?;
        let is_configured = config.is_some();
        let public_key = match config {
            Some(PlatformConfig::WebPush(keys)) => keys.first().public_key.clone(),
            Some(_) | None => self.0.tenancy.own_web_keys(app).await?.public_key,
        };
        Ok(WebPush { public_key, is_configured })
    }

    /// Web push of a production app works without configuration if the server has a contact for push services. Development apps
    /// deliver to the sandbox until the operator configures it, as on every platform.
    pub(super) async fn own_web_push(&self, app: AppId) -> Result<Option<Stored>> {
        let Some(subject) = self.own_contact(app).await? else { return Ok(None) };
        let document = self.0.tenancy.web_keys_document(app).await?;
        let with_contact = |keys| PlatformConfig::WebPush(Keys::one(WebPushCredentials { subject, ..keys }));
        Ok(Some(Stored {
            config: self.0.tenancy.unseal_web_keys(app, &document).map(with_contact),
            created: document.created,
            modified: document.modified,
        }))
    }

    /// The contact with which web push of an app works without configuration. Whoever only wants to know that need not make the
    /// pair, which is made when it is used.
    pub(super) async fn own_contact(&self, app: AppId) -> Result<Option<String>> {
        let found = self.0.store.read(move |tx| store::apps::by_id(tx, app)).await?;
        Ok(match found.map(|(app, _)| app.mode) {
            Some(Mode::Production) => contact(&self.0.public_url),
            None | Some(Mode::Development) => None,
        })
    }
}

/// The contact for push services as long as the operator names none: the server itself, where it can be reached. Some services
/// refuse local ones.
fn contact(public_url: &str) -> Option<String> {
    let is_public = public_url.starts_with("https://") && check_url(public_url, AddressPolicy::PUBLIC_ONLY).is_ok();
    is_public.then(|| public_url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_public_server_is_a_contact() {
        assert_eq!(contact("https://push.example.com"), Some("https://push.example.com".to_owned()));
        for url in ["http://push.example.com", "http://localhost:8080", "https://localhost", "https://127.0.0.1:8443"] {
            assert_eq!(contact(url), None, "{url}");
        }
    }
}
