//! What the status of a webhook's answer means for the messages in the request.

use std::ops::RangeInclusive;

use bytes::Bytes;
use http::Response;
use model::time::UtcMillis;

use crate::outcome::{Outcome, retry_after};

enum Verdict {
    Delivered,
    Retry,
    Rejected(&'static str),
    Unauthorized,
}

/// The first row that fits counts. A status speaks for the whole request, so none of them says that one channel is gone:
/// 410 is about the webhook itself, and open channels leave only when they are uninstalled.
const VERDICTS: [(RangeInclusive<u16>, Verdict); 10] = [
    (200..=299, Verdict::Delivered),
    (300..=399, Verdict::Rejected("redirects are not followed; set the platform's URL to the new location")),
    (401..=401, Verdict::Unauthorized),
    (403..=403, Verdict::Unauthorized),
    (404..=404, Verdict::Rejected("there is no webhook at the platform's URL")),
    (408..=408, Verdict::Retry),
    (410..=410, Verdict::Rejected("the webhook at the platform's URL has been removed")),
    (425..=425, Verdict::Retry),
    (429..=429, Verdict::Retry),
    (400..=499, Verdict::Rejected("the webhook refused the request")),
];

pub(super) fn outcome(answer: &Response<Bytes>, now: UtcMillis) -> Outcome {
    let status = answer.status();
    let verdict = VERDICTS.iter().find(|(statuses, _)| statuses.contains(&status.as_u16()));
    // What is in no row is a failure of the receiver's: 5xx, or a status that HTTP does not know.
    match verdict.map_or(&Verdict::Retry, |(_, verdict)| verdict) {
        Verdict::Delivered => Outcome::Delivered,
        Verdict::Retry => Outcome::Retry {
            after: retry_after(answer.headers(), now),
            reason: format!("The webhook answered {status}."),
        },
        Verdict::Rejected(why) => Outcome::Rejected { reason: format!("The webhook answered {status}: {why}.") },
        Verdict::Unauthorized => Outcome::Unauthorized {
            reason: format!("The webhook answered {status}: it does not accept the platform's authentication."),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(status: u16, retry_after: Option<&str>) -> Outcome {
        let mut answer = Response::builder().status(status);
        if let Some(value) = retry_after {
            answer = answer.header("retry-after", value);
        }
        outcome(&answer.body(Bytes::new()).unwrap(), UtcMillis(0))
    }

    #[test]
    fn every_row() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(of(status, None), Outcome::Delivered, "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 504, 599, 600, 999] {
            assert!(matches!(of(status, None), Outcome::Retry { after: None, .. }), "{status}");
            let seven = Some(Duration::from_secs(7));
            assert!(matches!(of(status, Some("7")), Outcome::Retry { after, .. } if after == seven), "{status}");
            let at_epoch = Some("Thu, 01 Jan 1970 00:01:00 GMT");
            let minute = Some(Duration::from_secs(60));
            assert!(matches!(of(status, at_epoch), Outcome::Retry { after, .. } if after == minute), "{status}");
        }
        for status in [401, 403] {
            assert!(matches!(of(status, None), Outcome::Unauthorized { .. }), "{status}");
        }
        let rejected = [
            (301, "redirects"),
            (307, "redirects"),
            (400, "refused"),
            (404, "no webhook"),
            (405, "refused"),
            (410, "removed"),
            (413, "refused"),
            (422, "refused"),
        ];
        for (status, why) in rejected {
            let Outcome::Rejected { reason } = of(status, None) else { panic!("{status}") };
            assert!(reason.contains(why) && reason.contains(&status.to_string()), "{reason}");
        }
    }
}
