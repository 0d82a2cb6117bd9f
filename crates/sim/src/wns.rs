//! Microsoft's service: which requests it takes, and its answers to the others.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode};

use crate::answer::{self, Refusal, Reply};
use crate::book::Message;
use crate::call::Call;
use crate::chance::Fingerprint;
use crate::protocol::Protocol;
use crate::shared::Shared;
use crate::tokens::Standing;

pub(crate) const PREFIX: &str = "/wns/";
const MOST_BYTES: usize = 5000;
const MOST_TAG_CHARS: usize = 16;
const STATUS: HeaderName = HeaderName::from_static("x-wns-status");
const MESSAGE_ID: HeaderName = HeaderName::from_static("x-wns-msg-id");
const DESCRIPTION: HeaderName = HeaderName::from_static("x-wns-error-description");

/// The kinds of notification, with their content type and root element.
const KINDS: [(&str, &str, &str); 4] = [
    ("wns/toast", "text/xml", "<toast"),
    ("wns/tile", "text/xml", "<tile"),
    ("wns/badge", "text/xml", "<badge"),
    ("wns/raw", "application/octet-stream", ""),
];

pub(crate) fn check<'a>(shared: &Shared, call: &Call<'a>) -> Result<Message<'a>, Refusal> {
    if call.method != Method::POST {
        return Err(rejected(StatusCode::METHOD_NOT_ALLOWED, "Only POST is allowed."));
    }
    match call.bearer().map(|token| shared.tokens.standing(token, Protocol::Wns, shared.clock.now())) {
        Some(Standing::Good) => {}
        Some(Standing::Expired) => return Err(unauthorized("The token has expired.")),
        Some(Standing::Unknown) | None => return Err(unauthorized("The token is not valid.")),
    }
    let channel = call.path.strip_prefix(PREFIX).unwrap_or_default();
    if channel.is_empty() {
        return Err(rejected(StatusCode::NOT_FOUND, "The channel URI is not valid."));
    }
    let kind = call.header("x-wns-type").unwrap_or_default();
    let Some((_, content_type, root)) = KINDS.iter().find(|(name, _, _)| *name == kind) else {
        return Err(bad("X-WNS-Type is missing or unknown."));
    };
    if call.content_type() != *content_type {
        return Err(bad("The content type does not go with X-WNS-Type."));
    }
    if !call.is_h2 && call.headers.get("content-length").is_none() {
        return Err(bad("Content-Length is missing."));
    }
    if call.body.is_empty() {
        return Err(bad("The notification is empty."));
    }
    if call.body.len() > MOST_BYTES {
        return Err(rejected(StatusCode::PAYLOAD_TOO_LARGE, "The notification is larger than 5000 bytes."));
    }
    if !has_root(call.body, root) {
        return Err(bad("The XML is not of the kind that X-WNS-Type names."));
    }
    check_options(call)?;
    let id = call.header("ms-cv");
    Ok(Message {
        protocol: Protocol::Wns,
        address: channel.into(),
        id: id.map(|id| Fingerprint::of(&[b"wns", channel.as_bytes(), id.as_bytes()])),
        label: id.map(Cow::Borrowed),
        body: call.body.into(),
    })
}

pub(crate) fn respond(call: &Call<'_>, message: &Message<'_>, reply: Reply) -> Response<Bytes> {
    let mut response = match reply {
        Reply::Accepted => with_header(StatusCode::OK, STATUS, "received"),
        Reply::Gone => with_header(StatusCode::GONE, DESCRIPTION, "The channel has expired."),
        Reply::Throttled => with_header(StatusCode::NOT_ACCEPTABLE, DESCRIPTION, "The sender is throttled."),
        Reply::Unavailable => with_header(StatusCode::SERVICE_UNAVAILABLE, STATUS, "dropped"),
    };
    let id = format!("{:016X}", Fingerprint::of(&[message.address.as_bytes(), &message.body]).0);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(MESSAGE_ID, id);
    }
    if let Some(vector) = call.headers.get("ms-cv") {
        response.headers_mut().insert("ms-cv", vector.clone());
    }
    response
}

pub(crate) fn unauthorized(why: &'static str) -> Refusal {
    Refusal::unauthorized(why, with_header(StatusCode::UNAUTHORIZED, DESCRIPTION, why))
}

fn check_options(call: &Call<'_>) -> Result<(), Refusal> {
    if call.header("x-wns-ttl").is_some_and(|seconds| seconds.parse::<u32>().is_err()) {
        return Err(bad("X-WNS-TTL is not a number of seconds."));
    }
    if !matches!(call.header("x-wns-cache-policy"), None | Some("cache" | "no-cache")) {
        return Err(bad("X-WNS-Cache-Policy is neither cache nor no-cache."));
    }
    if !matches!(call.header("x-wns-priority"), None | Some("1" | "2" | "3" | "4")) {
        return Err(bad("X-WNS-PRIORITY is not 1, 2, 3 or 4."));
    }
    let tags = ["x-wns-tag", "x-wns-group"].map(|name| call.header(name));
    if tags.into_iter().flatten().any(|tag| tag.is_empty() || tag.len() > MOST_TAG_CHARS) {
        return Err(bad("X-WNS-Tag and X-WNS-Group have 1 to 16 characters."));
    }
    Ok(())
}

/// Whether the first element is the expected one, after any declarations.
fn has_root(body: &[u8], root: &str) -> bool {
    let Ok(text) = str::from_utf8(body) else { return root.is_empty() };
    let text = text.trim_start();
    let text =
        if text.starts_with("<?") { text.split_once("?>").map_or("", |(_, rest)| rest).trim_start() } else { text };
    text.starts_with(root)
}

fn bad(why: &'static str) -> Refusal {
    rejected(StatusCode::BAD_REQUEST, why)
}

fn rejected(status: StatusCode, why: &'static str) -> Refusal {
    Refusal::rejected(why, with_header(status, DESCRIPTION, why))
}

fn with_header(status: StatusCode, name: HeaderName, value: &'static str) -> Response<Bytes> {
    let mut response = answer::empty(status);
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}
