//! Settings about the OpenID provider by which people may log in to the console.

use std::fmt;
use std::str::FromStr;

use accounts::{GroupRole, OidcSettings};
use clap::Args;
use providers::Trust;

use super::{HEADING, Unusable};

/// The provider, and what its groups may do.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Oidc {
    /// OpenID provider by which people may log in to the console, as it calls itself, such as https://login.example.com
    #[arg(long, value_name = "URL", value_parser = issuer)]
    oidc_issuer: Option<String>,

    /// Id of this installation at the provider
    #[arg(long, value_name = "ID")]
    oidc_client_id: Option<String>,

    /// Secret of this installation at the provider
    #[arg(long, value_name = "SECRET", allow_hyphen_values = true)]
    oidc_client_secret: Option<ClientSecret>,

    /// Roles of the provider's groups, such as push-senders=sender:APPKEY,push-owners=owner; without them teams give the roles
    #[arg(long, value_name = "GROUPS", value_delimiter = ',', value_parser = group)]
    oidc_groups: Vec<GroupRole>,
}

// `Debug` never prints it.
#[derive(Clone)]
struct ClientSecret(String);

impl FromStr for ClientSecret {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_secret = !text.is_empty() && !text.contains(char::is_control);
        is_secret.then(|| Self(text.to_owned())).ok_or("A secret is a text without control characters.")
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSecret(…)")
    }
}

impl Oidc {
    pub(crate) fn settings(
        &self,
        allow_private_addresses: bool,
        trust: &Trust,
    ) -> Result<Option<OidcSettings>, Unusable> {
        match (&self.oidc_issuer, &self.oidc_client_id, &self.oidc_client_secret) {
            (None, None, None) if self.oidc_groups.is_empty() => Ok(None),
            (Some(issuer), Some(client_id), Some(ClientSecret(secret))) => {
                if issuer.starts_with("http:") && !allow_private_addresses {
                    let why = "The setting oidc_issuer must begin with https:, unless private addresses are allowed.";
                    return Err(Unusable(why.to_owned()));
                }
                Ok(Some(OidcSettings {
                    issuer: issuer.clone(),
                    client_id: client_id.clone(),
                    client_secret: secret.clone(),
                    groups: self.oidc_groups.clone(),
                    allow_private_addresses,
                    trust: trust.clone(),
                }))
            }
            _ => {
                let why = "The settings oidc_issuer, oidc_client_id and oidc_client_secret go together, and oidc_groups needs them.";
                Err(Unusable(why.to_owned()))
            }
        }
    }
}

fn issuer(text: &str) -> Result<String, &'static str> {
    let has_scheme =
        ["https://", "http://"].iter().any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.contains(['?', '#']);
    (has_scheme && is_plain).then(|| text.to_owned()).ok_or("It must be a URL, such as https://login.example.com.")
}

fn group(text: &str) -> Result<GroupRole, &'static str> {
    GroupRole::parse(text.trim()).ok_or("A group has a role: GROUP=ROLE:APPKEY, or GROUP=owner.")
}
