//! The meaning of a provider's answer, as the tables of the providers give it.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::time::UtcMillis;

use super::{Outcome, retry_after};

/// The meaning of one kind of answer; [`Outcome`] without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Delivered,
    Gone,
    Doubtful {
        gone: bool,
    },
    Rejected,
    /// The token is no longer good: get another one and ask once more.
    Renew,
    Unauthorized,
    Retry {
        everybody: bool,
    },
}

/// One row of a provider's table.
pub(crate) struct Row {
    pub(crate) status: u16,
    /// The provider's own word for it; empty for any.
    pub(crate) word: &'static str,
    pub(crate) verdict: Verdict,
}

pub(crate) const fn row(status: u16, word: &'static str, verdict: Verdict) -> Row {
    Row { status, word, verdict }
}

impl Verdict {
    /// The verdict of the first row with this status and word. An answer without a row is judged by its status: 200 is success,
    /// 4xx is the fault of the message, and everything else is no answer of the provider's own, but one of a gateway (502, 504),
    /// of a host that redirects, or an undocumented success. A timeout (408) concerns one connection.
    pub(crate) fn find(table: &[Row], status: StatusCode, word: &str) -> Self {
        let fits = |row: &&Row| row.status == status.as_u16() && (row.word.is_empty() || row.word == word);
        match table.iter().find(fits) {
            Some(row) => row.verdict,
            None if status == StatusCode::OK => Verdict::Delivered,
            None if status == StatusCode::REQUEST_TIMEOUT => Verdict::Retry { everybody: false },
            None if status.is_client_error() => Verdict::Rejected,
            None => Verdict::Retry { everybody: true },
        }
    }

    pub(crate) fn outcome(self, reason: String, answer: &Response<Bytes>, now: UtcMillis) -> Outcome {
        match self {
            Verdict::Delivered => Outcome::Delivered,
            Verdict::Gone => Outcome::Gone { since: None },
            Verdict::Doubtful { gone } => Outcome::Doubtful { reason, gone },
            Verdict::Rejected => Outcome::Rejected { reason },
            Verdict::Renew | Verdict::Unauthorized => Outcome::Unauthorized { reason },
            Verdict::Retry { everybody } => {
                Outcome::Retry { after: retry_after(answer.headers(), now), reason, everybody }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_fits_and_a_guess_for_the_unknown() {
        let table =
            [row(400, "Word", Verdict::Gone), row(400, "", Verdict::Unauthorized), row(503, "", Verdict::Renew)];
        let of = |status, word| Verdict::find(&table, StatusCode::from_u16(status).unwrap(), word);
        assert_eq!(
            (of(400, "Word"), of(400, "Other"), of(503, "x")),
            (Verdict::Gone, Verdict::Unauthorized, Verdict::Renew)
        );
        assert_eq!(of(200, ""), Verdict::Delivered);
        for status in [402, 404, 418, 499] {
            assert_eq!(of(status, ""), Verdict::Rejected, "{status}");
        }
        assert_eq!(of(408, ""), Verdict::Retry { everybody: false });
        for status in [202, 302, 500, 502, 504, 599, 999] {
            assert_eq!(of(status, ""), Verdict::Retry { everybody: true }, "{status}");
        }
    }
}
