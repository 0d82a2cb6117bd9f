//! Access tokens: JSON web tokens (ES384) that the installation signs for a client, and that every node can check. What a
//! token says is limited by what its client may now, so that revoking a client ends its tokens.

use std::collections::HashMap;
use std::sync::Arc;

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use boxed::boxed;
use model::ids::Id;
use model::network::Network;
use model::server_token::Scope;
use model::time::UtcMillis;
use parking_lot::Mutex;
use ring::signature::{ECDSA_P384_SHA384_FIXED, UnparsedPublicKey};
use store::server_tokens::TokenKind;
use tokio::sync::OnceCell;

use super::keys::KeyPair;
use crate::server_tokens::{KnownToken, TokenLimits, TokenRef};
use crate::web_tokens::{AccessClaims, AccessHeader, WebToken};
use crate::{Caller, Refusal, Tenancy, credentials, device_tokens};

pub(super) const ALGORITHM: &str = "ES384";
/// Checking a signature takes most of a millisecond, so that tokens which were found right are remembered. With more of them all
/// are forgotten.
const MOST_REMEMBERED: usize = 10_000;

/// The key of the installation, and the tokens whose signature was right, by their hashes.
#[derive(Default)]
pub(crate) struct AccessTokens {
    pub(super) key: OnceCell<Arc<KeyPair>>,
    right: Mutex<HashMap<[u8; 32], Arc<AccessClaims>>>,
}

/// Whether this is meant to be an access token. Tokens of devices have the same form and another header.
pub(crate) fn has_shape(token: &str) -> bool {
    token.contains('.') && !device_tokens::has_header(token)
}

#[boxed]
impl Tenancy {
    pub(super) async fn sign_access_token(
        &self,
        client: &KnownToken,
        scopes: Option<&[Scope]>,
        networks: &[Network],
        (now, ends): (UtcMillis, UtcMillis),
        issuer: &str,
    ) -> Result<String> {
        let key = self.oauth_key().await?;
        let words = |scopes: &[Scope]| scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>().join(" ");
        let header = AccessHeader { alg: ALGORITHM.to_owned(), kid: key.id.clone(), typ: "JWT".to_owned() };
        let claims = AccessClaims {
            iss: issuer.to_owned(),
            sub: format!("app:{}", client.app),
            client_id: client.row.id,
            scope: scopes.map(words),
            ipaddr: networks.iter().map(Network::to_string).collect(),
            iat: now.seconds(),
            exp: ends.seconds(),
            jti: Id::<()>::random().to_string(),
        };
        let part =
            |text: serde_json::Result<Vec<u8>>| text.map(|text| BASE64_URL.encode(text)).map_err(Error::internal);
        let signed = format!("{}.{}", part(serde_json::to_vec(&header))?, part(serde_json::to_vec(&claims))?);
        Ok(format!("{signed}.{}", BASE64_URL.encode(key.sign(&signed)?)))
    }

    pub(crate) async fn authenticate_access_token(
        &self,
        token: &str,
        app_key: Option<&str>,
    ) -> Result<Result<Caller, Refusal>> {
        let Some(claims) = self.signed_claims(token).await? else { return Ok(Err(Refusal::Wrong)) };
        let found = self.known_token(TokenRef::Id(claims.client_id)).await?;
        let Some(client) = found.filter(|found| found.row.kind == TokenKind::Client) else {
            return Ok(Err(Refusal::Wrong));
        };
        if claims.sub != format!("app:{}", client.app) {
            return Ok(Err(Refusal::Wrong));
        }
        let Some(limits) = limits(&client, &claims) else { return Ok(Err(Refusal::Wrong)) };
        self.caller_with_token(&client, Arc::new(limits), app_key).await
    }

    /// What a token says, if the installation has signed it.
    async fn signed_claims(&self, token: &str) -> Result<Option<Arc<AccessClaims>>> {
        let hash = credentials::hash(token);
        if let Some(known) = self.0.access_tokens.right.lock().get(&hash) {
            return Ok(Some(known.clone()));
        }
        let key = self.oauth_key().await?;
        let Some(claims) = check(token, &key).map(Arc::new) else { return Ok(None) };
        let mut right = self.0.access_tokens.right.lock();
        if right.len() >= MOST_REMEMBERED {
            right.clear();
        }
        right.insert(hash, claims.clone());
        Ok(Some(claims))
    }
}

fn check(token: &str, key: &KeyPair) -> Option<AccessClaims> {
    let token = WebToken::new(token)?;
    let header: AccessHeader = token.header()?;
    // The token does not choose how it is checked.
    if header.alg != ALGORITHM || header.kid != key.id {
        return None;
    }
    let public = UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, key.public());
    public.verify(token.signed.as_bytes(), &token.signature()?).ok()?;
    token.claims()
}

/// What the bearer may do: what the client may now, and of that what the token says. `None` for limits that cannot be read.
fn limits(client: &KnownToken, claims: &AccessClaims) -> Option<TokenLimits> {
    let own = &client.limits;
    let said: Option<Vec<Scope>> = match &claims.scope {
        Some(words) => Some(words.split_whitespace().map(Scope::from_word).collect::<Option<_>>()?),
        None => None,
    };
    let scopes = match (&own.scopes, said) {
        (None, said) => said,
        (Some(own), None) => Some(own.clone()),
        (Some(own), Some(said)) => Some(said.into_iter().filter(|scope| own.contains(scope)).collect()),
    };
    let networks: Vec<Network> = claims.ipaddr.iter().map(|text| text.parse().ok()).collect::<Option<_>>()?;
    let mut addresses = own.addresses.clone();
    addresses.extend((!networks.is_empty()).then_some(networks));
    let expires = Some(UtcMillis(claims.exp.saturating_mul(1000)));
    Some(TokenLimits { id: own.id, role: own.role, scopes, addresses, expires, credential: own.credential.clone() })
}
