//! A push service of browsers, or of phones by UnifiedPush: which requests it takes, and its answers to the others.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderValue, Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::answer::{self, Refusal, Reply};
use crate::book::{Fate, Message};
use crate::browser::{self, Record};
use crate::browsers::{Standing, google, mozilla};
use crate::call::{Call, ShownCredentials};
use crate::chance::Fingerprint;
use crate::faults::device_of;
use crate::jwt::Jwt;
use crate::protocol::Protocol;
use crate::shared::Shared;

/// The root of the subscriptions of browsers that the simulator makes up.
pub(crate) const PREFIX: &str = "/webpush/";
/// The root of the endpoints of phones.
pub(crate) const UNIFIED_PUSH_PREFIX: &str = "/up/";
const MOST_BYTES: usize = 4096;
const MOST_TOPIC_CHARS: usize = 32;
/// The longest lifetime of a token, and how wrong clocks may be.
const TOKEN_SECONDS: i64 = 86_400;
const SKEW_SECONDS: i64 = 60;

#[derive(Deserialize)]
struct Claims {
    aud: String,
    exp: i64,
    #[serde(default)]
    sub: String,
}

/// Distinguishes the messages to one browser or phone.
#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "_", alias = "com.urbanairship.push.PUSH_ID")]
    send_id: String,
}

pub(crate) fn check<'a>(
    shared: &Shared,
    protocol: Protocol,
    shown: &mut ShownCredentials,
    call: &Call<'a>,
) -> Result<Message<'a>, Refusal> {
    if call.method != Method::POST {
        return Err(rejected(StatusCode::METHOD_NOT_ALLOWED, 100, "Method not allowed"));
    }
    let subscription = device_of(call.path);
    if subscription.is_empty() {
        return Err(rejected(StatusCode::NOT_FOUND, 102, "Invalid URL endpoint"));
    }
    authorize(shared, shown, call)?;
    if is_of_real_browser(call) {
        match shared.subscriptions.standing(subscription, sender_key(call).unwrap_or_default()) {
            Standing::Good => {}
            Standing::Foreign => return Err(foreign_key()),
            Standing::Unknown => return Err(rejected(StatusCode::NOT_FOUND, 102, "No such subscription")),
            Standing::Ended => {
                let mut refusal = rejected(StatusCode::GONE, 106, "Subscription has ended");
                refusal.fate = Some(Fate::Gone);
                return Err(refusal);
            }
        }
    }
    if call.header("ttl").is_none_or(|ttl| ttl.parse::<u32>().is_err()) {
        return Err(rejected(StatusCode::BAD_REQUEST, 111, "Missing or invalid TTL header"));
    }
    if !matches!(call.header("urgency"), None | Some("very-low" | "low" | "normal" | "high")) {
        return Err(rejected(StatusCode::BAD_REQUEST, 101, "Invalid urgency"));
    }
    let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if call.header("topic").is_some_and(|topic| topic.len() > MOST_TOPIC_CHARS || !topic.bytes().all(is_base64url)) {
        return Err(rejected(StatusCode::BAD_REQUEST, 113, "Invalid topic"));
    }
    if call.header("content-encoding") != Some("aes128gcm") {
        return Err(rejected(StatusCode::BAD_REQUEST, 110, "Invalid crypto headers: the encoding is not aes128gcm"));
    }
    if call.body.len() > MOST_BYTES {
        return Err(rejected(StatusCode::PAYLOAD_TOO_LARGE, 104, "Payload too large"));
    }
    let Some(record) = Record::parse(call.body) else {
        return Err(rejected(StatusCode::BAD_REQUEST, 110, "Invalid crypto headers: not one aes128gcm record"));
    };
    let mut message =
        Message { protocol, address: subscription.into(), id: None, label: None, body: Cow::Borrowed(b"(encrypted)") };
    if let Some(browser) = shared.browser.as_ref().filter(|_| !is_of_real_browser(call)) {
        // A browser would drop it silently. Here it is reported.
        let Some(text) = browser.decrypt(&record) else {
            return Err(rejected(StatusCode::BAD_REQUEST, 110, "The browser could not decrypt the message"));
        };
        let id = serde_json::from_slice(&text).ok().map(|payload: Payload| payload.send_id);
        message.id = id.map(|id| Fingerprint::of(&[b"webpush", subscription.as_bytes(), id.as_bytes()]));
        message.body = text.into();
    }
    Ok(message)
}

/// Sends a message on to the real browser that it is for.
pub(crate) fn forward(shared: &Shared, call: &Call<'_>, message: &Message<'_>) {
    if is_of_real_browser(call) {
        let ttl = call.header("ttl").and_then(|ttl| ttl.parse().ok()).unwrap_or(0);
        shared.subscriptions.send(&message.address, ttl, shared.now_millis(), Bytes::copy_from_slice(call.body));
    }
}

/// How an endpoint says that it is one of UnifiedPush.
pub(crate) fn unified_push_server() -> Response<Bytes> {
    answer::json(StatusCode::OK, &json!({ "unifiedpush": { "version": 1 } }))
}

pub(crate) fn respond(call: &Call<'_>, message: &Message<'_>, reply: Reply) -> Response<Bytes> {
    match reply {
        Reply::Accepted => {
            let id = Fingerprint::of(&[message.address.as_bytes(), call.body.get(..16).unwrap_or_default()]).0;
            let mut response = answer::empty(StatusCode::CREATED);
            let location = format!("{}://{}/webpush/message/{id:016x}", call.scheme, call.authority);
            if let Ok(mut location) = HeaderValue::from_str(&location) {
                location.set_sensitive(true);
                response.headers_mut().insert(LOCATION, location);
            }
            if let Some(ttl) = call.headers.get("ttl") {
                response.headers_mut().insert("ttl", ttl.clone());
            }
            response
        }
        Reply::Gone => error(StatusCode::GONE, 106, "Subscription has expired"),
        Reply::Throttled => error(StatusCode::TOO_MANY_REQUESTS, 200, "Too many requests"),
        Reply::Unavailable => error(StatusCode::SERVICE_UNAVAILABLE, 201, "Use exponential back-off for retries"),
    }
}

pub(crate) fn unauthorized(why: &str) -> Refusal {
    Refusal::unauthorized(why, error(StatusCode::UNAUTHORIZED, 109, why))
}

/// As a service says it of a subscription that was made with another key pair.
pub(crate) fn foreign_key() -> Refusal {
    rejected(StatusCode::FORBIDDEN, 109, "The subscription belongs to another key")
}

fn authorize(shared: &Shared, shown: &mut ShownCredentials, call: &Call<'_>) -> Result<(), Refusal> {
    let Some(value) = call.headers.get(http::header::AUTHORIZATION) else {
        return Err(unauthorized("The authorization header is missing"));
    };
    let now = shared.clock.now().seconds();
    let expiry = match &shown.vapid {
        Some((known, expiry)) if known == value => *expiry,
        _ => {
            let expiry = verified(call, now)?;
            shown.vapid = Some((value.clone(), expiry));
            expiry
        }
    };
    if expiry < now - SKEW_SECONDS { Err(unauthorized("The VAPID token has expired")) } else { Ok(()) }
}

/// Until when a token with a valid signature counts.
fn verified(call: &Call<'_>, now: i64) -> Result<i64, Refusal> {
    let Some(header) = vapid(call) else { return Err(unauthorized("The authorization scheme is not vapid")) };
    let jwt = part(header, "t=").and_then(Jwt::parse).ok_or_else(|| unauthorized("The VAPID token cannot be read"))?;
    let key = part(header, "k=").and_then(|key| URL_SAFE_NO_PAD.decode(key).ok());
    let key = key.filter(|key| key.len() == browser::PUBLIC_KEY_BYTES);
    let key = key.ok_or_else(|| unauthorized("The VAPID public key is not a point in base64url"))?;
    if !jwt.is_es256_by(&key) {
        return Err(unauthorized("The VAPID signature is wrong"));
    }
    let claims: Claims = jwt.claims().ok_or_else(|| unauthorized("A VAPID claim is missing"))?;
    if !is_audience(call, &claims.aud) {
        return Err(unauthorized("The VAPID audience is another"));
    }
    if claims.exp > now + TOKEN_SECONDS + SKEW_SECONDS {
        return Err(unauthorized("The VAPID token lives longer than a day"));
    }
    if !claims.sub.starts_with("mailto:") && !claims.sub.starts_with("https:") {
        return Err(unauthorized("The VAPID subject is neither mailto: nor https:"));
    }
    Ok(claims.exp)
}

/// A subscription names the host of the push service itself, although the request came here.
fn is_audience(call: &Call<'_>, audience: &str) -> bool {
    let is_of = |prefix: &str, origins: &[&str]| call.path.starts_with(prefix) && origins.contains(&audience);
    audience == format!("{}://{}", call.scheme, call.authority)
        || is_of(google::PREFIX, &google::ORIGINS)
        || is_of(mozilla::PREFIX, &[mozilla::ORIGIN])
}

fn is_of_real_browser(call: &Call<'_>) -> bool {
    call.path.starts_with(google::PREFIX) || call.path.starts_with(mozilla::PREFIX)
}

fn vapid<'a>(call: &Call<'a>) -> Option<&'a str> {
    call.header("authorization").and_then(|value| value.strip_prefix("vapid "))
}

fn part<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.split(',').find_map(|part| part.trim().strip_prefix(name))
}

/// The public key of the sender, in base64url.
fn sender_key<'a>(call: &Call<'a>) -> Option<&'a str> {
    vapid(call).and_then(|header| part(header, "k=")).map(|key| key.trim_end_matches('='))
}

fn rejected(status: StatusCode, errno: u16, why: &str) -> Refusal {
    Refusal::rejected(why, error(status, errno, why))
}

fn error(status: StatusCode, errno: u16, message: &str) -> Response<Bytes> {
    let phrase = status.canonical_reason().unwrap_or_default();
    answer::json(status, &json!({ "code": status.as_u16(), "errno": errno, "error": phrase, "message": message }))
}
