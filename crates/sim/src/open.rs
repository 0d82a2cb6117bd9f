//! The endpoint of an open platform: a handshake, then requests with many messages each.

use std::borrow::Cow;
use std::io::Read;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::answer::{self, Refusal, Reply};
use crate::book::Message;
use crate::call::Call;
use crate::chance::Fingerprint;
use crate::protocol::Protocol;
use crate::shared::Shared;

pub(crate) const PREFIX: &str = "/open/";
const PUSH: &str = "/open/push";
const VALIDATE: &str = "/open/validate";
const MOST_VALUES: usize = 1000;
/// The largest body after unpacking.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Deserialize)]
struct Body {
    values: Vec<Value>,
}

#[derive(Deserialize)]
struct Value {
    send_id: String,
    target: Target,
    payload: serde_json::Value,
}

#[derive(Deserialize)]
struct Target {
    address: String,
}

/// The answer to the handshake; `None` for other requests.
pub(crate) fn handshake(shared: &Shared, call: &Call<'_>) -> Option<Response<Bytes>> {
    if call.method != Method::GET || call.path != VALIDATE {
        return None;
    }
    Some(match shared.validation_code() {
        Some(code) => answer::json(StatusCode::OK, &json!({ "confirmation_code": code })),
        None => answer::json(StatusCode::NOT_FOUND, &json!({ "error": "No validation code has been set." })),
    })
}

pub(crate) fn check(call: &Call<'_>) -> Result<Vec<Message<'static>>, Refusal> {
    if call.method != Method::POST || call.path != PUSH {
        return Err(Refusal::rejected("NotFound", answer::empty(StatusCode::NOT_FOUND)));
    }
    if !call.content_type().ends_with("+json") || call.header("data-attribute") != Some("values") {
        return Err(bad("The content type or Data-Attribute is wrong."));
    }
    let body = match call.header("content-encoding") {
        None => Cow::Borrowed(call.body),
        Some("gzip") => Cow::Owned(unpacked(call.body).ok_or_else(|| bad("The body is not gzip."))?),
        Some(_) => return Err(bad("The content encoding is unknown.")),
    };
    let body: Body = serde_json::from_slice(&body)
        .map_err(|_| bad("The body is not {\"values\": [{\"send_id\", \"target\", \"payload\"}]}."))?;
    if body.values.is_empty() || body.values.len() > MOST_VALUES {
        return Err(bad("There must be 1 to 1000 values."));
    }
    Ok(body.values.into_iter().map(message).collect())
}

pub(crate) fn respond(reply: Reply) -> Response<Bytes> {
    match reply {
        Reply::Accepted => answer::json(StatusCode::OK, &json!({ "ok": true })),
        Reply::Gone => answer::empty(StatusCode::GONE),
        Reply::Throttled => answer::empty(StatusCode::TOO_MANY_REQUESTS),
        Reply::Unavailable => answer::empty(StatusCode::SERVICE_UNAVAILABLE),
    }
}

pub(crate) fn unauthorized() -> Refusal {
    Refusal::unauthorized("Unauthorized", answer::empty(StatusCode::UNAUTHORIZED))
}

fn message(value: Value) -> Message<'static> {
    Message {
        protocol: Protocol::Open,
        address: value.target.address.into(),
        id: Some(Fingerprint::of(&[b"open", value.send_id.as_bytes()])),
        label: Some(value.send_id.into()),
        body: value.payload.to_string().into_bytes().into(),
    }
}

fn unpacked(body: &[u8]) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    GzDecoder::new(body).take(MOST_BYTES).read_to_end(&mut unpacked).ok()?;
    Some(unpacked)
}

fn bad(why: &str) -> Refusal {
    Refusal::rejected(why, answer::json(StatusCode::BAD_REQUEST, &json!({ "error": why })))
}
