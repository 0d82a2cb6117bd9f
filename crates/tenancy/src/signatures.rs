//! Requests that devices sign with the app secret instead of sending it, and bearer tokens in general.
//!
//! A signature covers the key of the app, for the requests of a channel its id, and a nonce and a time, all of them as the
//! headers have them. Older libraries sign the key and the channel only.

use std::sync::Arc;
use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::ids::{AppId, ChannelId};
use model::lenient_base64;
use model::time::UtcMillis;
use ring::hmac;
use store::signed_requests::{self, Mark};
use store::{Tx, channels};

use crate::callers::KnownApp;
use crate::{Caller, KnownBy, Rights, Tenancy, device_tokens, oauth, server_tokens};

const MOST_NONCE_BYTES: usize = 64;

/// How far the clock of a device may be off.
const MOST_SKEW: Duration = Duration::from_secs(10 * 60);
/// Signed requests that are forgotten in one transaction.
const FORGOTTEN_AT_ONCE: u32 = 5_000;

/// A bearer token and the headers that go with it, as they came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bearer<'r> {
    pub token: &'r str,
    pub app_key: Option<&'r str>,
    pub channel_id: Option<&'r str>,
    pub nonce: Option<&'r str>,
    pub timestamp: Option<&'r str>,
}

/// Why a bearer token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No known key has signed this.
    Wrong,
    /// The app secret is not known well enough to check signatures.
    NoAppSecret,
    /// The time is missing, unreadable or too far from ours.
    Skewed,
    /// It was used before.
    Repeated,
    /// A token of ours that was good once.
    Expired,
    /// A token of a server of another app than the caller names.
    OfAnotherApp,
}

#[boxed]
impl Tenancy {
    /// The bearer of this token: one of ours, or a signature made on the device.
    pub async fn authenticate_bearer(&self, bearer: Bearer<'_>) -> Result<Result<Caller, Refusal>> {
        if server_tokens::has_shape(bearer.token) {
            return self.authenticate_server_token(bearer.token, bearer.app_key).await;
        }
        if oauth::has_shape(bearer.token) {
            return self.authenticate_access_token(bearer.token, bearer.app_key).await;
        }
        if device_tokens::has_shape(bearer.token) {
            return self.authenticate_device_token(bearer.token).await;
        }
        let Some(signature) = signature(bearer.token) else { return Ok(Err(Refusal::Wrong)) };
        let mut refusal = Refusal::Wrong;
        for known in self.candidates(&bearer).await? {
            match check(&known, &bearer, &signature, self.0.clock.now()) {
                Ok(Checked { rights, secret, signed }) if self.is_new(known.app.id, signed, &signature).await? => {
                    // A connection that it opens ends with the secret that it was made with.
                    return Ok(Ok(Caller::by_secret(&known, rights, KnownBy::Signature, secret)));
                }
                Ok(_) => refusal = Refusal::Repeated,
                Err(why) => refusal = why,
            }
        }
        Ok(Err(refusal))
    }

    /// The app that the caller names, or else all apps with the channel that the caller names. The one whose secret fits is
    /// meant.
    pub(crate) async fn candidates(&self, bearer: &Bearer<'_>) -> Result<Vec<Arc<KnownApp>>> {
        if let Some(key) = bearer.app_key {
            return Ok(self.known_app(key).await?.into_iter().collect());
        }
        let channel: Option<ChannelId> = bearer.channel_id.and_then(|id| id.parse().ok());
        let Some(channel) = channel else { return Ok(Vec::new()) };
        let keys = self.0.store.read_all(move |tx, part| channels::apps_with(tx, part, channel)).await?;
        let mut known = Vec::with_capacity(keys.len());
        for key in keys {
            known.extend(self.known_app(&key).await?);
        }
        Ok(known)
    }

    /// Whether a request comes for the first time, at any node. A signature without a time is the same every time.
    ///
    /// It is remembered before the request is carried out: a failed request is signed anew when it is tried again.
    async fn is_new(&self, app: AppId, signed: Option<UtcMillis>, signature: &[u8; 32]) -> Result<bool> {
        let Some(signed) = signed else { return Ok(true) };
        let mark: Mark = std::array::from_fn(|index| signature[index]);
        Ok(self.0.store.write(app, move |tx| signed_requests::remember(tx, app, signed, &mark)).await?)
    }

    /// Forgets the requests that are too old by now to be sent again.
    pub async fn forget_old_signed_requests(&self, app: AppId) -> Result<()> {
        let first_good = self.0.clock.now().minus(MOST_SKEW);
        let forget = move |tx: &mut Tx<'_>| signed_requests::forget_before(tx, app, first_good, FORGOTTEN_AT_ONCE);
        while self.0.store.write(app, forget).await? {}
        Ok(())
    }
}

/// Some platforms break encoded text into lines.
fn signature(token: &str) -> Option<[u8; 32]> {
    lenient_base64::decode(token.trim())?.try_into().ok()
}

/// What a good signature tells.
struct Checked {
    /// What it lets its bearer speak for.
    rights: Rights,
    /// The hash of the secret that it was made with.
    secret: [u8; 32],
    /// When it was made, if it covers that.
    signed: Option<UtcMillis>,
}

fn check(known: &KnownApp, bearer: &Bearer<'_>, signature: &[u8; 32], now: UtcMillis) -> Result<Checked, Refusal> {
    let key = known.signing.as_ref().ok_or(Refusal::NoAppSecret)?;
    let app_key = known.app.key.as_str();
    if bearer.nonce.is_some_and(|nonce| !is_nonce(nonce)) {
        return Err(Refusal::Wrong);
    }
    let signs: Vec<(Vec<&str>, Rights)> = match (bearer.channel_id, bearer.nonce, bearer.timestamp) {
        (None, Some(nonce), Some(timestamp)) => vec![(vec![app_key, nonce, timestamp], Rights::Device)],
        (Some(channel), Some(nonce), Some(timestamp)) => vec![
            (vec![app_key, channel, nonce, timestamp], of_channel(channel)?),
            // Libraries that report usage name their channel and sign for the app.
            (vec![app_key, nonce, timestamp], Rights::Device),
        ],
        (Some(channel), None, None) => vec![(vec![app_key, channel], of_channel(channel)?)],
        (_, None, Some(_)) | (_, Some(_), None) | (None, None, None) => return Err(Refusal::Wrong),
    };
    let secret_of = |signed: &str| {
        let has_signed = |key: &hmac::Key| hmac::verify(key, signed.as_bytes(), signature).is_ok();
        if has_signed(key) {
            return Some(known.hashes.app);
        }
        known.formers.signing(now).filter(|(_, key)| has_signed(key)).map(|(hash, _)| hash)
    };
    let good = signs.into_iter().find_map(|(parts, rights)| Some((secret_of(&parts.join(":"))?, rights)));
    let (secret, rights) = good.ok_or(Refusal::Wrong)?;
    let signed = bearer.timestamp.map(|timestamp| check_time(timestamp, now)).transpose()?;
    Ok(Checked { rights, secret, signed })
}

/// Devices send random ids. The signed parts are joined with colons, so a nonce with one in it could pass for a channel and a
/// nonce, and the signature of a channel for that of the app.
fn is_nonce(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=MOST_NONCE_BYTES).contains(&text.len()) && text.bytes().all(is_part)
}

fn of_channel(id: &str) -> Result<Rights, Refusal> {
    id.parse().map(Rights::Channel).map_err(|_| Refusal::Wrong)
}

fn check_time(text: &str, now: UtcMillis) -> Result<UtcMillis, Refusal> {
    let at = UtcMillis::parse_api(text.trim()).ok_or(Refusal::Skewed)?;
    let is_near = now.minus(MOST_SKEW) <= at && at <= now.plus(MOST_SKEW);
    if is_near { Ok(at) } else { Err(Refusal::Skewed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::hmac::HMAC_SHA256;

    /// From the tests of a device library, and one of our own making.
    #[test]
    fn signatures_are_those_that_devices_make() {
        let vectors: [(&str, &[&str], &str); 2] = [
            ("test-app-secret", &["test-app-key", "channel ID"], "Npyqy5OZxMEVv4bt64S3aUE4NwUQVLX50vGrEegohFE="),
            (
                "testAppSecret",
                &["testAppKey", "11111111-1111-1111-1111-111111111111", "2024-01-15T12:00:00Z"],
                "/k9vodxLd3binLQlPFjJYVM/nperbc3n3xZVV2ERUMs=",
            ),
        ];
        for (secret, values, token) in vectors {
            let key = hmac::Key::new(HMAC_SHA256, secret.as_bytes());
            let signed = values.join(":");
            for token in [token.to_owned(), format!("{token}\n"), token.trim_end_matches('=').to_owned()] {
                let signature = signature(&token).unwrap();
                assert!(hmac::verify(&key, signed.as_bytes(), &signature).is_ok(), "{token}");
            }
        }
        assert_eq!(signature("short"), None);
        assert_eq!(signature("not base64 at all"), None);
    }

    #[test]
    fn nonces_are_random_ids() {
        for text in ["3FA85F64-5717-4562-b3fc-2c963f66afa6", "a", &"0".repeat(64)] {
            assert!(is_nonce(text), "{text}");
        }
        let joined = "11111111-1111-1111-1111-111111111111:3fa85f64-5717-4562-b3fc-2c963f66afa6";
        for text in ["", joined, "a b", "a\n", "é", "a_b", &"0".repeat(65)] {
            assert!(!is_nonce(text), "{text}");
        }
    }

    #[test]
    fn times_may_be_off_by_some_minutes_and_have_several_forms() {
        let now = UtcMillis(1_705_320_000_000);
        for text in ["2024-01-15T12:00:00", "2024-01-15T12:00:00Z", "2024-01-15 12:10:00", "2024-01-15T11:50:00.000Z"] {
            assert!(check_time(text, now).is_ok(), "{text}");
        }
        for text in ["2024-01-15T12:10:01", "2024-01-15T11:49:59", "1705320000", "", "today"] {
            assert_eq!(check_time(text, now), Err(Refusal::Skewed), "{text}");
        }
    }
}
