//! Assertions: JSON web tokens (ES384) with which a client proves that it has its key, each of them once.

use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::time::UtcMillis;
use ring::signature::{ECDSA_P384_SHA384_FIXED, UnparsedPublicKey};
use store::Tx;
use store::signed_requests::{self, Mark};

use super::access_tokens::ALGORITHM;
use super::{AccessToken, Asked, GrantError, GrantRefusal, Granted, NO_CLIENT};
use crate::web_tokens::{AssertionClaims, AssertionHeader, WebToken, Words, millis};
use crate::{Tenancy, credentials};

/// How long an assertion may be good.
const LONGEST: Duration = Duration::from_secs(10 * 60);
/// How far the clock of a client may be ahead.
const SKEW: Duration = Duration::from_secs(60);
const MOST_NONCE_CHARS: usize = 50;

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
        let Some((token, header, claims)) = parts(assertion) else { return Ok(Err(MALFORMED)) };
        // The assertion does not choose how it is checked.
        if header.alg != ALGORITHM {
            return Ok(Err(WRONG));
        }
        let Some(client) = self.client(&header.kid).await? else { return Ok(Err(NO_CLIENT)) };
        let Some(key) = &client.row.public_key else { return Ok(Err(NO_CLIENT)) };
        let signature = token.signature().unwrap_or_default();
        if UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, key).verify(token.signed.as_bytes(), &signature).is_err() {
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

fn parts(assertion: &str) -> Option<(WebToken<'_>, AssertionHeader, AssertionClaims)> {
    let token = WebToken::new(assertion)?;
    Some((token, token.header()?, token.claims()?))
}

fn check(claims: &AssertionClaims, client: &str, audiences: &[String], now: UtcMillis) -> Granted<()> {
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
