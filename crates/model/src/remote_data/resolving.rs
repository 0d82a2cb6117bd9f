//! The questions that devices ask about data they have: whether they belong to an audience that only the service knows.

use serde_json::Value;

use crate::ids::{ChannelId, ContactId};
use crate::json::body::Body;

/// The device that asks about a message or a flag. Tags and attributes that it has not uploaded yet are not taken into account.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, ignored = ["contact_id", "trigger", "tag_overrides", "attribute_overrides"])]
pub struct Resolving {
    pub channel_id: ChannelId,
    #[body(nullable)]
    pub platform: Option<String>,
    #[body(nullable)]
    pub state_overrides: Option<DeviceState>,
}

/// What the device says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
#[body(not_printed, ignored = ["app_version", "notification_opt_in"])]
pub struct DeviceState {
    #[body(nullable)]
    pub sdk_version: Option<String>,
    #[body(nullable)]
    pub locale_language: Option<String>,
    #[body(nullable)]
    pub locale_country: Option<String>,
}

/// A device that asks whether it may show a message.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct AudienceCheck {
    pub channel_id: ChannelId,
    pub contact_id: Option<ContactId>,
    #[body(nullable)]
    pub named_user_id: Option<String>,
    /// What the message or the configuration of the app gives along: `{"in_app_message_id": …}` or `{"segment_id": …}`.
    pub context: Option<Value>,
}
