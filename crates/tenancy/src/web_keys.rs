//! The key pair every app has for web push from the beginning, so that a web page can subscribe before anything is
//! configured.

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::time::UtcMillis;
use providers::webpush::WebPushCredentials;
use store::Tx;
use store::documents::{self, Document, DocumentKind};

use crate::Tenancy;

const ID: &str = "own";

#[boxed]
impl Tenancy {
    pub(crate) fn new_web_keys(&self) -> Result<WebPushCredentials> {
        WebPushCredentials::generate(String::new()).map_err(Error::internal)
    }

    /// Gives an app its pair, in the transaction that makes the app.
    pub(crate) fn put_web_keys(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        keys: &WebPushCredentials,
        now: UtcMillis,
    ) -> Result<()> {
        let body = serde_json::to_string(keys).map_err(Error::internal)?;
        let sealed = self.0.seal_key.seal(&purpose(app), &body)?;
        Ok(documents::put(tx, app, DocumentKind::WebKeys, ID, &sealed, now)?)
    }

    /// The app's own pair, without a contact. An app whose pair was forgotten gets a new one.
    pub async fn own_web_keys(&self, app: AppId) -> Result<WebPushCredentials> {
        let document = self.web_keys_document(app).await?;
        self.unseal_web_keys(app, &document)
    }

    pub async fn web_keys_document(&self, app: AppId) -> Result<Document> {
        let read = move |tx: &mut Tx<'_>| documents::get(tx, app, DocumentKind::WebKeys, ID);
        match self.0.store.read(read).await? {
            Some(document) => Ok(document),
            None => self.make_web_keys(app).await,
        }
    }

    pub fn unseal_web_keys(&self, app: AppId, document: &Document) -> Result<WebPushCredentials> {
        let body = self.0.seal_key.open(&purpose(app), &document.body)?;
        serde_json::from_str(&body).map_err(Error::internal)
    }

    async fn make_web_keys(&self, app: AppId) -> Result<Document> {
        let (tenancy, keys, now) = (self.clone(), self.new_web_keys()?, self.0.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            // Another request may have been faster.
            if documents::get(tx, app, DocumentKind::WebKeys, ID)?.is_none() {
                tenancy.put_web_keys(tx, app, &keys, now)?;
            }
            documents::get(tx, app, DocumentKind::WebKeys, ID)?.ok_or(Error::NotFound("app"))
        };
        self.0.store.write(app, write).await
    }
}

/// The next request for the pair gets a new one.
pub fn forget(tx: &mut Tx<'_>, app: AppId) -> store::Result<()> {
    documents::delete(tx, app, DocumentKind::WebKeys, ID).map(drop)
}

/// The purpose for which the pair of an app is sealed.
pub fn purpose(app: AppId) -> String {
    format!("web keys/{}", app.0)
}
