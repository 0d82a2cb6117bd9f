//! Apple's service: which requests it takes, and its answers to the others.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::answer::{self, Refusal, Reply};
use crate::book::Message;
use crate::call::{Call, ShownCredentials};
use crate::chance::Fingerprint;
use crate::jwt::Jwt;
use crate::keys::{APNS_KEY_ID, APNS_TEAM_ID};
use crate::protocol::Protocol;
use crate::shared::Shared;

pub(crate) const PREFIX: &str = "/3/device/";
const APNS_ID: HeaderName = HeaderName::from_static("apns-id");

const MOST_BYTES: usize = 4096;
const MOST_VOIP_BYTES: usize = 5120;
const MOST_COLLAPSE_ID_BYTES: usize = 64;
/// Tokens are hexadecimal. Apple says not to rely on their length; these are the shortest and the longest seen.
const TOKEN_DIGITS: std::ops::RangeInclusive<usize> = 64..=200;
/// How old a provider token may become, and how wrong clocks may be.
const TOKEN_SECONDS: i64 = 3600;
const SKEW_SECONDS: i64 = 300;

const PUSH_TYPES: [&str; 11] = [
    "alert",
    "background",
    "voip",
    "complication",
    "fileprovider",
    "mdm",
    "location",
    "liveactivity",
    "pushtotalk",
    "widgets",
    "controls",
];

const LIVE_ACTIVITY_SUFFIX: &str = ".push-type.liveactivity";

/// Apple adds these to the topic for some push types.
const TOPIC_SUFFIXES: [&str; 7] = [
    "",
    ".voip",
    ".complication",
    LIVE_ACTIVITY_SUFFIX,
    ".push-type.widgets",
    ".pushkit.fileprovider",
    ".location-query",
];

#[derive(Deserialize)]
struct Claims {
    iss: String,
    iat: i64,
}

/// The payload is an object; its content is the business of the app.
#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "aps", default)]
    _aps: Option<IgnoredAny>,
}

/// The headers that other checks depend on.
#[derive(Default)]
struct Headers<'a> {
    topic: Option<&'a str>,
    push_type: Option<&'a str>,
    priority: Option<&'a str>,
    id: Option<&'a str>,
}

pub(crate) fn check<'a>(
    shared: &Shared,
    shown: &mut ShownCredentials,
    call: &Call<'a>,
) -> Result<Message<'a>, Refusal> {
    if call.method != Method::POST {
        return Err(rejected(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed"));
    }
    authorize(shared, shown, call)?;
    let token = call.path.strip_prefix(PREFIX).unwrap_or_default();
    if token.is_empty() {
        return Err(bad("MissingDeviceToken"));
    }
    let is_token = TOKEN_DIGITS.contains(&token.len()) && token.len().is_multiple_of(2);
    // No device has the token of zeros. Services use it to test whether they may send at all.
    if !is_token || !token.bytes().all(|b| b.is_ascii_hexdigit()) || token.bytes().all(|b| b == b'0') {
        return Err(bad_token());
    }
    let headers = read_headers(call.headers)?;
    check_topic(shared, headers.topic)?;
    let is_of_activity = headers.topic.is_some_and(|topic| topic.ends_with(LIVE_ACTIVITY_SUFFIX));
    if is_of_activity != (headers.push_type == Some("liveactivity")) {
        return Err(bad("DeviceTokenNotForTopic"));
    }
    let is_background = headers.push_type == Some("background");
    match headers.priority {
        None if !is_background => {}
        Some("5") => {}
        Some("1" | "10") if !is_background => {}
        None | Some(_) => return Err(bad("BadPriority")),
    }
    if call.body.is_empty() {
        return Err(bad("PayloadEmpty"));
    }
    let most = if headers.push_type == Some("voip") { MOST_VOIP_BYTES } else { MOST_BYTES };
    if call.body.len() > most {
        return Err(rejected(StatusCode::PAYLOAD_TOO_LARGE, "PayloadTooLarge"));
    }
    if serde_json::from_slice::<Payload>(call.body).is_err() {
        return Err(bad("PayloadEmpty"));
    }
    let id = headers.id.map(|id| Fingerprint::of(&[b"apns", id.as_bytes()]));
    Ok(Message {
        protocol: Protocol::Apns,
        address: token.into(),
        id,
        label: headers.id.map(Cow::Borrowed),
        body: call.body.into(),
    })
}

pub(crate) fn respond(shared: &Shared, call: &Call<'_>, reply: Reply) -> Response<Bytes> {
    let mut response = match reply {
        Reply::Accepted => answer::empty(StatusCode::OK),
        Reply::Gone => {
            let body = format!("{{\"reason\":\"Unregistered\",\"timestamp\":{}}}", shared.clock.now().0);
            answer::json_text(StatusCode::GONE, body)
        }
        Reply::Throttled => reason(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
        Reply::Unavailable => reason(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"),
    };
    if let Some(id) = call.headers.get(APNS_ID) {
        let mut id = id.clone();
        // The id differs in every answer and would only push better entries out of the compression table.
        id.set_sensitive(true);
        response.headers_mut().insert(APNS_ID, id);
    }
    response
}

/// Refuses the credentials of a sender.
pub(crate) fn unauthorized(why: &str) -> Refusal {
    Refusal::unauthorized(why, reason(StatusCode::FORBIDDEN, why))
}

fn authorize(shared: &Shared, shown: &mut ShownCredentials, call: &Call<'_>) -> Result<(), Refusal> {
    let Some(value) = call.headers.get(http::header::AUTHORIZATION) else {
        return if shown.has_certificate { Ok(()) } else { Err(unauthorized("MissingProviderToken")) };
    };
    let now = shared.clock.now().seconds();
    let made_at = match &shown.provider_token {
        Some((known, made_at)) if known == value => *made_at,
        _ => {
            let made_at = verified(shared, call, now)?;
            shown.provider_token = Some((HeaderValue::clone(value), made_at));
            made_at
        }
    };
    if now - made_at > TOKEN_SECONDS {
        return Err(unauthorized("ExpiredProviderToken"));
    }
    Ok(())
}

/// When a token with a valid signature was made.
fn verified(shared: &Shared, call: &Call<'_>, now: i64) -> Result<i64, Refusal> {
    let invalid = || unauthorized("InvalidProviderToken");
    let jwt = call.bearer().and_then(Jwt::parse).ok_or_else(invalid)?;
    let claims: Claims = jwt.claims().ok_or_else(invalid)?;
    let is_ours = jwt.header.kid.as_deref() == Some(APNS_KEY_ID) && claims.iss == APNS_TEAM_ID;
    if !is_ours || claims.iat > now + SKEW_SECONDS || !jwt.is_es256_by(&shared.apns_public_key) {
        return Err(invalid());
    }
    Ok(claims.iat)
}

fn check_topic(shared: &Shared, topic: Option<&str>) -> Result<(), Refusal> {
    let Some(topic) = topic else { return Err(bad("MissingTopic")) };
    match topic.strip_prefix(shared.topic.as_str()) {
        Some(suffix) if TOPIC_SUFFIXES.contains(&suffix) => Ok(()),
        _ if topic.is_empty() || topic.bytes().any(|byte| !byte.is_ascii_alphanumeric() && !b".-_".contains(&byte)) => {
            Err(bad("BadTopic"))
        }
        _ => Err(bad("DeviceTokenNotForTopic")),
    }
}

fn read_headers(headers: &HeaderMap) -> Result<Headers<'_>, Refusal> {
    let mut read = Headers::default();
    let mut seen = 0_u32;
    for (name, value) in headers {
        let Some(name) = name.as_str().strip_prefix("apns-") else { continue };
        let value = value.to_str().unwrap_or_default();
        let number = match name {
            "topic" => {
                read.topic = Some(value);
                0
            }
            "push-type" if PUSH_TYPES.contains(&value) => {
                read.push_type = Some(value);
                1
            }
            "push-type" => return Err(bad("InvalidPushType")),
            "priority" => {
                read.priority = Some(value);
                2
            }
            "id" if Uuid::try_parse(value).is_ok() => {
                read.id = Some(value);
                3
            }
            "id" => return Err(bad("BadMessageId")),
            "expiration" if value.parse::<u64>().is_ok() => 4,
            "expiration" => return Err(bad("BadExpirationDate")),
            "collapse-id" if (1..=MOST_COLLAPSE_ID_BYTES).contains(&value.len()) => 5,
            "collapse-id" => return Err(bad("BadCollapseId")),
            // Apple ignores these; here a typing mistake is reported.
            _ => return Err(bad("UnknownHeader")),
        };
        if seen & (1 << number) != 0 {
            return Err(bad("DuplicateHeaders"));
        }
        seen |= 1 << number;
    }
    Ok(read)
}

pub(crate) fn bad_token() -> Refusal {
    bad("BadDeviceToken")
}

fn bad(why: &str) -> Refusal {
    rejected(StatusCode::BAD_REQUEST, why)
}

fn rejected(status: StatusCode, why: &str) -> Refusal {
    Refusal::rejected(why, reason(status, why))
}

fn reason(status: StatusCode, why: &str) -> Response<Bytes> {
    answer::json_text(status, format!("{{\"reason\":\"{why}\"}}"))
}
