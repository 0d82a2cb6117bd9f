//! The meaning of an endpoint's status for the messages in the request.

use std::ops::RangeInclusive;

use bytes::Bytes;
use http::Response;
use model::time::UtcMillis;

use crate::outcome::{Contact, Outcome, retry_after};

/// The outcome of the messages in one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// The same for each of them.
    Each(Outcome),
    /// The endpoint refused the request without saying which message it objects to: send smaller batches.
    Split,
}

enum Reaction {
    Delivered,
    Unauthorized,
    /// Something in the request will never be taken.
    Refused,
    Retry(&'static str),
}

/// The first row that fits counts. A status speaks for the whole request, so none of them says that one channel is gone: 410 is
/// about the endpoint itself, and open channels leave only when they are uninstalled. A status that is not about the messages may
/// come from a deployment, a proxy or a wrong setting, and is tried again.
const REACTIONS: [(RangeInclusive<u16>, Reaction); 9] = [
    (200..=299, Reaction::Delivered),
    (300..=399, Reaction::Retry(": redirects are not followed; set the platform's URL to the new location")),
    (400..=400, Reaction::Refused),
    (401..=401, Reaction::Unauthorized),
    (403..=403, Reaction::Unauthorized),
    (404..=404, Reaction::Retry(": there is no endpoint at the platform's URL")),
    (410..=410, Reaction::Retry(": the endpoint at the platform's URL has been removed")),
    (413..=413, Reaction::Refused),
    (422..=422, Reaction::Refused),
];

pub(crate) fn outcome(answer: &Response<Bytes>, n_messages: usize, now: UtcMillis) -> BatchOutcome {
    let status = answer.status();
    let reaction = REACTIONS.iter().find(|(statuses, _)| statuses.contains(&status.as_u16()));
    BatchOutcome::Each(match reaction.map_or(&Reaction::Retry(""), |(_, reaction)| reaction) {
        Reaction::Delivered => Outcome::Delivered,
        Reaction::Unauthorized => Outcome::Unauthorized {
            reason: format!("The endpoint answered {status}: it does not accept the platform's authentication."),
        },
        Reaction::Refused if n_messages > 1 => return BatchOutcome::Split,
        Reaction::Refused => {
            Outcome::Rejected { reason: format!("The endpoint answered {status}: it refused the message.") }
        }
        Reaction::Retry(why) => Outcome::Retry {
            after: retry_after(answer.headers(), now),
            reason: format!("The endpoint answered {status}{why}."),
            // There is one endpoint for all devices of the platform.
            everybody: true,
            contact: Contact::Made,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(status: u16, n_messages: usize, retry_after: Option<&str>) -> BatchOutcome {
        let mut answer = Response::builder().status(status);
        if let Some(value) = retry_after {
            answer = answer.header("retry-after", value);
        }
        outcome(&answer.body(Bytes::new()).unwrap(), n_messages, UtcMillis(0))
    }

    fn of_one(status: u16) -> Outcome {
        match of(status, 1, None) {
            BatchOutcome::Each(outcome) => outcome,
            BatchOutcome::Split => panic!("{status} would split a single message"),
        }
    }

    #[test]
    fn every_row() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(of_one(status), Outcome::Delivered, "{status}");
        }
        for status in [401, 403] {
            assert!(matches!(of_one(status), Outcome::Unauthorized { .. }), "{status}");
        }
        let again = [301, 307, 402, 404, 405, 408, 409, 410, 425, 429, 451, 500, 502, 503, 504, 599, 600, 999];
        for status in again {
            let Outcome::Retry { after: None, reason, everybody: true, .. } = of_one(status) else {
                panic!("{status}")
            };
            assert!(reason.contains(&status.to_string()), "{reason}");
        }
        for (status, why) in [(302, "redirects"), (404, "no endpoint"), (410, "removed")] {
            let Outcome::Retry { reason, .. } = of_one(status) else { panic!("{status}") };
            assert!(reason.contains(why), "{reason}");
        }
        for status in [400, 413, 422] {
            let Outcome::Rejected { reason } = of_one(status) else { panic!("{status}") };
            assert!(reason.contains(&status.to_string()), "{reason}");
        }
    }

    #[test]
    fn only_a_refusal_of_several_messages_leaves_open_which() {
        for status in [200, 301, 401, 404, 429, 500] {
            assert_eq!(of(status, 2, None), of(status, 1, None), "{status}");
        }
        for status in [400, 413, 422] {
            assert_eq!(of(status, 2, None), BatchOutcome::Split, "{status}");
        }
    }

    #[test]
    fn the_endpoint_says_when_to_come_back() {
        for (text, seconds) in [("7", 7), ("Thu, 01 Jan 1970 00:01:00 GMT", 60)] {
            let BatchOutcome::Each(Outcome::Retry { after, .. }) = of(503, 1, Some(text)) else { panic!("{text}") };
            assert_eq!(after, Some(Duration::from_secs(seconds)), "{text}");
        }
    }
}
