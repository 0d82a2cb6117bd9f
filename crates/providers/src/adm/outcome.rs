//! The meaning of Amazon's answers for the message and the device.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::limits::PUSH_ADDRESS_CHARS;
use model::time::UtcMillis;
use serde::Deserialize;

use crate::outcome::{AddressFault, Meaning, Outcome, Verdict, meaning};

const TABLE: [Meaning; 14] = [
    meaning(400, "Unregistered", Verdict::Gone),
    // Also said of every device when the credentials are those of another app.
    meaning(400, "InvalidRegistrationId", Verdict::Refused(AddressFault::Unknown)),
    meaning(400, "InvalidData", Verdict::Rejected),
    meaning(400, "InvalidConsolidationKey", Verdict::Rejected),
    meaning(400, "InvalidExpiration", Verdict::Rejected),
    meaning(400, "InvalidChecksum", Verdict::Rejected),
    meaning(400, "InvalidType", Verdict::Rejected),
    meaning(401, "AccessTokenExpired", Verdict::Renew),
    meaning(401, "", Verdict::Renew),
    meaning(403, "", Verdict::Unauthorized),
    meaning(413, "MessageTooLarge", Verdict::Rejected),
    meaning(429, "MaxRateExceeded", Verdict::Retry { everybody: true }),
    meaning(500, "", Verdict::Retry { everybody: false }),
    meaning(503, "", Verdict::Retry { everybody: true }),
];

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    reason: String,
    #[serde(rename = "registrationID")]
    registration_id: Option<String>,
}

/// `address` is what the message was sent to; Amazon may know the device by another one by now.
pub(crate) fn judge(answer: &Response<Bytes>, address: &str, now: UtcMillis) -> (Verdict, Outcome) {
    let status = answer.status();
    let said: Said = serde_json::from_slice(answer.body()).unwrap_or_default();
    let verdict = Verdict::find(&TABLE, status, &said.reason);
    // An address that no device could register with is not kept either.
    let is_new = |new: &String| {
        new != address && (1..=PUSH_ADDRESS_CHARS).contains(&new.chars().count()) && !new.contains(char::is_control)
    };
    if let (StatusCode::OK, Some(new)) = (status, said.registration_id.filter(is_new)) {
        return (verdict, Outcome::Moved { address: new });
    }
    let reason = match said.reason.as_str() {
        "" => format!("Amazon answered {status}."),
        reason => format!("Amazon answered {status}: {reason}."),
    };
    (verdict, verdict.outcome(reason, answer, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn of(status: u16, body: &serde_json::Value) -> (Verdict, Outcome) {
        let body = Bytes::from(body.to_string());
        let answer = Response::builder().status(status).header("retry-after", "9").body(body).unwrap();
        judge(&answer, "amzn1.adm-registration.v2.A", UtcMillis(0))
    }

    #[test]
    fn every_row() {
        for meaning in &TABLE {
            let (verdict, outcome) = of(meaning.status, &json!({"reason": meaning.word}));
            assert_eq!(verdict, meaning.verdict, "{} {}", meaning.status, meaning.word);
            match (meaning.status, meaning.word, outcome) {
                (400, "Unregistered", Outcome::Gone { since: None }) => {}
                (400, "InvalidRegistrationId", Outcome::Refused { fault: AddressFault::Unknown, .. }) => {}
                (400 | 413, _, Outcome::Rejected { reason }) => assert!(reason.contains(meaning.word), "{reason}"),
                (401 | 403, _, Outcome::Unauthorized { .. }) => {}
                (429 | 500 | 503, _, Outcome::Retry { after, everybody, .. }) => {
                    assert_eq!((after, everybody), (Some(Duration::from_secs(9)), meaning.status != 500));
                }
                (status, word, outcome) => panic!("{status} {word}: {outcome:?}"),
            }
        }
    }

    #[test]
    fn taken_and_perhaps_known_by_another_address() {
        assert_eq!(of(200, &json!({"registrationID": "amzn1.adm-registration.v2.A"})).1, Outcome::Delivered);
        assert_eq!(of(200, &json!({})).1, Outcome::Delivered);
        let moved = Outcome::Moved { address: "amzn1.adm-registration.v2.B".to_owned() };
        assert_eq!(of(200, &json!({"registrationID": "amzn1.adm-registration.v2.B"})).1, moved);
        for no_address in ["B".repeat(PUSH_ADDRESS_CHARS + 1), "B\0".to_owned(), String::new()] {
            assert_eq!(of(200, &json!({"registrationID": no_address})).1, Outcome::Delivered, "{no_address:?}");
        }
    }
}
