//! The identification of the sender to push services (RFC 8292): a signed token per service, valid for half a day and for all its
//! browsers.

use std::time::Duration;

use http::HeaderValue;
use model::time::UtcMillis;
use serde::Serialize;

use super::WebPushCredentials;
use crate::jwt::{Signer, SigningKey};
use crate::token::Token;

/// Services accept up to 24 hours.
const LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// Clocks differ, and a token is used until it is renewed.
const MARGIN: Duration = Duration::from_secs(60 * 60);

/// Signs for one app.
pub(super) struct Vapid {
    /// The error is a sentence: the key was proven when it was set, so this is about a damaged one.
    signer: Result<Signer, String>,
    public_key: String,
    subject: String,
}

#[derive(Serialize)]
struct Claims<'a> {
    aud: &'a str,
    exp: i64,
    sub: &'a str,
}

impl Vapid {
    pub(super) fn new(credentials: &WebPushCredentials) -> Self {
        Self {
            signer: credentials.signing_key().map(|key| Signer::new(SigningKey::Es256(key), None)),
            public_key: credentials.public_key.clone(),
            subject: credentials.subject.clone(),
        }
    }

    /// The header for every message to one service, whose origin is `audience`. The error is a sentence.
    pub(super) fn token(&self, audience: &str, now: UtcMillis) -> Result<Token, String> {
        let expires_at = now.plus(LIFETIME);
        let claims = Claims { aud: audience, exp: expires_at.seconds(), sub: &self.subject };
        let jwt = self.signer.as_ref().map_err(String::clone)?.sign(&claims)?;
        let header = HeaderValue::try_from(format!("vapid t={jwt},k={}", self.public_key))
            .map_err(|_| "The public key of the platform is damaged.".to_owned())?;
        Ok(Token { header, renew_at: expires_at.minus(MARGIN), expires_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credential::Credential;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::{Value, json};

    const NOW: UtcMillis = UtcMillis(1_714_564_800_000);

    #[test]
    fn a_signed_token_with_the_key_that_browsers_subscribed_with() {
        let credentials = WebPushCredentials::generate("mailto:push@example.com".to_owned()).unwrap();
        let token = Vapid::new(&credentials).token("https://push.example", NOW).unwrap();
        assert_eq!(token.renew_at, NOW.plus(Duration::from_secs(11 * 3600)));

        let header = token.header.to_str().unwrap();
        let (jwt, key) = header.strip_prefix("vapid t=").unwrap().split_once(",k=").unwrap();
        assert_eq!(key, credentials.public_key);
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let (signed, signature) = jwt.rsplit_once('.').unwrap();
        let public_key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(key));
        public_key.verify(signed.as_bytes(), &decode(signature)).unwrap();
        let claims: Value = serde_json::from_slice(&decode(signed.split_once('.').unwrap().1)).unwrap();
        let expected = json!({
            "aud": "https://push.example", "exp": NOW.seconds() + 12 * 3600, "sub": "mailto:push@example.com",
        });
        assert_eq!(claims, expected);
    }

    #[test]
    fn a_damaged_key_signs_nothing() {
        let mut credentials = WebPushCredentials::generate("mailto:push@example.com".to_owned()).unwrap();
        credentials.private_key = Credential::new("AAAA");
        assert!(Vapid::new(&credentials).token("https://push.example", NOW).is_err());
    }
}
