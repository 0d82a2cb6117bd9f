//! How an app proves to Firebase that it may send: with the service account file that the operator downloads.

use model::json::At;
use ring::signature::{KeyPair, RsaKeyPair};
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::{self, Endpoint};
use crate::http::WebUrl;
use crate::keys;
use crate::platform::KeyView;

const NAME_CHARS: usize = 255;
const PEM_CHARS: usize = 64 * 1024;

/// One way to send to the devices of one project. `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FcmCredentials {
    pub project_id: String,
    pub client_email: String,
    pub private_key_id: Option<String>,
    /// PEM.
    pub private_key: Credential,
    /// Where signed assertions are exchanged for access tokens.
    pub token_uri: WebUrl,
    pub endpoint: Option<Endpoint>,
}

/// The fields read from the file.
struct ServiceAccount {
    project_id: String,
    client_email: String,
    private_key_id: Option<String>,
    private_key: Credential,
    token_uri: WebUrl,
}

impl FcmCredentials {
    /// `{"service_account": <the file as it was downloaded>, "endpoint"?}`.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let account = fields.required("service_account", ServiceAccount::parse);
        let endpoint = endpoint::optional(&mut fields);
        fields.finish();
        let ServiceAccount { project_id, client_email, private_key_id, private_key, token_uri } = account?;
        Some(Self { project_id, client_email, private_key_id, private_key, token_uri, endpoint: endpoint? })
    }

    /// The part that may be shown.
    pub fn view(&self) -> KeyView {
        let mut details = vec![("project_id", self.project_id.clone()), ("client_email", self.client_email.clone())];
        details.extend(self.private_key_id.clone().map(|id| ("key_id", id)));
        let public = self.signing_key().map(|pair| pair.public_key().clone());
        KeyView {
            fingerprint: keys::fingerprint(&[public.as_ref().map_or(&[], AsRef::as_ref)]),
            details,
            expires: None,
            endpoint: self.endpoint.as_ref().map(|endpoint| endpoint.url.clone()),
            token_uri: Some(self.token_uri.clone()),
        }
    }

    /// The key that signs assertions. Stored keys were proven when they were set.
    pub(crate) fn signing_key(&self) -> Result<RsaKeyPair, String> {
        keys::rsa_key(self.private_key.reveal())
    }
}

impl ServiceAccount {
    /// Google adds keys to the file from time to time, so unused keys are not checked.
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let kind = fields.required("type", |at| match at.string()? {
            "service_account" => Some(()),
            other => at.invalid(format!(
                "This file is for '{}'; download the key of a service account.",
                other.chars().take(NAME_CHARS).collect::<String>()
            )),
        });
        let project_id = fields.required("project_id", project_id);
        let client_email = fields.required("client_email", |at| at.text(1..=NAME_CHARS));
        let private_key_id = match fields.has("private_key_id") {
            true => fields.optional("private_key_id", |at| at.text(1..=NAME_CHARS)).map(Some),
            false => Some(None),
        };
        let private_key = fields.required("private_key", |at| {
            let text = at.text(1..=PEM_CHARS)?;
            match keys::rsa_key(&text) {
                Ok(_) => Some(Credential::new(text)),
                Err(message) => at.invalid(message),
            }
        });
        let token_uri = fields.required("token_uri", endpoint::web_url);
        kind?;
        Some(Self {
            project_id: project_id?,
            client_email: client_email?,
            private_key_id: private_key_id?,
            private_key: private_key?,
            token_uri: token_uri?,
        })
    }
}

/// The id becomes part of a path.
fn project_id(at: &At<'_>) -> Option<String> {
    let text = at.text(1..=NAME_CHARS)?;
    match text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b':' | b'_')) {
        true => Some(text),
        false => at.invalid("A project id has letters, digits and hyphens only, such as my-app-4e15a."),
    }
}
