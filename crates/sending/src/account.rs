//! The account of a push: what became of it for everybody whom its audience had, and why.

mod block;
mod listing;
mod marks;
mod why;

use audience::codec;
use base::Result;
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, NamedUserId, PushId};
use model::push_outcome::{PushOutcome, sentence};
use model::time::UtcMillis;
use store::Tx;
use store::pushes::{self, PushRow};

use crate::push::NO_SUCH_PUSH;

pub use listing::{RecipientsPage, RecipientsQuery, RecipientsStart, WantedRecipients};
pub use marks::fold_responses;
pub use why::{Person, Step, StepName, Why, WhyOfDevice};

/// Where a channel stands with a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standing {
    Ended(PushOutcome),
    /// Its turn has not come, or it has to be tried again.
    Pending,
    /// It was not in the audience.
    NotMatched,
}

impl Standing {
    pub const ALL: [Standing; 11] = [
        Standing::Ended(PushOutcome::Delivered),
        Standing::Ended(PushOutcome::Failed),
        Standing::Ended(PushOutcome::Gone),
        Standing::Ended(PushOutcome::Expired),
        Standing::Ended(PushOutcome::OptedOut),
        Standing::Ended(PushOutcome::NoAddress),
        Standing::Ended(PushOutcome::NotAddressed),
        Standing::Ended(PushOutcome::HeldBack),
        Standing::Ended(PushOutcome::Canceled),
        Standing::Pending,
        Standing::NotMatched,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Standing::Ended(outcome) => outcome.name(),
            Standing::Pending => "pending",
            Standing::NotMatched => "not_matched",
        }
    }

    /// For people. `reason` is as it is stored.
    pub fn sentence(self, reason: &str) -> String {
        match self {
            Standing::Ended(outcome) => sentence(outcome, reason),
            Standing::Pending => "The turn of the device has not come yet, or it has to be tried again.".to_owned(),
            Standing::NotMatched => "The device was not in the audience.".to_owned(),
        }
    }
}

/// What is told about one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    pub channel: ChannelId,
    pub device_type: DeviceType,
    /// Whose it is now.
    pub named_user: Option<NamedUserId>,
    pub standing: Standing,
    /// A name of ours, or the words of a provider; empty where there is nothing to say.
    pub reason: String,
    /// When; at most a minute earlier than it was. Not known of pushes that an earlier version sent.
    pub at: Option<UtcMillis>,
    pub response: Response,
}

/// What a channel did afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// It has told that it received the message.
    pub received: bool,
    /// It tapped the notification.
    pub opened: bool,
    /// It opened the app soon after the delivery.
    pub influenced: bool,
    /// It read the message; `None` if the push has put none into its inbox.
    pub read: Option<bool>,
}

/// Two stored sets of channels with an outcome as one; `None` if one of them cannot be read.
pub fn union_of_sets(one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    Some(codec::encode(&(codec::decode(one).ok()? | codec::decode(other).ok()?)))
}

/// A push, with what its account needs.
struct Accounted {
    row: PushRow,
    /// The device types that it had recipients of.
    device_types: Vec<DeviceType>,
}

impl Accounted {
    fn find(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Self> {
        let row = pushes::by_id(tx, app, push)?.ok_or(NO_SUCH_PUSH)?;
        let device_types = pushes::tallies(tx, app, push)?.into_iter().map(|(device_type, _)| device_type).collect();
        Ok(Self { row, device_types })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_can_be_asked_for_by_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = Standing::ALL.iter().map(|standing| standing.name()).collect();
        assert_eq!(names.len(), Standing::ALL.len());
        for (_, outcome) in PushOutcome::NUMBERED {
            assert!(Standing::ALL.contains(&Standing::Ended(outcome)));
        }
    }
}
