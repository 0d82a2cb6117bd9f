//! Codes that let the demonstration page send to itself in an app in development, without a secret in the page.
//!
//! A code follows from the key of the installation and from the master secret: replacing the secret ends it.

use std::sync::Arc;

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use boxed::boxed;
use model::app::Mode;
use store::apps::App;
use subtle::ConstantTimeEq;

use crate::Tenancy;
use crate::callers::KnownApp;

const PURPOSE: &str = "code of the demo";
/// As many random bits as secrets have.
const BYTES: usize = 16;

#[boxed]
impl Tenancy {
    /// The code of an app.
    pub async fn demo_code(&self, key: &str) -> Result<String> {
        let known = self.known_app(key).await?.ok_or(Error::NotFound("app"))?;
        Ok(self.code_of(&known))
    }

    /// The app in development that has this code.
    pub async fn app_by_demo_code(&self, key: &str, code: &str) -> Result<Option<Arc<App>>> {
        let known = self.known_app(key).await?.filter(|known| known.app.mode == Mode::Development);
        let is_right = |known: &Arc<KnownApp>| bool::from(self.code_of(known).as_bytes().ct_eq(code.as_bytes()));
        Ok(known.filter(is_right).map(|known| known.app.clone()))
    }

    fn code_of(&self, known: &KnownApp) -> String {
        let purpose = format!("{PURPOSE} {}", known.app.id.0);
        let signature = self.0.seal_key.sign(&purpose, &BASE64_URL.encode(known.hashes.master));
        BASE64_URL.encode(&signature[..BYTES])
    }
}
