//! How an app proves to Microsoft that it may send: as an app of the Microsoft Store, or as one of the Windows App SDK.

use model::json::{At, Fields};
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::{self, Endpoint};
use crate::keys;
use crate::platform::KeyView;

const CREDENTIAL_CHARS: usize = 1024;

/// One way to send to the devices of one app. `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WnsCredentials {
    pub auth: WnsAuth,
    /// The root of the call for a token; channels at its host are accepted beside those of Microsoft.
    pub endpoint: Option<Endpoint>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WnsAuth {
    Store { package_sid: String, client_secret: Credential },
    AppSdk { tenant_id: String, client_id: String, client_secret: Credential },
}

impl WnsCredentials {
    /// `{"package_sid", "client_secret"}` or `{"tenant_id", "client_id", "client_secret"}`, with `{"endpoint"?}`.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let auth = match fields.has("tenant_id") || fields.has("client_id") {
            true => app_sdk(&mut fields),
            false => store(&mut fields),
        };
        let endpoint = endpoint::optional(&mut fields);
        fields.finish();
        Some(Self { auth: auth?, endpoint: endpoint? })
    }

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

fn store(fields: &mut Fields<'_>) -> Option<WnsAuth> {
    let package_sid = fields.required("package_sid", |at| {
        let text = at.text(1..=CREDENTIAL_CHARS)?;
        match text.starts_with("ms-app://") {
            true => Some(text),
            false => at.invalid("A package SID begins with ms-app://."),
        }
    });
    let client_secret = fields.required("client_secret", secret);
    Some(WnsAuth::Store { package_sid: package_sid?, client_secret: client_secret? })
}

fn app_sdk(fields: &mut Fields<'_>) -> Option<WnsAuth> {
    let tenant_id = fields.required("tenant_id", tenant_id);
    let client_id = fields.required("client_id", |at| at.text(1..=CREDENTIAL_CHARS));
    let client_secret = fields.required("client_secret", secret);
    Some(WnsAuth::AppSdk { tenant_id: tenant_id?, client_id: client_id?, client_secret: client_secret? })
}

fn secret(at: &At<'_>) -> Option<Credential> {
    at.text(1..=CREDENTIAL_CHARS).map(Credential::new)
}

/// The tenant becomes part of a path.
fn tenant_id(at: &At<'_>) -> Option<String> {
    let text = at.text(1..=CREDENTIAL_CHARS)?;
    match text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.')) {
        true => Some(text),
        false => at.invalid("A tenant id is a UUID or a domain, such as contoso.onmicrosoft.com."),
    }
}
