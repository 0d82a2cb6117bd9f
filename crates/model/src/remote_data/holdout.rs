//! Holdout groups: devices that are shown no in-app messages, for comparison.

use super::device_audience::{CompoundAudience, DeviceAudience};
use super::flag::TimeCriteria;
use crate::channel::name_text;
use crate::json::body::Body;
use crate::limits;
use crate::predicate::Predicate;

/// Devices that are shown no in-app messages. They tell what they would have shown.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(ignored = ["holdout_id", "created", "last_updated", "version"])]
pub struct HoldoutGroup {
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS, read = |at| name_text(at, limits::REMOTE_DATA_NAME_CHARS))]
    pub name: String,
    /// Usually a `hash`, which chooses a part of all devices.
    pub audience_selector: DeviceAudience,
    pub compound_audience: Option<CompoundAudience>,
    /// Messages that are shown all the same.
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS)]
    pub message_exclusions: Option<Vec<MessageExclusion>>,
    pub time_criteria: Option<TimeCriteria>,
}

/// Messages that a holdout group does not hold back.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_empty = "Say by 'message_type' or 'campaigns' which messages are meant.")]
pub struct MessageExclusion {
    /// Over the type of the message.
    pub message_type: Option<Predicate>,
    /// Over its campaigns: `{"categories": ["news"]}`.
    pub campaigns: Option<Predicate>,
}
