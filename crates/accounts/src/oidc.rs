//! Logging in by an OpenID provider: the code flow with PKCE. What a browser has to bring back (`state`, `nonce` and the
//! verifier) is in a sealed cookie, so that nothing is kept for logins that nobody finishes.

mod answers;
mod id_token;
mod provider;
mod sign_in;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use boxed::boxed;
use model::account::{Email, Role};
use model::app::AppKey;
use model::time::Clock;
use providers::Trust;
use providers::http::{AddressPolicy, Client, Timeouts};
use providers::percent_encoded;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tenancy::SealKey;

use crate::{Accounts, links};
use provider::Provider;

pub use sign_in::ProviderSignIn;

/// For how long somebody may be at the provider.
pub const LOGIN_LASTS: Duration = Duration::from_secs(5 * 60);
const PURPOSE: &str = "a login by the provider";

/// The provider, and what its groups may do.
#[derive(Clone)]
pub struct OidcSettings {
    /// As the provider calls itself: where its configuration is found, and what its tokens say.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: String,
    /// Roles by groups. Without any, roles are those that teams give.
    pub groups: Vec<GroupRole>,
    /// Whether the provider may be on this machine or network.
    pub allow_private_addresses: bool,
    /// Which certificates it may have.
    pub trust: Trust,
}

/// What the members of a group may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRole {
    pub group: String,
    pub grant: Grant,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Everything.
    Owner,
    InApp(AppKey, Role),
}

impl GroupRole {
    /// `push-senders=sender:<app key>` or `push-owners=owner`.
    pub fn parse(text: &str) -> Option<Self> {
        let (group, grant) = text.rsplit_once('=')?;
        let grant = match grant.split_once(':') {
            None if grant == "owner" => Grant::Owner,
            Some((role, app)) => Grant::InApp(AppKey::new(app)?, Role::from_word(role)?),
            None => return None,
        };
        (!group.is_empty()).then(|| Self { group: group.to_owned(), grant })
    }
}

impl fmt::Debug for OidcSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OidcSettings")
            .field("issuer", &self.issuer)
            .field("groups", &self.groups)
            .finish_non_exhaustive()
    }
}

/// The provider; clones share what is known of it.
#[derive(Clone)]
pub struct Oidc(Arc<Parts>);

struct Parts {
    settings: OidcSettings,
    provider: Provider,
    clock: Clock,
    seal_key: SealKey,
}

/// A login that has begun: where the browser goes, and what it brings back.
pub struct BegunLogin {
    pub url: String,
    /// For a cookie.
    pub sealed: String,
}

/// What the provider says about somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub(crate) issuer: String,
    pub(crate) subject: String,
    /// Only if the provider has verified it.
    pub(crate) email: Option<Email>,
    pub(crate) name: Option<String>,
    pub(crate) groups: Vec<String>,
}

/// Why a login by the provider came to nothing, as a sentence for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginRefusal(pub &'static str);

pub(crate) type Proven<T> = std::result::Result<T, LoginRefusal>;

/// What is in the cookie.
#[derive(Serialize, Deserialize)]
struct Kept {
    state: String,
    nonce: String,
    verifier: String,
    next: String,
    /// Where the provider sends the browser back to.
    back: String,
    ends: i64,
}

/// A login that a browser comes back from.
pub struct Returned<'r> {
    pub sealed: &'r str,
    pub state: &'r str,
    pub code: &'r str,
}

const LATE: LoginRefusal =
    LoginRefusal("This login took too long, or was begun in another browser; begin it once more.");

#[boxed]
impl Oidc {
    pub fn new(accounts: &Accounts, settings: OidcSettings) -> Self {
        let policy = AddressPolicy { allow_private: settings.allow_private_addresses };
        let (clock, seal_key) = (accounts.0.clock.clone(), accounts.0.seal_key.clone());
        let provider =
            Provider::new(Client::trusting(&settings.trust, policy, Timeouts::default()), settings.issuer.clone());
        // Owners who log in by it can do so from now on; a process has one provider.
        accounts.0.provider.get_or_init(|| settings.issuer.clone());
        Self(Arc::new(Parts { settings, provider, clock, seal_key }))
    }

    /// Begins a login. `back` is the address of the page that finishes it, and `next` the page that is shown after it.
    pub async fn begin(&self, back: &str, next: &str) -> Result<BegunLogin> {
        let Parts { settings, provider, clock, seal_key } = &*self.0;
        let now = clock.now();
        let found = provider.configuration(now).await?;
        let (state, nonce, verifier) = (links::new_secret()?, links::new_secret()?, links::new_secret()?);
        let challenge = BASE64_URL.encode(digest(&SHA256, verifier.as_bytes()));
        let scope = if found.has_scope("groups") { "openid email profile groups" } else { "openid email profile" };
        let parameters = [
            ("response_type", "code"),
            ("client_id", &settings.client_id),
            ("redirect_uri", back),
            ("scope", scope),
            ("state", &state),
            ("nonce", &nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let mut url = found.authorization_endpoint.clone();
        for (name, value) in parameters {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&format!("{name}={}", percent_encoded(value)));
        }
        let (next, back, ends) = (next.to_owned(), back.to_owned(), now.plus(LOGIN_LASTS).0);
        let kept = Kept { state, nonce, verifier, next, back, ends };
        let text = serde_json::to_string(&kept).map_err(Error::internal)?;
        Ok(BegunLogin { url, sealed: seal_key.seal(PURPOSE, &text)? })
    }

    /// Finishes a login: who it is, and the page that the person wanted.
    pub async fn finish(&self, returned: Returned<'_>) -> Result<Proven<(Identity, String)>> {
        let Parts { settings, provider, clock, seal_key } = &*self.0;
        let now = clock.now();
        let opened = seal_key.open(PURPOSE, returned.sealed).ok();
        let kept: Option<Kept> = opened.and_then(|text| serde_json::from_str(&text).ok());
        let Some(kept) = kept.filter(|kept| now.0 < kept.ends) else { return Ok(Err(LATE)) };
        if !bool::from(kept.state.as_bytes().ct_eq(returned.state.as_bytes())) {
            return Ok(Err(LATE));
        }
        let form = [
            ("grant_type", "authorization_code"),
            ("code", returned.code),
            ("redirect_uri", &kept.back),
            ("code_verifier", &kept.verifier),
        ];
        let credentials = (settings.client_id.as_str(), settings.client_secret.as_str());
        let token = match provider.exchange(&form, credentials, now).await? {
            Ok(token) => token,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let expected =
            id_token::Expected { issuer: &settings.issuer, client_id: &settings.client_id, nonce: &kept.nonce };
        Ok(provider.identity(&token, &expected, now).await?.map(|identity| (identity, kept.next)))
    }

    pub(crate) fn groups(&self) -> &[GroupRole] {
        &self.0.settings.groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_given_roles_or_everything() {
        let key = "AbCdEfGhIjKlMnOpQrStUv";
        let in_app = Grant::InApp(AppKey::new(key).unwrap(), Role::Sender);
        let parsed = GroupRole::parse(&format!("cn=push,ou=all=sender:{key}")).unwrap();
        assert_eq!(parsed, GroupRole { group: "cn=push,ou=all".to_owned(), grant: in_app });
        assert_eq!(GroupRole::parse("admins=owner").unwrap().grant, Grant::Owner);
        for wrong in ["", "admins", "=owner", "a=sender", "a=king:AbCdEfGhIjKlMnOpQrStUv", "a=sender:short"] {
            assert_eq!(GroupRole::parse(wrong), None, "{wrong}");
        }
    }
}
