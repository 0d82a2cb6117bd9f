//! The meaning of a provider's answer, as the tables of the providers give it.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::time::UtcMillis;

use super::{AddressFault, Contact, Outcome, cut, retry_after};

/// The meaning of one kind of answer; [`Outcome`] without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Delivered,
    Gone,
    Refused(AddressFault),
    Rejected,
    /// The token is no longer good: get another one and ask once more.
    Renew,
    Unauthorized,
    Retry {
        everybody: bool,
    },
}

/// What one status, or one word of a provider with it, means.
pub(crate) struct Meaning {
    pub(crate) status: u16,
    /// The provider's own word for it; empty for any.
    pub(crate) word: &'static str,
    pub(crate) verdict: Verdict,
}

pub(crate) const fn meaning(status: u16, word: &'static str, verdict: Verdict) -> Meaning {
    Meaning { status, word, verdict }
}

impl Verdict {
    /// The verdict of the first row with this status and word. An answer without a row is judged by its status: 200 is success,
    /// 4xx is the fault of the message, and everything else is no answer of the provider's own, but one of a gateway (502, 504),
    /// of a host that redirects, or an undocumented success. A timeout (408) concerns one connection.
    pub(crate) fn find(table: &[Meaning], status: StatusCode, word: &str) -> Self {
        let fits =
            |meaning: &&Meaning| meaning.status == status.as_u16() && (meaning.word.is_empty() || meaning.word == word);
        match table.iter().find(fits) {
            Some(meaning) => meaning.verdict,
            None if status == StatusCode::OK => Verdict::Delivered,
            None if status == StatusCode::REQUEST_TIMEOUT => Verdict::Retry { everybody: false },
            None if status.is_client_error() => Verdict::Rejected,
            None => Verdict::Retry { everybody: true },
        }
    }

    /// The outcome of a message with this verdict. `reason` holds words of the provider, so it is cut.
    pub(crate) fn outcome(self, reason: String, answer: &Response<Bytes>, now: UtcMillis) -> Outcome {
        match self {
            Verdict::Delivered => Outcome::Delivered,
            Verdict::Gone => Outcome::Gone { since: None },
            Verdict::Refused(fault) => Outcome::Refused { reason: cut(reason), fault },
            Verdict::Rejected => Outcome::Rejected { reason: cut(reason) },
            Verdict::Renew | Verdict::Unauthorized => Outcome::Unauthorized { reason: cut(reason) },
            Verdict::Retry { everybody } => {
                let after = retry_after(answer.headers(), now);
                Outcome::Retry { after, reason: cut(reason), everybody, contact: Contact::Made }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_fits_and_a_guess_for_the_unknown() {
        let table = [
            meaning(400, "Word", Verdict::Gone),
            meaning(400, "", Verdict::Unauthorized),
            meaning(503, "", Verdict::Renew),
        ];
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
