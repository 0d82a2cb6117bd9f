//! How an app proves to Amazon that it may send: with the client id and secret of its security profile.

use model::json::At;
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::{self, Endpoint};
use crate::keys;
use crate::platform::KeyView;

const CREDENTIAL_CHARS: usize = 1024;

/// One way to send to the devices of one app. `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmCredentials {
    pub client_id: String,
    pub client_secret: Credential,
    /// The root of both calls: for a token, and to send.
    pub endpoint: Option<Endpoint>,
}

impl AdmCredentials {
    /// `{"client_id", "client_secret", "endpoint"?}`.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let client_id = fields.required("client_id", |at| at.text(1..=CREDENTIAL_CHARS));
        let client_secret = fields.required("client_secret", |at| at.text(1..=CREDENTIAL_CHARS).map(Credential::new));
        let endpoint = endpoint::optional(&mut fields);
        fields.finish();
        Some(Self { client_id: client_id?, client_secret: client_secret?, endpoint: endpoint? })
    }

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
