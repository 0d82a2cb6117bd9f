//! The meaning of a push service's answer for the message and the browser.

use bytes::Bytes;
use http::Response;
use model::time::UtcMillis;
use serde::Deserialize;

use crate::outcome::{AddressFault, Meaning, Outcome, Verdict, meaning};

/// No more of what a push service says is kept as a reason.
const MOST_REASON_CHARS: usize = 200;

const TABLE: [Meaning; 12] = [
    // Services differ in how they say that they have taken a message.
    meaning(201, "", Verdict::Delivered),
    meaning(202, "", Verdict::Delivered),
    meaning(204, "", Verdict::Delivered),
    meaning(404, "", Verdict::Gone),
    meaning(410, "", Verdict::Gone),
    // The subscription was made with another key, or all of them were because the key pair is the wrong one; or this one service
    // objects to our contact or our clock, while the others serve us. No browser is gone for that.
    meaning(401, "", Verdict::Refused(AddressFault::Foreign)),
    meaning(403, "", Verdict::Refused(AddressFault::Foreign)),
    // Firebase's way of saying the same.
    meaning(400, "UnauthorizedRegistration", Verdict::Refused(AddressFault::Foreign)),
    meaning(400, "", Verdict::Rejected),
    meaning(413, "", Verdict::Rejected),
    // Windows says 406 where others say 429.
    meaning(406, "", Verdict::Retry { everybody: false }),
    meaning(429, "", Verdict::Retry { everybody: false }),
];

/// How Mozilla explains itself.
#[derive(Default, Deserialize)]
struct Explanation {
    errno: Option<u32>,
    message: Option<String>,
}

pub(crate) fn outcome(answer: &Response<Bytes>, service: &str, now: UtcMillis) -> Outcome {
    let status = answer.status();
    let text = String::from_utf8_lossy(answer.body());
    let word = if text.contains("UnauthorizedRegistration") { "UnauthorizedRegistration" } else { "" };
    let verdict = match Verdict::find(&TABLE, status, word) {
        // A throttled or failing service is one of several, so the other services' browsers need not wait: the client keeps away
        // from that service alone.
        Verdict::Retry { everybody: _ } => Verdict::Retry { everybody: false },
        verdict => verdict,
    };
    let explanation: Explanation = serde_json::from_str(&text).unwrap_or_default();
    let mut reason = format!("The push service at {service} answered {status}");
    if let Some(errno) = explanation.errno {
        reason.push_str(&format!(" (errno {errno})"));
    }
    if let Some(message) = explanation.message.as_deref().or((!word.is_empty()).then_some(word)) {
        reason.push_str(": ");
        reason.extend(message.chars().take(MOST_REASON_CHARS));
    }
    verdict.outcome(reason, answer, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(status: u16, body: &'static str) -> Outcome {
        let answer = Response::builder().status(status).header("retry-after", "30").body(Bytes::from(body)).unwrap();
        outcome(&answer, "push.example", UtcMillis(0))
    }

    #[test]
    fn every_row() {
        for status in [200, 201, 202] {
            assert_eq!(of(status, ""), Outcome::Delivered, "{status}");
        }
        for status in [404, 410] {
            assert_eq!(of(status, r#"{"errno":106}"#), Outcome::Gone { since: None }, "{status}");
        }
        for (status, body) in [(401, ""), (403, ""), (400, "<h1>UnauthorizedRegistration</h1>")] {
            assert!(matches!(of(status, body), Outcome::Refused { fault: AddressFault::Foreign, .. }), "{status}");
        }
        for status in [400, 413, 405, 418] {
            assert!(matches!(of(status, ""), Outcome::Rejected { .. }), "{status}");
        }
        for status in [301, 406, 408, 429, 500, 502, 503, 504] {
            let Outcome::Retry { after, everybody, .. } = of(status, "") else { panic!("{status}") };
            assert_eq!((after, everybody), (Some(Duration::from_secs(30)), false), "{status}");
        }
    }

    #[test]
    fn reasons_name_the_service_and_its_own_words() {
        let body = r#"{"code":401,"errno":109,"error":"Unauthorized","message":"Request did not validate"}"#;
        let Outcome::Refused { reason, .. } = of(401, body) else { panic!() };
        let expected =
            "The push service at push.example answered 401 Unauthorized (errno 109): Request did not validate";
        assert_eq!(reason, expected);
    }
}
