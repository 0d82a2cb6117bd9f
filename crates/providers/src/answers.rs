//! One door to the readers of all providers' answers: what an answer means to the service, without a connection it came over.
//! Tests and fuzz targets hold every answer that a host can give to what is promised of all of them.

use bytes::Bytes;
use http::Response;
use model::time::UtcMillis;
use uuid::Uuid;

use crate::open::{BatchOutcome, HandshakeError};
use crate::outcome::Outcome;
use crate::webhook::HookAnswer;
use crate::{adm, apns, fcm, oauth, open, webhook, webpush, wns};

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answering {
    Apple,
    Firebase,
    Amazon,
    Windows,
    /// A push service of browsers, which may be any host.
    PushService,
    /// The endpoint of an open platform.
    Endpoint,
    /// What hands out access tokens for Firebase, Amazon or Windows.
    TokenService,
}

impl Answering {
    pub const ALL: [Self; 7] = [
        Self::Apple,
        Self::Firebase,
        Self::Amazon,
        Self::Windows,
        Self::PushService,
        Self::Endpoint,
        Self::TokenService,
    ];

    /// The meaning of an answer to a message for the device at `address`, or to a request for a token. `None`: nothing is decided
    /// yet, because the messages are sent again in smaller batches, or because there is a token now.
    pub fn meaning(self, answer: &Response<Bytes>, address: &str, now: UtcMillis) -> Option<Outcome> {
        match self {
            Self::Apple => Some(apns::outcome::judge(answer, now).1),
            Self::Firebase => Some(fcm::outcome::judge(answer, now).1),
            Self::Amazon => Some(adm::outcome::judge(answer, address, now).1),
            Self::Windows => Some(wns::outcome::judge(answer, now).1),
            Self::PushService => Some(webpush::outcome::outcome(answer, address, now)),
            Self::Endpoint => match open::outcome::outcome(answer, 2, now) {
                BatchOutcome::Each(outcome) => Some(outcome),
                BatchOutcome::Split => None,
            },
            Self::TokenService => oauth::read(answer, address, now).err(),
        }
    }
}

/// What the answer of a webhook means to the events that were sent to it.
pub fn of_webhook(answer: &Response<Bytes>, now: UtcMillis) -> HookAnswer {
    webhook::delivery::meaning_of(answer.status(), answer.headers(), now)
}

/// Whether the endpoint of an open platform confirms, by this answer, that it expects the messages of the platform with a code.
pub fn confirmation(answer: &Response<Bytes>, code: Uuid) -> Result<(), HandshakeError> {
    open::handshake::judge(answer, code, String::new())
}

impl Outcome {
    /// What the provider said, if that is kept.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Delivered | Outcome::Moved { .. } | Outcome::Gone { .. } => None,
            Outcome::Refused { reason, .. }
            | Outcome::Retry { reason, .. }
            | Outcome::ActivityEnded { reason }
            | Outcome::Rejected { reason }
            | Outcome::Unauthorized { reason } => Some(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::MOST_REASON_CHARS;

    /// Every key in which some provider explains itself.
    fn explained(words: &str) -> Bytes {
        let detail = serde_json::json!({"errorCode": words});
        let error = serde_json::json!({"message": words, "status": words, "details": [detail]});
        let said = serde_json::json!({"reason": words, "message": words, "errno": 1, "error": error});
        serde_json::to_vec(&said).unwrap().into()
    }

    #[test]
    fn reasons_have_at_most_500_characters_and_no_control_characters() {
        let endless = "é\0\u{1b}".repeat(10_000);
        let refused = serde_json::json!({"error": endless, "error_description": endless});
        for answering in Answering::ALL {
            for status in [200, 201, 204, 302, 400, 401, 403, 404, 408, 410, 413, 418, 429, 500, 502, 503, 504] {
                for body in [explained(&endless), explained(""), refused.to_string().into(), Bytes::new()] {
                    let answer = Response::builder()
                        .status(status)
                        .header("x-wns-status", "x".repeat(8_000))
                        .header("x-wns-error-description", "y".repeat(8_000))
                        .body(body)
                        .unwrap();
                    let meaning = answering.meaning(&answer, "push.example", UtcMillis(0));
                    let Some(reason) = meaning.as_ref().and_then(Outcome::reason) else { continue };
                    assert!(reason.chars().count() <= MOST_REASON_CHARS, "{answering:?} {status}: {reason}");
                    assert!(!reason.contains(char::is_control), "{answering:?} {status}: {reason:?}");
                }
            }
        }
    }
}
