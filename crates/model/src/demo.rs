//! The push that the demonstration page sends to itself.

use crate::ids::ChannelId;
use crate::json::body::Body;
use crate::{limits, name};

/// A push from the demonstration page to itself.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct DemoPush {
    /// The channel of the page.
    pub channel_id: ChannelId,
    /// What it says. No control characters.
    #[body(read = name::parse, length = 1..=limits::DISPLAY_NAME_CHARS)]
    pub alert: String,
}
