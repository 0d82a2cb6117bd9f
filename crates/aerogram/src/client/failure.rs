//! Why there is no good answer: the server refuses, or is not reached.

use std::fmt;
use std::time::Duration;

use http::StatusCode;
use http::response::Parts;
use model::time::Clock;
use providers::Complaint;
use providers::http::SendError;
use providers::outcome::retry_after;
use serde::Deserialize;

use super::PATIENCE;
use crate::config::BaseUrl;

/// An unsuccessful answer, with the server's sentence.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    /// The API's own code, if the API answered.
    pub(crate) code: Option<u32>,
    pub(crate) text: String,
    /// When to ask again, if the server says so.
    pub(crate) retry_after: Option<Duration>,
}

/// There is no answer, or not all of it: a sentence about that.
#[derive(Debug)]
pub(super) struct NoAnswer {
    text: String,
    /// Whether a server that is started again, or a network that recovers, would answer. Not so of a server that has never
    /// answered: its address may be wrong.
    pub(super) may_recover: bool,
}

/// The error body of the API, as far as a person needs it.
#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    error_code: Option<u32>,
}

impl Refused {
    pub(super) fn new(head: &Parts, body: &[u8]) -> Self {
        let (status, retry_after) = (head.status, retry_after(&head.headers, Clock::System.now()));
        match serde_json::from_slice(body) {
            Ok(ErrorBody { error, error_code }) => Self { status, code: error_code, text: error, retry_after },
            Err(_) => {
                let text = String::from_utf8_lossy(body).trim().to_owned();
                Self { status, code: None, text, retry_after }
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The server answered {}: {}", self.status, self.text)
    }
}

impl std::error::Error for Refused {}

impl NoAnswer {
    pub(super) fn new(base: &BaseUrl, error: &SendError, was_reached: bool) -> Self {
        let text = match error {
            SendError::Refused(_) => format!("{base}: {error}"),
            SendError::Timeout => format!("{base} did not answer within {} s.", PATIENCE.as_secs()),
            SendError::Untrusted(complaint) => format!("{base}: {error} {}", remedy(complaint)),
            SendError::Unreachable(_) | SendError::Connection(_) => format!(
                "No server answers at {base}. Start one with `aerogram serve`, or set --url or AEROGRAM_URL. {error}"
            ),
        };
        let may_pass = matches!(error, SendError::Timeout | SendError::Unreachable(_) | SendError::Connection(_));
        Self { text, may_recover: may_pass && was_reached }
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for NoAnswer {}

/// What a person can do about a certificate that is not trusted.
fn remedy(complaint: &Complaint) -> &'static str {
    match complaint {
        Complaint::UnknownIssuer => "Name the PEM file of its authority with --ca-file or AEROGRAM_CA_FILE.",
        Complaint::Expired => "It has to be renewed.",
        Complaint::NotValidYet => "Is that clock right?",
        Complaint::OtherName(_) => "Use the name that it is for with --url or AEROGRAM_URL.",
        Complaint::OtherCertificate => {
            "It should be the one of AEROGRAM_TLS_CERT; name the server with --url or AEROGRAM_URL if it is another."
        }
        Complaint::Other(_) => "It has to be replaced.",
    }
}

#[cfg(test)]
mod tests {
    use http::Response;
    use http::header::RETRY_AFTER;

    use super::*;

    fn refused(status: StatusCode, wait: &str, body: &[u8]) -> Refused {
        let (head, ()) = Response::builder().status(status).header(RETRY_AFTER, wait).body(()).unwrap().into_parts();
        Refused::new(&head, body)
    }

    #[test]
    fn refusals_say_what_and_where() {
        let body = br#"{"ok":false,"error":"notification.x: There is no key 'x'.","error_code":40000}"#;
        let found = refused(StatusCode::BAD_REQUEST, "7", body);
        assert_eq!(found.to_string(), "The server answered 400 Bad Request: notification.x: There is no key 'x'.");
        assert_eq!((found.code, found.retry_after), (Some(40000), Some(Duration::from_secs(7))));
        let plain = refused(StatusCode::BAD_GATEWAY, "Sun, 06 Nov 1994 08:49:37 GMT", b"<html>\n");
        assert_eq!(plain.retry_after, Some(Duration::ZERO), "a date that has passed");
        assert_eq!(plain.to_string(), "The server answered 502 Bad Gateway: <html>");
    }
}
