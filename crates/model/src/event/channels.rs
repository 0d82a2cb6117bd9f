//! Events of channels that are caused by servers and registrations.

use serde::{Deserialize, Serialize};

use crate::channel::TagSets;

/// A channel registered for the first time. Customers are told nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstOpen {
    /// Whether it could be shown notifications from the start; then this is its first opt-in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opted_in: bool,
}

/// A channel that registered before can be shown notifications for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstOptIn {}

/// A channel was uninstalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uninstall {
    /// Whether it was given up for inactivity.
    pub decay: bool,
}

/// The tags of a channel changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagChange {
    pub add: TagSets,
    pub remove: TagSets,
    /// The state after the change, of the groups that changed.
    pub current: TagSets,
}
