//! The outcome of handing messages to a provider: one type for all of them.

mod retry_after;
mod verdict;

pub use retry_after::retry_after;
pub(crate) use verdict::{Meaning, Verdict, meaning};

use std::time::Duration;

use model::time::UtcMillis;

use crate::http::SendError;

/// The most of a reason, in characters. It is kept in events, in the status of a push and in logs, and a provider, or a host that
/// a device names as one, may say as much as it likes.
pub const MOST_REASON_CHARS: usize = 500;

/// The end of one attempt to hand one message to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    /// Delivered, and the provider knows the device by another address from now on.
    Moved {
        address: String,
    },
    /// The device can no longer be reached at its address: the channel is uninstalled, unless it has registered again after
    /// `since`, when the provider noticed.
    Gone {
        since: Option<UtcMillis>,
    },
    /// The provider does not take the address of this device. It condemns no other: devices make addresses up. A provider says the
    /// same of every device when our configuration is wrong, which shows only in addresses that it served before.
    Refused {
        reason: String,
        fault: AddressFault,
    },
    /// Not now. `after` is what the provider asked for; without it the caller's own back-off applies.
    Retry {
        after: Option<Duration>,
        reason: String,
        /// The provider is throttling or failing as a whole, not just for this device.
        everybody: bool,
        contact: Contact,
    },
    /// The token of a Live Activity is not known any more. This concerns neither the device nor its address.
    ActivityEnded {
        reason: String,
    },
    /// This message will never be taken; the device stays.
    Rejected {
        reason: String,
    },
    /// The credentials or the configuration are wrong, so every other message would fail as well.
    Unauthorized {
        reason: String,
    },
}

/// How far a message got that has to be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact {
    /// The provider was asked, and may have it.
    Made,
    /// It could not be asked, as without a connection: this was no try.
    NotMade,
    /// Nothing follows for other messages: it was put off, or is for a host that only its device vouches for, which may be made up
    /// or gone for good, and answer what it likes.
    Unclear,
}

/// What a provider finds wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFault {
    /// It knows no such device.
    Unknown,
    /// The device is there, but belongs to another app, project or key pair.
    Foreign,
}

impl Contact {
    /// How far a request got that ended so.
    pub(crate) fn of(error: &SendError) -> Self {
        match error {
            SendError::Refused(_) | SendError::Untrusted(_) | SendError::Unreachable(_) => Contact::NotMade,
            SendError::Timeout | SendError::Connection(_) => Contact::Made,
        }
    }
}

impl Outcome {
    /// The same of a message to the token of a Live Activity, which is not the address of a device. Where the token is another
    /// app's, the topic is wrong, and the token stays.
    pub fn of_live_activity(self) -> Self {
        match self {
            Outcome::Gone { .. } | Outcome::Refused { fault: AddressFault::Unknown, .. } => {
                Outcome::ActivityEnded { reason: ACTIVITY_ENDED.to_owned() }
            }
            Outcome::Refused { reason, fault: AddressFault::Foreign } => Outcome::Rejected { reason },
            Outcome::Delivered
            | Outcome::Moved { .. }
            | Outcome::Retry { .. }
            | Outcome::ActivityEnded { .. }
            | Outcome::Rejected { .. }
            | Outcome::Unauthorized { .. } => self,
        }
    }

    /// No answer came. Only a refused address is certain to fail again.
    pub fn of_error(error: &SendError) -> Self {
        match error {
            SendError::Refused(refusal) => Outcome::Unauthorized { reason: cut(refusal.to_string()) },
            SendError::Timeout | SendError::Untrusted(_) | SendError::Unreachable(_) | SendError::Connection(_) => {
                let (reason, contact) = (cut(error.to_string()), Contact::of(error));
                Outcome::Retry { after: None, reason, everybody: false, contact }
            }
        }
    }
}

/// Why a message to the token of a Live Activity failed.
const ACTIVITY_ENDED: &str = "The Live Activity has ended: its token is not known any more.";

/// A reason of at most [`MOST_REASON_CHARS`]; the last character of a longer one is an ellipsis. Control characters become spaces:
/// the store takes no text with a NUL in it, and an escape sequence does not belong in a terminal that shows logs.
pub(crate) fn cut(mut reason: String) -> String {
    if reason.contains(char::is_control) {
        reason = reason.replace(char::is_control, " ");
    }
    if reason.len() > MOST_REASON_CHARS && reason.chars().nth(MOST_REASON_CHARS).is_some() {
        let end = reason.char_indices().nth(MOST_REASON_CHARS - 1).map_or(0, |(end, _)| end);
        reason.truncate(end);
        reason.push('…');
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_reasons_are_cut() {
        for fits in ["", "é", &"é".repeat(MOST_REASON_CHARS), &"e".repeat(MOST_REASON_CHARS)] {
            assert_eq!(cut(fits.to_owned()), fits);
        }
        for long in ["é".repeat(MOST_REASON_CHARS + 1), "e".repeat(64 * 1024)] {
            let reason = cut(long.clone());
            assert_eq!(reason.chars().count(), MOST_REASON_CHARS);
            assert!(reason.strip_suffix('…').is_some_and(|beginning| long.starts_with(beginning)), "{reason}");
        }
        assert_eq!(cut("a\0b\u{1b}[31m\r\n\u{9b}c".to_owned()), "a b [31m   c");
    }
}
