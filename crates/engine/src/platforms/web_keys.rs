//! The key pair every app has for web push from the beginning, so that a web page can subscribe before anything is
//! configured.

use model::app::Mode;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::time::UtcMillis;
use providers::http::{AddressPolicy, check_url};
use providers::platform::{Keys, PlatformConfig};
use providers::webpush::WebPushCredentials;
use store::documents::{self, Document, DocumentKind};

use super::Stored;
use crate::{Engine, Error, Result};

const ID: &str = "own";

impl Engine {
    /// The key with which a web page subscribes: the public half of the pair that messages to browsers are signed with.
    pub async fn web_public_key(&self, app: AppId) -> Result<String> {
        match self.platform_config(app, &DeviceType::Web).await? {
            Some(PlatformConfig::WebPush(keys)) => Ok(keys.first().public_key.clone()),
            Some(_) | None => Ok(self.own_web_keys(app).await?.public_key),
        }
    }

    pub(crate) fn new_web_keys(&self) -> Result<WebPushCredentials> {
        WebPushCredentials::generate(String::new()).map_err(Error::internal)
    }

    /// Gives an app its pair, in the transaction that makes the app.
    pub(crate) fn put_web_keys(
        &self,
        tx: &mut store::Tx<'_>,
        app: AppId,
        keys: &WebPushCredentials,
        now: UtcMillis,
    ) -> Result<()> {
        let body = serde_json::to_string(keys).map_err(Error::internal)?;
        let sealed = self.0.seal_key.seal(&purpose(app), &body)?;
        Ok(documents::put(tx, app, DocumentKind::WebKeys, ID, &sealed, now)?)
    }

    /// The app's own pair, which is created now for apps that are older than these pairs. The contact is not part of it.
    pub(super) async fn own_web_keys(&self, app: AppId) -> Result<WebPushCredentials> {
        let document = self.web_keys_document(app).await?;
        self.unseal_web_keys(app, &document)
    }

    async fn web_keys_document(&self, app: AppId) -> Result<Document> {
        let read = move |tx: &mut store::Tx<'_>| documents::get(tx, app, DocumentKind::WebKeys, ID);
        match self.0.store.read(read).await? {
            Some(document) => Ok(document),
            None => self.make_web_keys(app).await,
        }
    }

    fn unseal_web_keys(&self, app: AppId, document: &Document) -> Result<WebPushCredentials> {
        let body = self.0.seal_key.open(&purpose(app), &document.body)?;
        serde_json::from_str(&body).map_err(Error::internal)
    }

    async fn make_web_keys(&self, app: AppId) -> Result<Document> {
        let (engine, keys, now) = (self.clone(), self.new_web_keys()?, self.0.clock.now());
        let write = move |tx: &mut store::Tx<'_>| {
            // Another request may have been faster.
            if documents::get(tx, app, DocumentKind::WebKeys, ID)?.is_none() {
                engine.put_web_keys(tx, app, &keys, now)?;
            }
            documents::get(tx, app, DocumentKind::WebKeys, ID)?.ok_or(Error::NotFound("app"))
        };
        self.0.store.write(app, write).await
    }

    /// Web push of a production app works without configuration if the server has a contact for push services. Development apps
    /// deliver to the sandbox until the operator configures it, as on every platform.
    pub(super) async fn own_web_push(&self, app: AppId) -> Result<Option<Stored>> {
        let found = self.0.store.read(move |tx| store::apps::by_id(tx, app)).await?;
        match (found.map(|(app, _)| app.mode), contact(&self.0.public_url)) {
            (None | Some(Mode::Development), _) | (Some(Mode::Production), None) => Ok(None),
            (Some(Mode::Production), Some(subject)) => {
                let document = self.web_keys_document(app).await?;
                let with_contact = |keys| PlatformConfig::WebPush(Keys::one(WebPushCredentials { subject, ..keys }));
                Ok(Some(Stored {
                    config: self.unseal_web_keys(app, &document).map(with_contact),
                    created: document.created,
                    modified: document.modified,
                }))
            }
        }
    }
}

/// The contact for push services as long as the operator names none: the server itself, where it can be reached. Some services
/// refuse local ones.
fn contact(public_url: &str) -> Option<String> {
    let is_public = public_url.starts_with("https://") && check_url(public_url, AddressPolicy::PUBLIC_ONLY).is_ok();
    is_public.then(|| public_url.to_owned())
}

/// The next request for the pair gets a new one.
pub(crate) fn forget(tx: &mut store::Tx<'_>, app: AppId) -> store::Result<()> {
    documents::delete(tx, app, DocumentKind::WebKeys, ID).map(drop)
}

/// The purpose for which the pair of an app is sealed.
pub(crate) fn purpose(app: AppId) -> String {
    format!("web keys/{}", app.0)
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
