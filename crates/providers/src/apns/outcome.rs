//! The meaning of Apple's answers for a message.

use bytes::Bytes;
use http::Response;
use model::time::UtcMillis;
use serde::Deserialize;

use crate::outcome::{AddressFault, Meaning, Outcome, Verdict, meaning};

const TABLE: [Meaning; 13] = [
    // Both are said of every device when the environment or the topic is wrong.
    meaning(400, "BadDeviceToken", Verdict::Refused(AddressFault::Unknown)),
    // The device is there, but belongs to another app.
    meaning(400, "DeviceTokenNotForTopic", Verdict::Refused(AddressFault::Foreign)),
    // The topic does not fit this push type, which concerns messages of the type, and no device.
    meaning(400, "InvalidPushType", Verdict::Rejected),
    meaning(400, "BadTopic", Verdict::Unauthorized),
    meaning(400, "MissingTopic", Verdict::Unauthorized),
    meaning(400, "TopicDisallowed", Verdict::Unauthorized),
    meaning(400, "IdleTimeout", Verdict::Retry { everybody: false }),
    meaning(403, "ExpiredProviderToken", Verdict::Renew),
    meaning(403, "", Verdict::Unauthorized),
    meaning(410, "", Verdict::Gone),
    // Too many messages to this one device.
    meaning(429, "TooManyRequests", Verdict::Retry { everybody: false }),
    meaning(429, "", Verdict::Retry { everybody: true }),
    // Only the server at the other end of this connection.
    meaning(503, "Shutdown", Verdict::Retry { everybody: false }),
];

#[derive(Default, Deserialize)]
struct Problem {
    #[serde(default)]
    reason: String,
    /// Milliseconds; when Apple noticed that the device is gone.
    timestamp: Option<i64>,
}

pub(crate) fn judge(answer: &Response<Bytes>, now: UtcMillis) -> (Verdict, Outcome) {
    let status = answer.status();
    let problem: Problem = serde_json::from_slice(answer.body()).unwrap_or_default();
    let verdict = Verdict::find(&TABLE, status, &problem.reason);
    let mut reason = match problem.reason.as_str() {
        "" => format!("Apple answered {status}."),
        reason => format!("Apple answered {}: {reason}.", status.as_u16()),
    };
    if verdict == Verdict::Renew {
        reason.push_str(" Check the clock of this server.");
    }
    match verdict.outcome(reason, answer, now) {
        Outcome::Gone { since: _ } => (verdict, Outcome::Gone { since: problem.timestamp.map(UtcMillis) }),
        outcome => (verdict, outcome),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(status: u16, body: &str) -> (Verdict, Outcome) {
        judge(&Response::builder().status(status).body(Bytes::from(body.to_owned())).unwrap(), UtcMillis(0))
    }

    /// The meaning of the word of the meaning.
    fn word(status: u16, reason: &str) -> &'static str {
        let body = serde_json::json!({ "reason": reason }).to_string();
        let (word, text) = match of(status, &body) {
            (_, Outcome::Delivered) => return "delivered",
            (_, Outcome::Gone { since: None }) => return "gone",
            (_, Outcome::Refused { reason, fault: AddressFault::Unknown }) => ("unknown", reason),
            (_, Outcome::Refused { reason, fault: AddressFault::Foreign }) => ("foreign", reason),
            (_, Outcome::Rejected { reason }) => ("rejected", reason),
            (Verdict::Renew, Outcome::Unauthorized { reason }) => ("expired", reason),
            (_, Outcome::Unauthorized { reason }) => ("unauthorized", reason),
            (_, Outcome::Retry { after: None, reason, everybody: true, .. }) => ("retry all", reason),
            (_, Outcome::Retry { after: None, reason, everybody: false, .. }) => ("retry", reason),
            (verdict, other) => panic!("{status} {reason}: {verdict:?} {other:?}"),
        };
        assert!(text.contains(&status.to_string()) && text.contains(reason), "{text}");
        word
    }

    #[test]
    fn every_answer_that_apple_documents() {
        let table = [
            (200, "", "delivered"),
            (400, "BadCollapseId", "rejected"),
            (400, "BadDeviceToken", "unknown"),
            (400, "BadExpirationDate", "rejected"),
            (400, "BadMessageId", "rejected"),
            (400, "BadPriority", "rejected"),
            (400, "BadTopic", "unauthorized"),
            (400, "DeviceTokenNotForTopic", "foreign"),
            (400, "DuplicateHeaders", "rejected"),
            (400, "IdleTimeout", "retry"),
            (400, "InvalidPushType", "rejected"),
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
            (204, "retry all"),
            (302, "retry all"),
            (502, "retry all"),
            (504, "retry all"),
        ];
        for (status, expected) in table {
            assert_eq!(word(status, "SomethingNew"), expected, "{status}");
        }
        assert!(matches!(of(500, "<html>").1, Outcome::Retry { everybody: true, .. }));
    }

    #[test]
    fn what_comes_with_an_answer_is_kept() {
        let gone = of(410, r#"{"reason":"Unregistered","timestamp":1714564800000}"#);
        assert_eq!(gone.1, Outcome::Gone { since: Some(UtcMillis(1_714_564_800_000)) });
        let answer = Response::builder().status(503).header("retry-after", "7").body(Bytes::new()).unwrap();
        let (_, Outcome::Retry { after, .. }) = judge(&answer, UtcMillis(0)) else { panic!() };
        assert_eq!(after, Some(Duration::from_secs(7)));
    }
}
