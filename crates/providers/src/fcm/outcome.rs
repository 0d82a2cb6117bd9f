//! The meaning of Firebase's answers for a message.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use model::time::UtcMillis;
use serde::Deserialize;

use crate::outcome::{AddressFault, Meaning, Outcome, Verdict, meaning};

/// Stands in place of a code for an `INVALID_ARGUMENT` that is about the device and not about the message.
const BAD_TOKEN: &str = "bad token";
/// How long Google wants to be left alone if an answer does not say, when a quota is used up and when something is broken.
const QUOTA_PAUSE: Duration = Duration::from_secs(60);
const FAILURE_PAUSE: Duration = Duration::from_secs(10);
/// No more of what Google says is kept as a reason.
const MOST_REASON_CHARS: usize = 300;

const TABLE: [Meaning; 8] = [
    // Also said of every device when the project is the wrong one.
    meaning(400, BAD_TOKEN, Verdict::Refused(AddressFault::Unknown)),
    // About the keys of Apple or of browsers that are stored with Firebase, for devices behind those.
    meaning(401, "THIRD_PARTY_AUTH_ERROR", Verdict::Rejected),
    meaning(401, "", Verdict::Renew),
    // The device is there, but belongs to another project.
    meaning(403, "SENDER_ID_MISMATCH", Verdict::Refused(AddressFault::Foreign)),
    meaning(403, "", Verdict::Unauthorized),
    meaning(404, "UNREGISTERED", Verdict::Gone),
    // There is no such project.
    meaning(404, "", Verdict::Unauthorized),
    meaning(429, "", Verdict::Retry { everybody: true }),
];

#[derive(Default, Deserialize)]
struct Answer {
    #[serde(default)]
    error: Problem,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    message: String,
    status: String,
    details: Vec<Detail>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Detail {
    #[serde(rename = "errorCode")]
    code: String,
}

pub(crate) fn judge(answer: &Response<Bytes>, now: UtcMillis) -> (Verdict, Outcome) {
    let status = answer.status();
    let problem = serde_json::from_slice::<Answer>(answer.body()).unwrap_or_default().error;
    let verdict = Verdict::find(&TABLE, status, problem.code());
    match verdict.outcome(problem.reason(status), answer, now) {
        Outcome::Retry { after: None, reason, everybody, contact } => {
            (verdict, Outcome::Retry { after: usual_pause(status), reason, everybody, contact })
        }
        outcome => (verdict, outcome),
    }
}

fn usual_pause(status: StatusCode) -> Option<Duration> {
    match status {
        StatusCode::TOO_MANY_REQUESTS => Some(QUOTA_PAUSE),
        status if status.is_server_error() => Some(FAILURE_PAUSE),
        _ => None,
    }
}

impl Problem {
    /// The code that decides; only answers about the registration itself have one beside the general status.
    fn code(&self) -> &str {
        let code = self.details.iter().map(|detail| detail.code.as_str()).find(|code| !code.is_empty()).unwrap_or("");
        // The same code also stands for a malformed message; only the text distinguishes them.
        let is_about_token = self.message.contains("registration token");
        if code == "INVALID_ARGUMENT" && is_about_token { BAD_TOKEN } else { code }
    }

    fn reason(&self, status: StatusCode) -> String {
        let code = self.details.iter().map(|detail| detail.code.as_str()).find(|code| !code.is_empty());
        let code = code.unwrap_or(&self.status);
        match (code, self.message.trim_end_matches('.')) {
            ("", _) => format!("Firebase answered {status}."),
            (code, "") => format!("Firebase answered {}: {code}.", status.as_u16()),
            (code, message) => {
                let message: String = message.chars().take(MOST_REASON_CHARS).collect();
                format!("Firebase answered {}: {code}: {message}.", status.as_u16())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(status: u16, body: &str) -> (Verdict, Outcome) {
        judge(&Response::builder().status(status).body(Bytes::from(body.to_owned())).unwrap(), UtcMillis(0))
    }

    fn failure(status: u16, canonical: &str, code: Option<&str>, message: &str) -> (Verdict, Outcome) {
        let fcm =
            code.map(|code| json!({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code}));
        let details: Vec<_> =
            [json!({"@type": "type.googleapis.com/google.rpc.Help"})].into_iter().chain(fcm).collect();
        let error = json!({"code": status, "message": message, "status": canonical, "details": details});
        of(status, &json!({ "error": error }).to_string())
    }

    fn word((verdict, outcome): (Verdict, Outcome)) -> (&'static str, String, Option<u64>) {
        match outcome {
            Outcome::Delivered => ("delivered", String::new(), None),
            Outcome::Gone { since: None } => ("gone", String::new(), None),
            Outcome::Refused { reason, fault: AddressFault::Unknown } => ("unknown", reason, None),
            Outcome::Refused { reason, fault: AddressFault::Foreign } => ("foreign", reason, None),
            Outcome::Rejected { reason } => ("rejected", reason, None),
            Outcome::Unauthorized { reason } if verdict == Verdict::Renew => ("token", reason, None),
            Outcome::Unauthorized { reason } => ("unauthorized", reason, None),
            Outcome::Retry { after, reason, everybody, .. } => {
                let word = if everybody { "retry all" } else { "retry" };
                (word, reason, after.map(|after| after.as_secs()))
            }
            other => panic!("{other:?}"),
        }
    }

    const BAD: &str = "The registration token is not a valid FCM registration token";

    #[test]
    fn every_answer_that_google_documents() {
        let table = [
            (400, "INVALID_ARGUMENT", Some("INVALID_ARGUMENT"), BAD, "unknown", None),
            (400, "INVALID_ARGUMENT", Some("INVALID_ARGUMENT"), "Message too big", "rejected", None),
            (400, "INVALID_ARGUMENT", None, "Invalid value at 'message.data[0].value'", "rejected", None),
            (401, "UNAUTHENTICATED", Some("THIRD_PARTY_AUTH_ERROR"), "Auth error from APNS", "rejected", None),
            (401, "UNAUTHENTICATED", None, "Request had invalid credentials", "token", None),
            (403, "PERMISSION_DENIED", Some("SENDER_ID_MISMATCH"), "SenderId mismatch", "foreign", None),
            (403, "PERMISSION_DENIED", None, "API has not been used in project", "unauthorized", None),
            (404, "NOT_FOUND", Some("UNREGISTERED"), "Requested entity was not found", "gone", None),
            (404, "NOT_FOUND", None, "Requested entity was not found", "unauthorized", None),
            (429, "RESOURCE_EXHAUSTED", Some("QUOTA_EXCEEDED"), "Quota exceeded", "retry all", Some(60)),
            (500, "INTERNAL", Some("INTERNAL"), "Internal error", "retry all", Some(10)),
            (503, "UNAVAILABLE", Some("UNAVAILABLE"), "The service is unavailable", "retry all", Some(10)),
        ];
        for (status, canonical, code, message, expected, seconds) in table {
            let (word, reason, after) = word(failure(status, canonical, code, message));
            assert_eq!((word, after), (expected, seconds), "{status} {code:?} {message}");
            let names_it = reason.contains(code.unwrap_or(canonical)) && reason.contains(message);
            assert!(names_it || word == "gone", "{reason}");
        }
        assert_eq!(of(200, r#"{"name":"projects/p/messages/1"}"#).1, Outcome::Delivered);
    }

    #[test]
    fn answers_that_nobody_documents() {
        let table = [
            (204, "retry all", None),
            (302, "retry all", None),
            (400, "rejected", None),
            (401, "token", None),
            (403, "unauthorized", None),
            (404, "unauthorized", None),
            (408, "retry", None),
            (413, "rejected", None),
            (418, "rejected", None),
            (429, "retry all", Some(60)),
            (502, "retry all", Some(10)),
            (504, "retry all", Some(10)),
            (511, "retry all", Some(10)),
        ];
        for (status, expected, seconds) in table {
            let (word, reason, after) = word(of(status, "<html>"));
            assert_eq!((word, after), (expected, seconds), "{status}");
            assert!(reason.contains(&status.to_string()), "{reason}");
        }
    }

    #[test]
    fn google_says_when_to_come_back() {
        let answer = Response::builder().status(429).header("retry-after", "7").body(Bytes::new()).unwrap();
        let (word, _, after) = word(judge(&answer, UtcMillis(0)));
        assert_eq!((word, after), ("retry all", Some(7)));
    }
}
