//! Tokens that the service gives to devices: each speaks for one channel or one contact, for a day.
//!
//! They have the form of JSON web tokens and are signed with a key that follows from that of the installation and from the
//! app secret: replacing the secret ends them, at once or when the replaced one ends. Devices only hand them back.

mod parts;

use std::time::Duration;

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use boxed::boxed;
use model::ids::{ChannelId, ContactId};
use model::time::UtcMillis;
use store::apps::App;

use self::parts::{Claims, HEADER, Subject, take_apart};
use crate::callers::KnownApp;
use crate::{Caller, KnownBy, Refusal, Rights, Tenancy};

const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
const PURPOSE: &str = "device token";

/// A new token.
pub struct DeviceToken {
    pub text: String,
    pub expires_in: Duration,
}

/// Whether this is meant to be one of our tokens. Signatures of devices have no dots.
pub(crate) fn has_shape(token: &str) -> bool {
    token.contains('.')
}

/// Whether a token has the header of ours, which no other kind of token has.
pub(crate) fn has_header(token: &str) -> bool {
    token.trim_start().strip_prefix(HEADER).is_some_and(|rest| rest.starts_with('.'))
}

#[boxed]
impl Tenancy {
    pub async fn channel_token(&self, app: &App, channel: ChannelId) -> Result<DeviceToken> {
        self.device_token(app, Subject::Channel(channel)).await
    }

    pub async fn contact_token(&self, app: &App, contact: ContactId) -> Result<DeviceToken> {
        self.device_token(app, Subject::Contact(contact)).await
    }

    /// The caller with a token of a channel that is good now, and when the token ends.
    pub async fn caller_by_token(&self, token: &str) -> Result<Option<(Caller, UtcMillis)>> {
        let caller = self.authenticate_device_token(token).await?.ok();
        Ok(caller.and_then(|caller| Some((caller, token_end(token)?))))
    }

    /// As long as a replaced secret is good, tokens are signed by it and end with it, whoever asks: by the current one, a token
    /// that somebody gets with a stolen former secret would outlive that secret. Devices are told when, and ask again then.
    async fn device_token(&self, app: &App, sub: Subject) -> Result<DeviceToken> {
        let known = self.known_app(app.key.as_str()).await?.ok_or(Error::NotFound("app"))?;
        let now = self.0.clock.now();
        let (secret, expires_in) = match known.formers.app(now) {
            Some(former) => (&former.hash, Duration::from_millis(former.ends.0.abs_diff(now.0)).min(LIFETIME)),
            None => (&known.hashes.app, LIFETIME),
        };
        let exp = now.plus(expires_in).seconds();
        let claims = serde_json::to_vec(&Claims { app: app.key.clone(), sub, exp }).map_err(Error::internal)?;
        let signed = format!("{HEADER}.{}", BASE64_URL.encode(claims));
        let signature = BASE64_URL.encode(self.0.seal_key.sign(&purpose(&known, secret), &signed));
        Ok(DeviceToken { text: format!("{signed}.{signature}"), expires_in })
    }

    pub(crate) async fn authenticate_device_token(&self, token: &str) -> Result<Result<Caller, Refusal>> {
        let Some((signed, signature, claims)) = take_apart(token) else { return Ok(Err(Refusal::Wrong)) };
        let Some(known) = self.known_app(claims.app.as_str()).await? else { return Ok(Err(Refusal::Wrong)) };
        let now = self.0.clock.now();
        let has_signed = |hash: &[u8; 32]| self.0.seal_key.has_signed(&purpose(&known, hash), signed, &signature);
        let former = known.formers.app(now).map(|former| former.hash);
        // A connection that it has opened ends with the secret that it was signed by.
        let Some(secret) = [Some(known.hashes.app), former].into_iter().flatten().find(|hash| has_signed(hash)) else {
            return Ok(Err(Refusal::Wrong));
        };
        if now.seconds() >= claims.exp {
            return Ok(Err(Refusal::Expired));
        }
        let rights = match claims.sub {
            Subject::Channel(channel) => Rights::Channel(channel),
            Subject::Contact(contact) => Rights::Contact(contact),
        };
        Ok(Ok(Caller::by_secret(&known, rights, KnownBy::Token, secret)))
    }
}

/// When a token ends, which has to be proven elsewhere; `None` for credentials that are no token of ours.
pub fn token_end(token: &str) -> Option<UtcMillis> {
    let (_, _, claims) = take_apart(token)?;
    Some(UtcMillis(claims.exp.saturating_mul(1000)))
}

/// Another secret, or another app under the same key, makes it another purpose.
fn purpose(known: &KnownApp, app_secret: &[u8; 32]) -> String {
    format!("{PURPOSE} {} {}", known.app.id.0, BASE64_URL.encode(app_secret))
}
