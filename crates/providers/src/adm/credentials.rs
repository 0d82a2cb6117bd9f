//! How an app proves to Amazon that it may send: with the client id and secret of its security profile.

use model::json::body::Body;
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::keys;
use crate::platform::KeyView;

const CREDENTIAL_CHARS: usize = 1024;

/// For `adm`: the security profile of the app.
// `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[body(not_printed)]
pub struct AdmCredentials {
    /// Of the security profile.
    #[body(length = 1..=CREDENTIAL_CHARS)]
    pub client_id: String,
    /// Its secret.
    #[body(length = 1..=CREDENTIAL_CHARS)]
    pub client_secret: Credential,
    /// The root of both calls: for a token, and to send.
    pub endpoint: Option<Endpoint>,
}

impl AdmCredentials {
    /// The part that may be shown.
    pub fn view(&self) -> KeyView {
        KeyView {
            fingerprint: keys::fingerprint(&[self.client_id.as_bytes(), self.client_secret.reveal().as_bytes()]),
            details: vec![("client_id", self.client_id.clone())],
            expires: None,
            endpoint: self.endpoint.as_ref().map(|endpoint| endpoint.url.clone()),
            token_uri: None,
        }
    }
}
