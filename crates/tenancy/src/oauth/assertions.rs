//! Assertions: JSON web tokens (ES384) with which a client proves that it has its key, each of them once.

use std::time::Duration;

use base::Result;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use boxed::boxed;
use model::time::UtcMillis;
use ring::signature::{ECDSA_P384_SHA384_FIXED, UnparsedPublicKey};
use serde::Deserialize;
use store::Tx;
use store::signed_requests::{self, Mark};

use super::access_tokens::ALGORITHM;
use super::{AccessToken, Asked, GrantError, GrantRefusal, Granted, NO_CLIENT};
use crate::{Tenancy, credentials};

/// How long an assertion may be good.
const LONGEST: Duration = Duration::from_secs(10 * 60);
/// How far the clock of a client may be ahead.
const SKEW: Duration = Duration::from_secs(60);
const MOST_NONCE_CHARS: usize = 50;

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Words,
    iat: f64,
    exp: f64,
    sub: Words,
    nonce: String,
    #[serde(default)]
    scope: Words,
    #[serde(default)]
    ipaddr: Words,
}

/// Some libraries write words with spaces between them, others a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Text(String),
    List(Vec<String>),
}

impl Default for Words {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Words {
    fn into_vec(self) -> Vec<String> {
        match self {
            Words::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            Words::List(list) => list.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect(),
        }
    }
}

const MALFORMED: GrantRefusal = GrantError::InvalidGrant
    .because("The assertion must be a JSON web token (ES384) with kid, iss, aud, iat, exp, sub and nonce.");
const WRONG: GrantRefusal = GrantError::InvalidGrant.because("The signature of the assertion is wrong.");

#[boxed]
impl Tenancy {
    /// An access token for a client that signs what it asks for. `audiences` are the addresses under which this service gives out
    /// tokens.
    pub async fn grant_by_assertion(
        &self,
        assertion: &str,
        audiences: Vec<String>,
        issuer: &str,
    ) -> Result<Granted<AccessToken>> {
        let Some((signed, signature)) = assertion.rsplit_once('.') else { return Ok(Err(MALFORMED)) };
        let Some((header, claims)) = parts(signed) else { return Ok(Err(MALFORMED)) };
        // The assertion does not choose how it is checked.
        if header.alg != ALGORITHM {
            return Ok(Err(WRONG));
        }
        let Some(client) = self.client(&header.kid).await? else { return Ok(Err(NO_CLIENT)) };
        let Some(key) = &client.row.public_key else { return Ok(Err(NO_CLIENT)) };
        let signature = BASE64_URL.decode(signature).unwrap_or_default();
        if UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, key).verify(signed.as_bytes(), &signature).is_err() {
            return Ok(Err(WRONG));
        }
        if let Err(refusal) = check(&claims, &header.kid, &audiences, self.0.clock.now()) {
            return Ok(Err(refusal));
        }
        let mark = credentials::hash(&format!("assertion {} {}", header.kid, claims.nonce));
        let mark: Mark = std::array::from_fn(|index| mark[index]);
        let (app, ends) = (client.row.app, UtcMillis(millis(claims.exp)));
        // Remembered for longer than the assertion is good, and before anything is given out for it.
        let remember = move |tx: &mut Tx<'_>| signed_requests::remember(tx, app, ends, &mark);
        if !self.0.store.write(app, remember).await? {
            return Ok(Err(GrantError::InvalidGrant.because("The nonce of the assertion was used before.")));
        }
        let subjects = claims.sub.into_vec().join(" ");
        let asked = Asked { subjects, scopes: claims.scope.into_vec(), networks: claims.ipaddr.into_vec() };
        self.grant(&client, asked, issuer).await
    }
}

fn parts(signed: &str) -> Option<(Header, Claims)> {
    let (header, claims) = signed.split_once('.')?;
    let part = |text: &str| BASE64_URL.decode(text).ok();
    Some((serde_json::from_slice(&part(header)?).ok()?, serde_json::from_slice(&part(claims)?).ok()?))
}

fn check(claims: &Claims, client: &str, audiences: &[String], now: UtcMillis) -> Granted<()> {
    let refuse = |why| Err(GrantError::InvalidGrant.because(why));
    let is_meant = |audience: &str| audiences.iter().any(|own| own == audience);
    let is_meant = match &claims.aud {
        Words::Text(text) => is_meant(text),
        Words::List(list) => list.iter().any(|audience| is_meant(audience)),
    };
    if claims.iss != client {
        return refuse("The issuer of the assertion must be the client, as its kid is.");
    }
    if !is_meant {
        return refuse(
            "The audience of the assertion must be the address of this call, such as https://push.example/token.",
        );
    }
    if !(1..=MOST_NONCE_CHARS).contains(&claims.nonce.chars().count()) {
        return refuse("The nonce of the assertion must have 1 to 50 characters.");
    }
    let (issued, ends) = (UtcMillis(millis(claims.iat)), UtcMillis(millis(claims.exp)));
    if ends <= now {
        return refuse("The assertion has expired.");
    }
    if ends > now.plus(LONGEST).plus(SKEW) || issued > now.plus(SKEW) {
        return refuse("The assertion must end within ten minutes, and must not have been made in the future.");
    }
    Ok(())
}

/// Seconds since 1970, which may have a fraction; a number that makes no sense is long ago.
#[expect(clippy::cast_possible_truncation, reason = "a float that is too large becomes the largest integer")]
fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0) as i64
}
