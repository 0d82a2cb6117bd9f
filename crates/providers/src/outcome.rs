//! What became of handing messages to a provider: one type for all of them.

mod retry_after;

pub use retry_after::retry_after;

use std::time::Duration;

use crate::http::SendError;

/// The end of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    /// The device can no longer be reached at its address: the channel is uninstalled.
    Gone,
    /// Not now. `after` is what the provider asked for; without it the caller's own back-off applies.
    Retry {
        after: Option<Duration>,
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

impl Outcome {
    /// No answer came. Only a refused address is certain to fail again.
    pub fn of_error(error: &SendError) -> Self {
        match error {
            SendError::Refused(refusal) => Outcome::Unauthorized { reason: refusal.to_string() },
            SendError::Timeout | SendError::Connection(_) => Outcome::Retry { after: None, reason: error.to_string() },
        }
    }
}
