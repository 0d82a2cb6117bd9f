//! Events of channels that servers and registrations cause.

use serde::{Deserialize, Serialize};

use crate::channel::TagSets;

/// A channel registered for the first time. There is nothing more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstOpen {}

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
