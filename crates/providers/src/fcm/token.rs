//! Access tokens for Firebase: a statement signed with the key of the service account is exchanged for one.

use std::time::Duration;

use http::HeaderValue;
use model::time::UtcMillis;
use serde::Serialize;

use super::FcmCredentials;
use crate::http::{Client, WebUrl};
use crate::jwt::{Signer, SigningKey};
use crate::oauth;
use crate::outcome::Outcome;
use crate::token::{Token, TokenCache};

const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// The longest that Google accepts.
const LIFETIME: Duration = Duration::from_secs(60 * 60);

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    scope: &'a str,
    aud: &'a str,
    iat: i64,
    exp: i64,
}

/// Fetches for one service account.
pub(super) struct AccessToken {
    /// The error is a sentence: the key was proven when it was set, so this is about a damaged one.
    signer: Result<Signer, String>,
    client_email: String,
    token_uri: WebUrl,
    http: Client,
    cache: TokenCache,
}

impl AccessToken {
    pub(super) fn new(credentials: &FcmCredentials, http: Client) -> Self {
        let account = &credentials.service_account;
        let signer = |key| Signer::new(SigningKey::Rs256(key), account.private_key_id.clone());
        Self {
            signer: credentials.signing_key().map(signer),
            client_email: account.client_email.clone(),
            token_uri: account.token_uri.clone(),
            http,
            cache: TokenCache::default(),
        }
    }

    pub(super) async fn header(&self, now: UtcMillis) -> Result<HeaderValue, Outcome> {
        self.cache.get(now, async || self.fetch(now).await).await
    }

    pub(super) fn refused(&self, header: &HeaderValue) {
        self.cache.discard(header);
    }

    async fn fetch(&self, now: UtcMillis) -> Result<Token, Outcome> {
        let unauthorized = |reason: String| Outcome::Unauthorized { reason };
        let claims = Claims {
            iss: &self.client_email,
            scope: SCOPE,
            aud: &self.token_uri.to_string(),
            iat: now.seconds(),
            exp: now.plus(LIFETIME).seconds(),
        };
        let signer = self.signer.as_ref().map_err(|reason| unauthorized(reason.clone()))?;
        let assertion = signer.sign(&claims).map_err(unauthorized)?;
        let form = [("grant_type", GRANT), ("assertion", &assertion)];
        oauth::fetch(&self.http, self.token_uri.uri().clone(), &form, now).await
    }
}
