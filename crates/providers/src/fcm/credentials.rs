//! How an app proves to Firebase that it may send: with the service account file that the operator downloads.

use model::json::At;
use model::json::body::{Body, Read};
use ring::signature::{KeyPair, RsaKeyPair};
use schemars::json_schema;
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::{self, Endpoint, URL_CHARS};
use crate::http::WebUrl;
use crate::keys;
use crate::platform::KeyView;

const NAME_CHARS: usize = 255;
const PEM_CHARS: usize = 64 * 1024;

/// For `fcm`: a service account of the project.
// `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[body(not_printed)]
pub struct FcmCredentials {
    #[serde(flatten)]
    pub service_account: ServiceAccount,
    /// The root of the call to send.
    pub endpoint: Option<Endpoint>,
}

/// The JSON file of a service account, as it was downloaded.
// Google adds keys to the file from time to time, so unused keys are not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[body(not_printed, lenient)]
pub struct ServiceAccount {
    #[serde(skip)]
    #[body(rename = "type")]
    pub kind: ServiceAccountFile,
    #[body(read = project_id, length = 1..=NAME_CHARS)]
    pub project_id: String,
    #[body(length = 1..=NAME_CHARS)]
    pub client_email: String,
    #[body(length = 1..=NAME_CHARS)]
    pub private_key_id: Option<String>,
    /// PEM.
    #[body(read = private_key, length = 1..=PEM_CHARS)]
    pub private_key: Credential,
    /// Where signed assertions are exchanged for access tokens.
    #[body(read = endpoint::web_url, like = String, length = 1..=URL_CHARS)]
    pub token_uri: WebUrl,
}

/// The word that tells the file from those of users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Read)]
#[body(schema = json_schema!({"type": "string", "const": "service_account"}))]
pub struct ServiceAccountFile;

impl FcmCredentials {
    /// The part that may be shown.
    pub fn view(&self) -> KeyView {
        let account = &self.service_account;
        let mut details =
            vec![("project_id", account.project_id.clone()), ("client_email", account.client_email.clone())];
        details.extend(account.private_key_id.clone().map(|id| ("key_id", id)));
        let public = self.signing_key().map(|pair| pair.public_key().clone());
        KeyView {
            fingerprint: keys::fingerprint(&[public.as_ref().map_or(&[], AsRef::as_ref)]),
            details,
            expires: None,
            endpoint: self.endpoint.as_ref().map(|endpoint| endpoint.url.clone()),
            token_uri: Some(account.token_uri.clone()),
        }
    }

    /// The key that signs assertions. Stored keys were proven when they were set.
    pub(crate) fn signing_key(&self) -> Result<RsaKeyPair, String> {
        keys::rsa_key(self.service_account.private_key.reveal())
    }
}

impl ServiceAccountFile {
    fn parse(at: &At<'_>) -> Option<Self> {
        match at.string()? {
            "service_account" => Some(Self),
            other => at.invalid(format!(
                "This file is for '{}'; download the key of a service account.",
                other.chars().take(NAME_CHARS).collect::<String>()
            )),
        }
    }
}

fn private_key(at: &At<'_>) -> Option<Credential> {
    let text = at.text(1..=PEM_CHARS)?;
    match keys::rsa_key(&text) {
        Ok(_) => Some(Credential::new(text)),
        Err(message) => at.invalid(message),
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
