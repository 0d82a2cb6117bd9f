//! How an app proves to Microsoft that it may send: as an app of the Microsoft Store, or as one of the Windows App SDK.

use model::json::At;
use model::json::body::Body;
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::keys;
use crate::platform::KeyView;

const CREDENTIAL_CHARS: usize = 1024;

/// For `wns`: an app of the Microsoft Store or of the Windows App SDK.
// `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[body(not_printed)]
pub struct WnsCredentials {
    #[body(flatten)]
    pub auth: WnsAuth,
    /// The root of the call for a token; channels at its host are accepted beside those of Microsoft.
    pub endpoint: Option<Endpoint>,
}

/// The keys differ by the kind of app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[serde(tag = "type", rename_all = "snake_case")]
#[body(not_printed, by_keys)]
pub enum WnsAuth {
    /// Of an app of the Windows App SDK.
    #[body(when = ["tenant_id", "client_id"])]
    AppSdk {
        /// Of the directory that the app is registered in: a UUID or a domain.
        #[body(read = tenant_id, length = 1..=CREDENTIAL_CHARS)]
        tenant_id: String,
        /// The id of the app.
        #[body(length = 1..=CREDENTIAL_CHARS)]
        client_id: String,
        /// Its secret.
        #[body(length = 1..=CREDENTIAL_CHARS)]
        client_secret: Credential,
    },
    /// Of an app of the store.
    Store {
        /// Of the app in the store. It begins with `ms-app://`.
        #[body(read = package_sid, length = 1..=CREDENTIAL_CHARS)]
        package_sid: String,
        /// Its secret.
        #[body(length = 1..=CREDENTIAL_CHARS)]
        client_secret: Credential,
    },
}

impl WnsCredentials {
    /// The part that may be shown.
    pub fn view(&self) -> KeyView {
        let (details, secret) = match &self.auth {
            WnsAuth::Store { package_sid, client_secret } => {
                (vec![("package_sid", package_sid.clone())], client_secret)
            }
            WnsAuth::AppSdk { tenant_id, client_id, client_secret } => {
                (vec![("tenant_id", tenant_id.clone()), ("client_id", client_id.clone())], client_secret)
            }
        };
        let parts = details.iter().map(|(_, detail)| detail.as_bytes()).chain([secret.reveal().as_bytes()]);
        KeyView {
            fingerprint: keys::fingerprint(&parts.collect::<Vec<_>>()),
            expires: None,
            endpoint: self.endpoint.as_ref().map(|endpoint| endpoint.url.clone()),
            token_uri: None,
            details,
        }
    }
}

fn package_sid(at: &At<'_>) -> Option<String> {
    let text = at.text(1..=CREDENTIAL_CHARS)?;
    match text.starts_with("ms-app://") {
        true => Some(text),
        false => at.invalid("A package SID begins with ms-app://."),
    }
}

/// The tenant becomes part of a path.
fn tenant_id(at: &At<'_>) -> Option<String> {
    let text = at.text(1..=CREDENTIAL_CHARS)?;
    match text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.')) {
        true => Some(text),
        false => at.invalid("A tenant id is a UUID or a domain, such as contoso.onmicrosoft.com."),
    }
}
