//! What Apple's answers mean for a message.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::time::UtcMillis;
use serde::Deserialize;

use crate::outcome::{Outcome, retry_after};

/// What to do about an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Settled(Outcome),
    /// Apple says that the token we signed is too old.
    TokenExpired(String),
}

#[derive(Clone, Copy)]
enum Meaning {
    Gone,
    /// Said of every device when the environment or the topic is wrong.
    Doubtful {
        gone: bool,
    },
    Rejected,
    Unauthorized,
    TokenExpired,
    Retry {
        everybody: bool,
    },
}

/// Stands for whatever reason no row before it names.
const ANY: &str = "";

/// The first row with the status and the reason counts.
const MEANINGS: [(u16, &str, Meaning); 22] = [
    (400, "BadDeviceToken", Meaning::Doubtful { gone: true }),
    // The device is there, but belongs to another app.
    (400, "DeviceTokenNotForTopic", Meaning::Doubtful { gone: false }),
    // The topic is not one for this type, which every message of the type hears.
    (400, "InvalidPushType", Meaning::Doubtful { gone: false }),
    (400, "BadTopic", Meaning::Unauthorized),
    (400, "MissingTopic", Meaning::Unauthorized),
    (400, "TopicDisallowed", Meaning::Unauthorized),
    (400, "IdleTimeout", Meaning::Retry { everybody: false }),
    (400, ANY, Meaning::Rejected),
    (403, "ExpiredProviderToken", Meaning::TokenExpired),
    (403, ANY, Meaning::Unauthorized),
    (404, ANY, Meaning::Rejected),
    (405, ANY, Meaning::Rejected),
    (408, ANY, Meaning::Retry { everybody: false }),
    (410, ANY, Meaning::Gone),
    (413, ANY, Meaning::Rejected),
    // Too many messages to this one device.
    (429, "TooManyRequests", Meaning::Retry { everybody: false }),
    (429, "TooManyProviderTokenUpdates", Meaning::Retry { everybody: true }),
    (429, ANY, Meaning::Retry { everybody: true }),
    (500, ANY, Meaning::Retry { everybody: true }),
    // Only the server at the other end of this connection.
    (503, "Shutdown", Meaning::Retry { everybody: false }),
    (503, ANY, Meaning::Retry { everybody: true }),
    (504, ANY, Meaning::Retry { everybody: true }),
];

#[derive(Default, Deserialize)]
struct Problem {
    #[serde(default)]
    reason: String,
    /// Milliseconds; when Apple noticed that the device is gone.
    timestamp: Option<i64>,
}

pub(super) fn verdict(answer: &Response<Bytes>, now: UtcMillis) -> Verdict {
    let status = answer.status();
    if status == StatusCode::OK {
        return Verdict::Settled(Outcome::Delivered);
    }
    let problem: Problem = serde_json::from_slice(answer.body()).unwrap_or_default();
    let row = MEANINGS
        .iter()
        .find(|(code, reason, _)| *code == status.as_u16() && (*reason == ANY || *reason == problem.reason));
    let otherwise = if status.is_server_error() { Meaning::Retry { everybody: true } } else { Meaning::Rejected };
    let reason = match problem.reason.as_str() {
        "" => format!("Apple answered {status}."),
        reason => format!("Apple answered {}: {reason}.", status.as_u16()),
    };
    Verdict::Settled(match row.map_or(otherwise, |(_, _, meaning)| *meaning) {
        Meaning::Gone => Outcome::Gone { since: problem.timestamp.map(UtcMillis) },
        Meaning::Doubtful { gone } => Outcome::Doubtful { reason, gone },
        Meaning::Rejected => Outcome::Rejected { reason },
        Meaning::Unauthorized => Outcome::Unauthorized { reason },
        Meaning::TokenExpired => return Verdict::TokenExpired(reason),
        Meaning::Retry { everybody } => Outcome::Retry { after: retry_after(answer.headers(), now), reason, everybody },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(status: u16, body: &str) -> Verdict {
        verdict(&Response::builder().status(status).body(Bytes::from(body.to_owned())).unwrap(), UtcMillis(0))
    }

    /// What the word of the row stands for.
    fn word(status: u16, reason: &str) -> &'static str {
        let body = serde_json::json!({ "reason": reason }).to_string();
        let outcome = match of(status, &body) {
            Verdict::TokenExpired(text) => {
                assert!(text.contains(reason), "{text}");
                return "expired";
            }
            Verdict::Settled(outcome) => outcome,
        };
        let (word, text) = match outcome {
            Outcome::Delivered => return "delivered",
            Outcome::Gone { since: None } => return "gone",
            Outcome::Doubtful { reason, gone: true } => ("doubtful, gone", reason),
            Outcome::Doubtful { reason, gone: false } => ("doubtful", reason),
            Outcome::Rejected { reason } => ("rejected", reason),
            Outcome::Unauthorized { reason } => ("unauthorized", reason),
            Outcome::Retry { after: None, reason, everybody: true } => ("retry all", reason),
            Outcome::Retry { after: None, reason, everybody: false } => ("retry", reason),
            other => panic!("{status} {reason}: {other:?}"),
        };
        assert!(text.contains(&status.to_string()) && text.contains(reason), "{text}");
        word
    }

    #[test]
    fn every_answer_that_apple_documents() {
        let table = [
            (200, "", "delivered"),
            (400, "BadCollapseId", "rejected"),
            (400, "BadDeviceToken", "doubtful, gone"),
            (400, "BadExpirationDate", "rejected"),
            (400, "BadMessageId", "rejected"),
            (400, "BadPriority", "rejected"),
            (400, "BadTopic", "unauthorized"),
            (400, "DeviceTokenNotForTopic", "doubtful"),
            (400, "DuplicateHeaders", "rejected"),
            (400, "IdleTimeout", "retry"),
            (400, "InvalidPushType", "doubtful"),
            (400, "MissingDeviceToken", "rejected"),
            (400, "MissingTopic", "unauthorized"),
            (400, "PayloadEmpty", "rejected"),
            (400, "TopicDisallowed", "unauthorized"),
            (403, "BadCertificate", "unauthorized"),
            (403, "BadCertificateEnvironment", "unauthorized"),
            (403, "BadEnvironmentKeyIdInToken", "unauthorized"),
            (403, "BadEnvironmentKeyInToken", "unauthorized"),
            (403, "ExpiredProviderToken", "expired"),
            (403, "Forbidden", "unauthorized"),
            (403, "InvalidProviderToken", "unauthorized"),
            (403, "MissingProviderToken", "unauthorized"),
            (403, "UnrelatedKeyIdInToken", "unauthorized"),
            (404, "BadPath", "rejected"),
            (405, "MethodNotAllowed", "rejected"),
            (410, "ExpiredToken", "gone"),
            (410, "Unregistered", "gone"),
            (413, "PayloadTooLarge", "rejected"),
            (429, "TooManyProviderTokenUpdates", "retry all"),
            (429, "TooManyRequests", "retry"),
            (500, "InternalServerError", "retry all"),
            (503, "ServiceUnavailable", "retry all"),
            (503, "Shutdown", "retry"),
        ];
        for (status, reason, expected) in table {
            assert_eq!(word(status, reason), expected, "{status} {reason}");
        }
    }

    #[test]
    fn answers_that_nobody_documents() {
        let table = [
            (400, "rejected"),
            (403, "unauthorized"),
            (408, "retry"),
            (418, "rejected"),
            (429, "retry all"),
            (302, "rejected"),
            (502, "retry all"),
            (504, "retry all"),
        ];
        for (status, expected) in table {
            assert_eq!(word(status, "SomethingNew"), expected, "{status}");
        }
        assert!(matches!(of(500, "<html>"), Verdict::Settled(Outcome::Retry { everybody: true, .. })));
    }

    #[test]
    fn what_comes_with_an_answer_is_kept() {
        let gone = of(410, r#"{"reason":"Unregistered","timestamp":1714564800000}"#);
        assert_eq!(gone, Verdict::Settled(Outcome::Gone { since: Some(UtcMillis(1_714_564_800_000)) }));
        let answer = Response::builder().status(503).header("retry-after", "7").body(Bytes::new()).unwrap();
        let Verdict::Settled(Outcome::Retry { after, .. }) = verdict(&answer, UtcMillis(0)) else { panic!() };
        assert_eq!(after, Some(Duration::from_secs(7)));
    }
}
