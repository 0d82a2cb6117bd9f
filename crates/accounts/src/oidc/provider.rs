//! The provider as it describes itself: its addresses and its keys, fetched when they are needed and kept for a while.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, StatusCode};
use model::time::UtcMillis;
use parking_lot::Mutex;
use providers::http::Client;
use providers::percent_encoded;
use serde::de::DeserializeOwned;

use super::answers::{Configuration, Keys, Tokens};
use super::id_token::{self, Expected, KeyRefusal};
use super::{Identity, LoginRefusal, Proven};

const KEPT_FOR: Duration = Duration::from_secs(60 * 60);
/// Keys are fetched again for a token whose key is not known, but not more often than this: anybody can name a key.
const NOT_AGAIN_FOR: Duration = Duration::from_secs(10);

pub(super) struct Provider {
    client: Client,
    issuer: String,
    configuration: Mutex<Option<(UtcMillis, Arc<Configuration>)>>,
    keys: Mutex<Option<(UtcMillis, Arc<Keys>)>>,
}

const REFUSED: LoginRefusal = LoginRefusal("The provider did not confirm this login; begin it once more.");

impl Provider {
    pub(super) fn new(client: Client, issuer: String) -> Self {
        Self { client, issuer, configuration: Mutex::default(), keys: Mutex::default() }
    }

    pub(super) async fn configuration(&self, now: UtcMillis) -> Result<Arc<Configuration>> {
        if let Some((since, known)) = &*self.configuration.lock()
            && now < since.plus(KEPT_FOR)
        {
            return Ok(known.clone());
        }
        let url = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let found: Configuration = self.fetch(&url).await?;
        if found.issuer != self.issuer {
            let says = &found.issuer;
            return Err(failed(&format!("it calls itself {says}, and the setting oidc_issuer says {}", self.issuer)));
        }
        let found = Arc::new(found);
        *self.configuration.lock() = Some((now, found.clone()));
        Ok(found)
    }

    /// The id token for the code that a browser has brought.
    pub(super) async fn exchange(
        &self,
        form: &[(&str, &str)],
        (client, secret): (&str, &str),
        now: UtcMillis,
    ) -> Result<Proven<String>> {
        let found = self.configuration(now).await?;
        let body: Vec<String> = form.iter().map(|(name, value)| format!("{name}={}", percent_encoded(value))).collect();
        let credentials = BASE64.encode(format!("{}:{}", percent_encoded(client), percent_encoded(secret)));
        let request = Request::builder()
            .method(Method::POST)
            .uri(&found.token_endpoint)
            .header(AUTHORIZATION, format!("Basic {credentials}"))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json")
            .body(Bytes::from(body.join("&")))
            .map_err(Error::internal)?;
        let answer = self.client.send(request).await.map_err(|error| failed(&error.to_string()))?;
        if [StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED].contains(&answer.status()) {
            tracing::warn!(status = answer.status().as_u16(), "the OpenID provider refused the code of a login");
            return Ok(Err(REFUSED));
        }
        let Tokens { id_token } = read(answer.status(), answer.body())?;
        Ok(Ok(id_token))
    }

    /// Who a token is about, if it is the provider's, for us, and for this login.
    pub(super) async fn identity(
        &self,
        token: &str,
        expected: &Expected<'_>,
        now: UtcMillis,
    ) -> Result<Proven<Identity>> {
        let (since, keys) = self.keys(now, None).await?;
        let checked = match id_token::check(token, &keys, expected, now) {
            // The provider may have another key since.
            Err(KeyRefusal::UnknownKey) if now >= since.plus(NOT_AGAIN_FOR) => {
                let (_, keys) = self.keys(now, Some(since)).await?;
                id_token::check(token, &keys, expected, now)
            }
            checked => checked,
        };
        Ok(checked.map_err(|refusal| {
            tracing::warn!(?refusal, "an id token of the OpenID provider cannot be accepted");
            REFUSED
        }))
    }

    /// The keys and when they were fetched; anew if those of `older` are known not to be enough.
    async fn keys(&self, now: UtcMillis, older: Option<UtcMillis>) -> Result<(UtcMillis, Arc<Keys>)> {
        if let Some((since, known)) = &*self.keys.lock()
            && now < since.plus(KEPT_FOR)
            && older.is_none_or(|older| *since > older)
        {
            return Ok((*since, known.clone()));
        }
        let found = self.configuration(now).await?;
        let keys: Arc<Keys> = Arc::new(self.fetch(&found.jwks_uri).await?);
        *self.keys.lock() = Some((now, keys.clone()));
        Ok((now, keys))
    }

    async fn fetch<T: DeserializeOwned>(&self, url: &str) -> Result<T> {
        let request = Request::builder().uri(url).header(ACCEPT, "application/json").body(Bytes::new());
        let request = request.map_err(|_| failed(&format!("it names {url:?}, which is no address")))?;
        let answer = self.client.send(request).await.map_err(|error| failed(&error.to_string()))?;
        read(answer.status(), answer.body())
    }
}

fn read<T: DeserializeOwned>(status: StatusCode, body: &[u8]) -> Result<T> {
    if !status.is_success() {
        return Err(failed(&format!("it answered {status}")));
    }
    serde_json::from_slice(body).map_err(|error| failed(&format!("its answer cannot be read: {error}")))
}

fn failed(why: &str) -> Error {
    Error::internal(format!("the OpenID provider cannot be used: {why}"))
}
