//! Amazon's service: which requests it takes, and its answers to the others.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::answer::{self, Refusal, Reply};
use crate::book::Message;
use crate::call::{Call, decoded};
use crate::chance::Fingerprint;
use crate::protocol::Protocol;
use crate::shared::Shared;
use crate::tokens::Standing;

pub(crate) const PREFIX: &str = "/messaging/registrations/";
const SUFFIX: &str = "/messages";
const MOST_DATA_BYTES: usize = 6 * 1024;
const EXPIRY_SECONDS: std::ops::RangeInclusive<u64> = 60..=2_678_400;
const MOST_CONSOLIDATION_KEY_CHARS: usize = 64;
const PUSH_ID: &str = "com.urbanairship.push.PUSH_ID";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Body {
    data: BTreeMap<String, String>,
    #[serde(default)]
    consolidation_key: Option<String>,
    #[serde(default)]
    expires_after: Option<u64>,
    #[serde(default)]
    md5: Option<String>,
    #[serde(default)]
    priority: Option<String>,
}

pub(crate) fn check<'a>(shared: &Shared, call: &Call<'a>) -> Result<Message<'a>, Refusal> {
    let registration = call.path.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    let Some(registration) = registration.filter(|_| call.method == Method::POST) else {
        return Err(Refusal::rejected("NotFound", answer::empty(StatusCode::NOT_FOUND)));
    };
    match call.bearer().map(|token| shared.tokens.standing(token, Protocol::Adm, shared.clock.now())) {
        Some(Standing::Good) => {}
        Some(Standing::Expired | Standing::Unknown) | None => return Err(unauthorized()),
    }
    let types = [
        ("x-amzn-type-version", "com.amazon.device.messaging.ADMMessage@1.0"),
        ("x-amzn-accept-type", "com.amazon.device.messaging.ADMSendResult@1.0"),
        ("accept", "application/json"),
    ];
    let has_types = types.iter().all(|(name, value)| call.header(name) == Some(*value));
    if !has_types || call.content_type() != "application/json" {
        return Err(rejected("InvalidType"));
    }
    let registration = decoded(registration, false);
    if registration.is_empty() || registration.contains(|c: char| !c.is_ascii_graphic()) {
        return Err(rejected("InvalidRegistrationId"));
    }
    let body: Body = serde_json::from_slice(call.body).map_err(|_| rejected("InvalidData"))?;
    if body.data.is_empty() || !matches!(body.priority.as_deref(), None | Some("normal" | "high")) {
        return Err(rejected("InvalidData"));
    }
    if body.data.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() > MOST_DATA_BYTES {
        return Err(Refusal::rejected("MessageTooLarge", reason(StatusCode::PAYLOAD_TOO_LARGE, "MessageTooLarge")));
    }
    if body.consolidation_key.is_some_and(|key| key.chars().count() > MOST_CONSOLIDATION_KEY_CHARS) {
        return Err(rejected("InvalidConsolidationKey"));
    }
    if body.expires_after.is_some_and(|seconds| !EXPIRY_SECONDS.contains(&seconds)) {
        return Err(rejected("InvalidExpiration"));
    }
    if body.md5.is_some() {
        // The service sends none, so a checksum here is a mistake.
        return Err(rejected("InvalidChecksum"));
    }
    let push_id = body.data.get(PUSH_ID);
    let id = push_id.map(|id| Fingerprint::of(&[b"adm", registration.as_bytes(), id.as_bytes()]));
    Ok(Message { protocol: Protocol::Adm, address: registration.into(), id, label: None, body: call.body.into() })
}

pub(crate) fn respond(message: &Message<'_>, reply: Reply) -> Response<Bytes> {
    match reply {
        Reply::Accepted => answer::json(StatusCode::OK, &json!({ "registrationID": message.address })),
        Reply::Gone => reason(StatusCode::BAD_REQUEST, "Unregistered"),
        Reply::Throttled => reason(StatusCode::TOO_MANY_REQUESTS, "MaxRateExceeded"),
        Reply::Unavailable => answer::empty(StatusCode::SERVICE_UNAVAILABLE),
    }
}

/// Amazon gives the same reason for all unknown tokens.
pub(crate) fn unauthorized() -> Refusal {
    Refusal::unauthorized("AccessTokenExpired", reason(StatusCode::UNAUTHORIZED, "AccessTokenExpired"))
}

fn rejected(why: &str) -> Refusal {
    Refusal::rejected(why, reason(StatusCode::BAD_REQUEST, why))
}

fn reason(status: StatusCode, why: &str) -> Response<Bytes> {
    answer::json(status, &json!({ "reason": why }))
}
