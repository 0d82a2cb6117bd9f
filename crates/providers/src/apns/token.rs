//! The token that goes with every message to Apple when an app has a signing key: signed by us, and seldom.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use http::HeaderValue;
use model::time::UtcMillis;
use ring::signature::EcdsaKeyPair;
use serde::Serialize;

use crate::jwt::{Signer, SigningKey};
use crate::outcome::Outcome;
use crate::token::{Token, TokenCache};

/// Apple takes a token for an hour.
const LIFETIME: Duration = Duration::from_secs(60 * 60);
const RENEWAL: Duration = Duration::from_secs(50 * 60);
/// Apple locks out senders that sign more often.
const SHORTEST: Duration = Duration::from_secs(20 * 60);

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    iat: i64,
}

/// Signs for one team with one key.
pub(super) struct ProviderToken {
    /// The error is a sentence: the key was proven when it was set, so this is about a damaged one.
    signer: Result<Signer, String>,
    team_id: String,
    cache: TokenCache,
    /// The time in the current token, in milliseconds.
    issued: AtomicI64,
    /// A clock that is far behind makes tokens that are old when they are new; then the time is taken as it is.
    is_behind: AtomicBool,
}

impl ProviderToken {
    pub(super) fn new(team_id: String, key_id: String, key: Result<EcdsaKeyPair, String>) -> Self {
        Self {
            signer: key.map(|key| Signer::new(SigningKey::Es256(key), Some(key_id))),
            team_id,
            cache: TokenCache::default(),
            issued: AtomicI64::new(0),
            is_behind: AtomicBool::new(false),
        }
    }

    pub(super) async fn header(&self, now: UtcMillis) -> Result<HeaderValue, Outcome> {
        self.cache.get(now, async || self.sign(now)).await
    }

    /// Apple finds the token too old. `true`: there will be another one. A young token means that the clock is wrong, which no
    /// other token would change.
    pub(super) fn expired(&self, refused: &HeaderValue, now: UtcMillis) -> bool {
        // Of the many messages under way with an old token the first to be refused replaces it; the others come back later.
        if !self.cache.is_current(refused) {
            return true;
        }
        let is_old = now.0.saturating_sub(self.issued.load(Ordering::Relaxed)) >= millis(SHORTEST);
        if is_old {
            self.is_behind.store(true, Ordering::Relaxed);
            self.cache.discard(refused);
        }
        is_old
    }

    fn sign(&self, now: UtcMillis) -> Result<Token, Outcome> {
        let unauthorized = |reason: String| Outcome::Unauthorized { reason };
        let issued = if self.is_behind.load(Ordering::Relaxed) { now } else { period(now) };
        let signer = self.signer.as_ref().map_err(|reason| unauthorized(reason.clone()))?;
        let jwt = signer.sign(&Claims { iss: &self.team_id, iat: issued.seconds() }).map_err(unauthorized)?;
        let header = HeaderValue::try_from(format!("bearer {jwt}"))
            .map_err(|_| unauthorized("The key id or the team id is damaged.".to_owned()))?;
        self.issued.store(issued.0, Ordering::Relaxed);
        Ok(Token { header, renew_at: issued.plus(RENEWAL), expires_at: issued.plus(LIFETIME) })
    }
}

/// The start of the period that an instant is in. All nodes and all restarts within a period state the same time, so that
/// together they do not seem to renew too often.
fn period(now: UtcMillis) -> UtcMillis {
    UtcMillis(now.0 - now.0.rem_euclid(millis(RENEWAL)))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webpush::WebPushCredentials;

    #[tokio::test]
    async fn late_refusals_of_a_replaced_token_say_nothing_about_the_new_one() {
        let key = WebPushCredentials::generate("mailto:push@example.com".to_owned()).unwrap().signing_key();
        let token = ProviderToken::new("TEAM567890".to_owned(), "KEY4567890".to_owned(), key);
        let now = UtcMillis(millis(RENEWAL) * 571_000).plus(Duration::from_secs(30 * 60));
        let first = token.header(now).await.unwrap();
        assert!(token.expired(&first, now));
        assert!(token.expired(&first, now), "the first one is gone, and the second one not yet made");
        let second = token.header(now).await.unwrap();
        assert!(token.expired(&first, now), "the second one is worth a try");
        assert_eq!(token.header(now).await.unwrap(), second);
        assert!(!token.expired(&second, now), "another one would be as young");
    }
}
