//! OAuth for servers: clients that get access tokens for an hour, by a secret or by an assertion that they sign (client
//! credentials). A client is limited as a token for servers is, and so are its access tokens.

mod access_tokens;
mod assertions;
mod keys;

use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::ids::{OperationId, ServerTokenId};
use model::network::Network;
use model::server_token::{NewOauthClient, Scope};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::server_tokens::{ServerToken, TokenKind};

use crate::server_tokens::{self, KnownToken, TokenRef};
use crate::{IdempotencyKey, Tenancy, credentials};

pub(crate) use access_tokens::{AccessTokens, has_shape};
pub use keys::{OAUTH_KEY_PURPOSE, forget as forget_oauth_key, sealed_key as sealed_oauth_key};

/// For how long an access token is good.
const LIFETIME: Duration = Duration::from_secs(60 * 60);

/// A new client and what it proves itself with, which cannot be shown again.
#[derive(Clone, Serialize, Deserialize)]
pub struct CreatedClient {
    pub operation_id: OperationId,
    pub id: ServerTokenId,
    pub secret: Option<String>,
    /// PKCS#8, as PEM.
    pub private_key: Option<String>,
}

/// What a client asks for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// With spaces between them; one is `app:` and the key of an app.
    pub subjects: String,
    pub scopes: Vec<String>,
    pub networks: Vec<String>,
}

/// An access token, as the client gets it.
pub struct AccessToken {
    pub text: String,
    pub expires_in: Duration,
    pub scopes: Vec<Scope>,
}

/// Why there is no access token, in the words of OAuth, and in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRefusal {
    pub error: GrantError,
    pub why: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantError {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    InvalidScope,
    UnauthorizedClient,
    UnsupportedGrantType,
}

impl GrantError {
    pub const fn word(self) -> &'static str {
        match self {
            GrantError::InvalidRequest => "invalid_request",
            GrantError::InvalidClient => "invalid_client",
            GrantError::InvalidGrant => "invalid_grant",
            GrantError::InvalidScope => "invalid_scope",
            GrantError::UnauthorizedClient => "unauthorized_client",
            GrantError::UnsupportedGrantType => "unsupported_grant_type",
        }
    }

    /// The refusal for this reason.
    pub const fn because(self, why: &'static str) -> GrantRefusal {
        GrantRefusal { error: self, why }
    }
}

type Granted<T> = std::result::Result<T, GrantRefusal>;

const NO_CLIENT: GrantRefusal = GrantError::InvalidClient.because("The client or its secret is wrong.");

#[boxed]
impl Tenancy {
    pub async fn create_client(
        &self,
        key: &str,
        new: NewOauthClient,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedClient> {
        let NewOauthClient { limits: new, basic, public_key } = new;
        let now = self.0.clock.now();
        let secret = basic.then(server_tokens::new_secret).transpose()?;
        let (public_key, private_key) = match public_key {
            Some(own) => (own.point().to_vec(), None),
            None => {
                let (public, private) = keys::new_pair()?;
                (public, Some(private))
            }
        };
        let id = ServerTokenId::at(now);
        let row = ServerToken {
            id,
            app: self.app(key).await?.id,
            kind: TokenKind::Client,
            hash: secret.as_deref().map(credentials::hash),
            public_key: Some(public_key),
            prefix: id.to_string(),
            role: new.role,
            expires: self.end_of(&new, now)?,
            name: new.name,
            scopes: new.scopes,
            addresses: new.addresses,
            created: now,
            created_by: String::new(),
            used: None,
        };
        let created = CreatedClient { operation_id: OperationId::at(now), id, secret, private_key };
        self.write_once(row.app, idempotency_key, move |tx| {
            server_tokens::insert(tx, &row)?;
            Ok(created.clone())
        })
        .await
    }

    /// An access token for a client that gives its secret.
    pub async fn grant_by_secret(
        &self,
        client: &str,
        secret: &str,
        asked: Asked,
        issuer: &str,
    ) -> Result<Granted<AccessToken>> {
        let Some(found) = self.client(client).await? else { return Ok(Err(NO_CLIENT)) };
        let given = credentials::hash(secret);
        let is_right = found.row.hash.is_some_and(|kept| credentials::matches(&given, &kept));
        if !is_right {
            return Ok(Err(NO_CLIENT));
        }
        self.grant(&found, asked, issuer).await
    }

    /// The client with an id, if it has not ended.
    async fn client(&self, id: &str) -> Result<Option<std::sync::Arc<KnownToken>>> {
        let Ok(id) = id.parse() else { return Ok(None) };
        let (found, now) = (self.known_token(TokenRef::Id(id)).await?, self.0.clock.now());
        let is_good = |client: &KnownToken| {
            client.row.kind == TokenKind::Client && client.row.expires.is_none_or(|ends| now < ends)
        };
        Ok(found.filter(|client| is_good(client)))
    }

    /// An access token for a client that has proven itself.
    async fn grant(&self, client: &KnownToken, asked: Asked, issuer: &str) -> Result<Granted<AccessToken>> {
        let subject = format!("app:{}", client.app);
        if !asked.subjects.split_whitespace().any(|asked| asked == subject) {
            let why = "The subject must have app: and the key of the app that the client belongs to.";
            return Ok(Err(GrantError::UnauthorizedClient.because(why)));
        }
        let granted = scopes(client.row.scopes.as_deref(), &asked.scopes)
            .and_then(|scopes| networks(&asked.networks).map(|networks| (scopes, networks)));
        let (scopes, networks) = match granted {
            Ok(granted) => granted,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let now = self.0.clock.now();
        let ends = now.plus(LIFETIME).min(client.row.expires.unwrap_or(UtcMillis(i64::MAX)));
        let text = self.sign_access_token(client, scopes.as_deref(), &networks, (now, ends), issuer).await?;
        let expires_in = Duration::from_secs(u64::try_from(ends.seconds() - now.seconds()).unwrap_or(0));
        let scopes = scopes.unwrap_or_else(|| Scope::WORDS.iter().map(|(_, scope)| *scope).collect());
        Ok(Ok(AccessToken { text, expires_in, scopes }))
    }
}

/// The scopes that a client gets; `None` for all, if it is not limited and asks for none.
fn scopes(own: Option<&[Scope]>, asked: &[String]) -> Granted<Option<Vec<Scope>>> {
    if asked.is_empty() {
        return Ok(own.map(<[Scope]>::to_vec));
    }
    let mut granted = Vec::with_capacity(asked.len());
    for word in asked {
        let scope = Scope::from_word(word).filter(|scope| own.is_none_or(|own| own.contains(scope)));
        granted.push(scope.ok_or(GrantError::InvalidScope.because("The client does not have one of the scopes."))?);
    }
    granted.sort_unstable();
    granted.dedup();
    Ok(Some(granted))
}

fn networks(asked: &[String]) -> Granted<Vec<Network>> {
    let network =
        |text: &String| text.parse().map_err(|_| GrantError::InvalidRequest.because(model::network::NETWORK_SHAPE));
    asked.iter().map(network).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_no_scope_that_it_does_not_have() {
        let own = [Scope::Push, Scope::Channels];
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(scopes(Some(&own), &[]), Ok(Some(own.to_vec())));
        assert_eq!(scopes(Some(&own), &words(&["chn", "chn"])), Ok(Some(vec![Scope::Channels])));
        assert_eq!(scopes(None, &[]), Ok(None));
        assert_eq!(scopes(None, &words(&["rpt"])), Ok(Some(vec![Scope::Reports])));
        for asked in [words(&["rpt"]), words(&["psh", "everything"])] {
            assert_eq!(scopes(Some(&own), &asked).unwrap_err().error, GrantError::InvalidScope);
        }
    }
}
