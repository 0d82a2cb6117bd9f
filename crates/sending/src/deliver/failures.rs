//! Recipients that could not be served, by the reason, and what events say about it.

use std::collections::BTreeMap;

use model::event::RejectionStatus;
use model::ids::Ordinal;
use providers::outcome::AddressFault;
use roaring::RoaringBitmap;

/// Reasons told apart between two checkpoints. Hosts that devices name as push services could give each device its own.
const MOST_REASONS: usize = 32;
const OTHERS: &str = "Another reason, of too many to be kept apart.";

/// Reasons in words, with the recipients that each is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Failures(BTreeMap<(RejectionStatus, String), RoaringBitmap>);

impl Failures {
    pub(super) fn add(&mut self, status: RejectionStatus, reason: &str, recipients: impl IntoIterator<Item = Ordinal>) {
        let is_new = self.0.len() >= MOST_REASONS && !self.0.contains_key(&(status, reason.to_owned()));
        let reason = if is_new { OTHERS } else { reason };
        let set = self.0.entry((status, reason.to_owned())).or_default();
        set.extend(recipients.into_iter().map(|ordinal| ordinal.0));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (RejectionStatus, &str, &RoaringBitmap)> {
        self.0.iter().map(|((status, reason), set)| (*status, reason.as_str(), set))
    }

    pub(super) fn all(&self) -> RoaringBitmap {
        self.0.values().fold(RoaringBitmap::new(), |all, set| all | set)
    }

    pub(super) fn len(&self) -> u64 {
        self.all().len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What events say of an address that a provider does not take.
pub(super) const fn status_of(fault: AddressFault) -> RejectionStatus {
    match fault {
        AddressFault::Unknown => RejectionStatus::BadDeviceToken,
        AddressFault::Foreign => RejectionStatus::Unauthorized,
    }
}

/// What events say of a message that a provider will never take, by its words.
pub(super) fn status_of_rejection(reason: &str) -> RejectionStatus {
    let reason = reason.to_ascii_lowercase();
    match ["toolarge", "too large", "toobig", "too big", "413"].iter().any(|words| reason.contains(words)) {
        true => RejectionStatus::MessageTooBig,
        false => RejectionStatus::InvalidParameters,
    }
}
