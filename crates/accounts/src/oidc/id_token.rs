//! The tokens in which a provider says who somebody is, and the keys that sign them. The algorithm of a token has to be one of
//! three, and its key of the kind for it, so that a token cannot choose how it is checked.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use model::account::Email;
use model::time::UtcMillis;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use subtle::ConstantTimeEq;

use super::Identity;
use super::answers::{Algorithm, Claims, IdToken, Key, Keys, OneOrMany};

/// How far the clocks of the provider and of the service may be apart.
const SKEW_SECONDS: f64 = 60.0;
const MOST_SUBJECT_CHARS: usize = 255;
const MOST_NAME_CHARS: usize = model::limits::DISPLAY_NAME_CHARS;
const MOST_GROUPS: usize = 1000;

/// What a token has to say.
pub(super) struct Expected<'e> {
    pub(super) issuer: &'e str,
    pub(super) client_id: &'e str,
    pub(super) nonce: &'e str,
}

/// Why a token is not accepted, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyRefusal {
    Malformed,
    /// Not RS256, ES256 or EdDSA.
    Algorithm,
    UnknownKey,
    Signature,
    Issuer,
    Audience,
    Expired,
    Nonce,
}

pub(super) fn check(token: &str, keys: &Keys, expected: &Expected<'_>, now: UtcMillis) -> Result<Identity, KeyRefusal> {
    let token = IdToken::new(token).ok_or(KeyRefusal::Malformed)?;
    let algorithm = Algorithm::of(&token.header.alg).ok_or(KeyRefusal::Algorithm)?;
    let key = keys.find(algorithm, token.header.kid.as_deref()).ok_or(KeyRefusal::UnknownKey)?;
    let signature = token.signature().ok_or(KeyRefusal::Malformed)?;
    key.verify(algorithm, token.signed.as_bytes(), &signature).ok_or(KeyRefusal::Signature)?;
    let claims = token.claims().ok_or(KeyRefusal::Malformed)?;
    claims.check(expected, now)
}

impl Key {
    fn verify(&self, algorithm: Algorithm, text: &[u8], signature: &[u8]) -> Option<()> {
        let bytes = |field: &Option<String>| BASE64_URL.decode(field.as_deref()?).ok();
        match algorithm {
            Algorithm::Rs256 => {
                let key = RsaPublicKeyComponents { n: bytes(&self.n)?, e: bytes(&self.e)? };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, text, signature).ok()
            }
            Algorithm::Es256 => {
                let point = [&[4][..], &bytes(&self.x)?, &bytes(&self.y)?].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(text, signature).ok()
            }
            Algorithm::EdDsa => UnparsedPublicKey::new(&ED25519, bytes(&self.x)?).verify(text, signature).ok(),
        }
    }
}
impl Claims {
    fn check(self, expected: &Expected<'_>, now: UtcMillis) -> Result<Identity, KeyRefusal> {
        if self.iss != expected.issuer {
            return Err(KeyRefusal::Issuer);
        }
        let audience = self.aud.into_vec();
        let is_for_us = audience.iter().any(|audience| audience == expected.client_id);
        let by_us = self.azp.as_deref().map_or(audience.len() == 1, |party| party == expected.client_id);
        if !is_for_us || !by_us {
            return Err(KeyRefusal::Audience);
        }
        let seconds = now.seconds() as f64;
        if self.exp <= seconds || self.iat > seconds + SKEW_SECONDS {
            return Err(KeyRefusal::Expired);
        }
        if !bool::from(self.nonce.as_bytes().ct_eq(expected.nonce.as_bytes())) {
            return Err(KeyRefusal::Nonce);
        }
        if self.sub.is_empty() || self.sub.chars().count() > MOST_SUBJECT_CHARS || self.sub.contains(char::is_control) {
            return Err(KeyRefusal::Malformed);
        }
        // Some providers write a word instead of a boolean.
        let is_verified = self.email_verified.is_some_and(|said| said == true || said == "true");
        let name =
            self.name.map(|name| name.chars().filter(|c| !c.is_control()).take(MOST_NAME_CHARS).collect::<String>());
        Ok(Identity {
            issuer: self.iss,
            subject: self.sub,
            email: self.email.filter(|_| is_verified).and_then(|email| Email::new(&email)),
            name: name.filter(|name| !name.trim().is_empty()),
            groups: self.groups.map(OneOrMany::into_vec).unwrap_or_default().into_iter().take(MOST_GROUPS).collect(),
        })
    }
}
