//! Events of channels that are caused by servers and registrations.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::attribute::AttributeValue;
use crate::channel::TagSets;
use crate::ids::{ChannelId, NamedUserId};
use crate::subscription::{Scope, SubscriptionListId};

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

/// Attributes of a channel, or of its named user, changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AttributeOperations {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<AttributeSet>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<AttributeRemoved>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttributeSet {
    pub key: String,
    pub value: AttributeValue,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttributeRemoved {
    pub key: String,
}

/// Subscriptions of a channel changed: its own, or those of its named user for channels like it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubscriptionChange {
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub enrolled: BTreeSet<SubscriptionListId>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub canceled: BTreeSet<SubscriptionListId>,
    /// The state after the change.
    pub current: BTreeSet<SubscriptionListId>,
    /// Of the named user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// A channel came to a named user or left one. The id of the contact is added when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactChange {
    pub change_type: ContactChangeKind,
    pub channel_id: ChannelId,
    pub named_user_id: NamedUserId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ContactChangeKind {
    Association,
    Dissociation,
    Uninstall,
}

impl AttributeOperations {
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.remove.is_empty()
    }
}
