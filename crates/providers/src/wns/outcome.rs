//! The meaning of Windows' answers for the message and the device.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::time::UtcMillis;

use crate::outcome::{AddressFault, Meaning, Outcome, Verdict, meaning};

const STATUS: &str = "x-wns-status";
const DESCRIPTION: &str = "x-wns-error-description";

/// The words of [`STATUS`], and `blocked`, which is read from the description.
const TABLE: [Meaning; 15] = [
    // Taken, but neither shown nor kept: the user turned notifications off, or the device is off and nothing may be kept.
    meaning(200, "dropped", Verdict::Rejected),
    meaning(200, "channelthrottled", Verdict::Retry { everybody: false }),
    meaning(200, "", Verdict::Delivered),
    meaning(400, "", Verdict::Rejected),
    meaning(401, "", Verdict::Renew),
    // The channel belongs to another app, or all of them do because the credentials are another app's.
    meaning(403, "", Verdict::Refused(AddressFault::Foreign)),
    meaning(404, "", Verdict::Gone),
    meaning(405, "", Verdict::Rejected),
    // The sender as a whole sends too much; Windows has no 429.
    meaning(406, "", Verdict::Retry { everybody: true }),
    // The sender's domain is blocked, which is unrelated to the device.
    meaning(410, "blocked", Verdict::Unauthorized),
    meaning(410, "", Verdict::Gone),
    meaning(413, "", Verdict::Rejected),
    meaning(429, "", Verdict::Retry { everybody: true }),
    meaning(500, "", Verdict::Retry { everybody: false }),
    meaning(503, "", Verdict::Retry { everybody: true }),
];

pub(crate) fn judge(answer: &Response<Bytes>, now: UtcMillis) -> (Verdict, Outcome) {
    let status = answer.status();
    let said = |name| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_blocked = status == StatusCode::GONE && said(DESCRIPTION).to_ascii_lowercase().contains("blocked");
    let verdict = Verdict::find(&TABLE, status, if is_blocked { "blocked" } else { said(STATUS) });
    let mut reason = format!("Windows answered {status}");
    for text in [said(STATUS), said(DESCRIPTION)].into_iter().filter(|text| !text.is_empty()) {
        reason.push_str(": ");
        reason.push_str(text);
    }
    (verdict, verdict.outcome(reason, answer, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(status: u16, said: &str, description: &str) -> (Verdict, Outcome) {
        let answer = Response::builder().status(status).header("retry-after", "5");
        let answer = answer.header(STATUS, said).header(DESCRIPTION, description);
        judge(&answer.body(Bytes::new()).unwrap(), UtcMillis(0))
    }

    #[test]
    fn every_row() {
        for meaning in &TABLE {
            let description = if meaning.word == "blocked" { "Domain Blocked" } else { "" };
            let (verdict, outcome) = of(meaning.status, meaning.word, description);
            assert_eq!(verdict, meaning.verdict, "{} {}", meaning.status, meaning.word);
            match (meaning.status, meaning.word, outcome) {
                (200, "", Outcome::Delivered) => {}
                (404 | 410, "", Outcome::Gone { since: None }) => {}
                (403, "", Outcome::Refused { fault: AddressFault::Foreign, .. }) => {}
                (200, "dropped", Outcome::Rejected { .. }) | (400 | 405 | 413, "", Outcome::Rejected { .. }) => {}
                (401, "", Outcome::Unauthorized { .. }) | (410, "blocked", Outcome::Unauthorized { .. }) => {}
                (200 | 406 | 429 | 500 | 503, _, Outcome::Retry { after, everybody, .. }) => {
                    assert_eq!(after, Some(Duration::from_secs(5)));
                    assert_eq!(everybody, [406, 429, 503].contains(&meaning.status), "{}", meaning.status);
                }
                (status, word, outcome) => panic!("{status} {word}: {outcome:?}"),
            }
        }
        assert_eq!(of(200, "received", "").1, Outcome::Delivered);
    }

    #[test]
    fn reasons_repeat_what_windows_said() {
        let (_, Outcome::Rejected { reason }) = of(400, "dropped", "Bad header") else { panic!() };
        assert_eq!(reason, "Windows answered 400 Bad Request: dropped: Bad header");
    }
}
