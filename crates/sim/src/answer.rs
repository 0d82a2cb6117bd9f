//! Answers, and the verdicts that connections carry out.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use serde_json::Value;

use crate::book::Fate;

/// What a connection has to do with one request.
#[derive(Debug)]
pub(crate) struct PlannedReply {
    pub(crate) action: Action,
    /// How long to wait before.
    pub(crate) delay: Duration,
    /// Whether the sender has proved its identity.
    pub(crate) is_trusted: bool,
}

#[derive(Debug)]
pub(crate) enum Action {
    Answer(Response<Bytes>),
    /// Reset the stream. `is_clean` promises that nothing was done, so that the request can be repeated without danger.
    Reset {
        is_clean: bool,
    },
    /// Break the connection.
    Cut,
    /// Leave the request without an answer.
    Silence,
}

/// The answer to a request without a valid message, mostly because a provider would not take it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) response: Box<Response<Bytes>>,
    pub(crate) reason: String,
    /// `None` for requests that are not about a message, which are not counted.
    pub(crate) fate: Option<Fate>,
}

/// A provider's reply to a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Accepted,
    Gone,
    Throttled,
    Unavailable,
}

impl Refusal {
    pub(crate) fn rejected(reason: impl Into<String>, response: Response<Bytes>) -> Self {
        Self { response: Box::new(response), reason: reason.into(), fate: Some(Fate::Rejected) }
    }

    pub(crate) fn uncounted(response: Response<Bytes>) -> Self {
        Self { response: Box::new(response), reason: String::new(), fate: None }
    }

    pub(crate) fn unauthorized(reason: impl Into<String>, response: Response<Bytes>) -> Self {
        Self { response: Box::new(response), reason: reason.into(), fate: Some(Fate::Unauthorized) }
    }
}

pub(crate) fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

pub(crate) fn json(status: StatusCode, body: &Value) -> Response<Bytes> {
    json_text(status, body.to_string())
}

pub(crate) fn json_text(status: StatusCode, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=UTF-8"));
    response
}

/// Adds `Retry-After` where a provider would: when it throttles or is not available.
pub(crate) fn add_retry_after(response: &mut Response<Bytes>, reply: Reply, seconds: Option<u32>) {
    match reply {
        Reply::Accepted | Reply::Gone => {}
        Reply::Throttled | Reply::Unavailable => {
            if let Some(seconds) = seconds {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
        }
    }
}
