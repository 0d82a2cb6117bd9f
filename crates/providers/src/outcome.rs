//! The outcome of handing messages to a provider: one type for all of them.

mod retry_after;
mod verdict;

pub use retry_after::retry_after;
pub(crate) use verdict::{Meaning, Verdict, meaning};

use std::time::Duration;

use model::time::UtcMillis;

use crate::http::SendError;

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

/// What a provider finds wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFault {
    /// It knows no such device.
    Unknown,
    /// The device is there, but belongs to another app, project or key pair.
    Foreign,
}

impl Outcome {
    /// No answer came. Only a refused address is certain to fail again.
    pub fn of_error(error: &SendError) -> Self {
        match error {
            SendError::Refused(refusal) => Outcome::Unauthorized { reason: refusal.to_string() },
            SendError::Timeout | SendError::Connection(_) => {
                Outcome::Retry { after: None, reason: error.to_string(), everybody: false }
            }
        }
    }
}
