//! Any answer of a provider, of a push service that a browser names or of a token service means something, the same every time,
//! and leaves no more behind than may be kept: a short reason, a bounded wait, an address that a device could have. The same of a
//! webhook, and of an endpoint that is asked for its confirmation.
//!
//! An input is one character for who answers, the status, lines of headers, an empty line, and the body.
#![no_main]

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use model::ids::PushId;
use model::limits::PUSH_ADDRESS_CHARS;
use model::time::UtcMillis;
use providers::answers::{Answering, confirmation, of_webhook};
use providers::outcome::{MOST_REASON_CHARS, Outcome};
use providers::webhook::HookAnswer;

const NOW: UtcMillis = UtcMillis(1_714_564_800_000);
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);
const CODE: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
const ADDRESS: &str = "amzn1.adm-registration.v2.A";

fn read(input: &[u8]) -> Option<(Answering, Response<Bytes>)> {
    let end = input.windows(2).position(|two| two == b"\n\n").unwrap_or(input.len());
    let (head, body) = (&input[..end], input.get(end + 2..).unwrap_or_default());
    let mut lines = head.split(|byte| *byte == b'\n');
    let (who, status) = lines.next()?.split_first()?;
    let answering = Answering::ALL[usize::from(*who) % Answering::ALL.len()];
    let mut answer = Response::new(Bytes::copy_from_slice(body));
    *answer.status_mut() = StatusCode::from_bytes(status.trim_ascii()).ok()?;
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        answer.headers_mut().append(name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?);
    }
    Some((answering, answer))
}

/// What a webhook and an endpoint that is asked for its confirmation would mean by an answer.
fn check_others(answer: &Response<Bytes>) {
    if let HookAnswer::Failed { reason, after, .. } = of_webhook(answer, NOW) {
        assert!((1..=MOST_REASON_CHARS).contains(&reason.chars().count()), "a reason is short, and there is one");
        assert!(!reason.contains(char::is_control), "a reason has no control characters");
        assert!(after.is_none_or(|after| after <= LONGEST_WAIT), "a wait is bounded");
    }
    let code = CODE.parse::<PushId>().expect("a UUID").uuid();
    match confirmation(answer, code) {
        Ok(()) => {
            let confirmed: serde_json::Value = serde_json::from_slice(answer.body()).expect("a confirmation is JSON");
            assert!(answer.status() == StatusCode::OK && confirmed["confirmation_code"].is_string());
        }
        Err(refusal) => assert!(!refusal.to_string().is_empty(), "a refusal says why"),
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((answering, answer)) = read(input) else { return };
    check_others(&answer);
    let meaning = answering.meaning(&answer, ADDRESS, NOW);
    assert_eq!(answering.meaning(&answer, ADDRESS, NOW), meaning, "an answer means the same every time");
    let Some(outcome) = meaning else { return };
    if let Some(reason) = outcome.reason() {
        assert!((1..=MOST_REASON_CHARS).contains(&reason.chars().count()), "a reason is short, and there is one");
        assert!(!reason.contains(char::is_control), "a reason has no control characters");
    }
    match outcome {
        Outcome::Moved { address } => {
            assert!((1..=PUSH_ADDRESS_CHARS).contains(&address.chars().count()), "an address is no longer than others");
            assert!(!address.contains(char::is_control), "an address has no control characters");
        }
        Outcome::Retry { after, .. } => assert!(after.is_none_or(|after| after <= LONGEST_WAIT), "a wait is bounded"),
        Outcome::Delivered
        | Outcome::Gone { .. }
        | Outcome::Refused { .. }
        | Outcome::Rejected { .. }
        | Outcome::ActivityEnded { .. }
        | Outcome::Unauthorized { .. } => {}
    }
});
