//! Live Activities: content that stays on the lock screen and changes by push.

use serde_json::{Map, Value};

use super::ApnsPriority;
use crate::json::body::Body;
use crate::payload::decimal::Decimal;
use crate::payload::live_event::{EPOCH_SECONDS, LiveEvent};

/// Content that stays on the lock screen and changes by push.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct LiveActivity {
    /// Tells the Live Activities of a device apart.
    #[body(length = 1..=usize::MAX)]
    pub name: String,
    /// Whether it starts, changes or ends.
    pub event: LiveEvent,
    /// A notification that goes with the change.
    pub alert: Option<LiveActivityAlert>,
    /// What the app is to show now, by name.
    pub content_state: Option<Map<String, Value>>,
    /// How urgently Apple delivers it.
    pub priority: Option<ApnsPriority>,
    /// Unlike the score of a notification, this may exceed 1.
    #[body(range = 0.0..=f64::from(i32::MAX))]
    pub relevance_score: Option<Decimal>,
    /// When the content is out of date, in seconds since 1970.
    #[body(range = EPOCH_SECONDS)]
    pub stale_date: Option<i64>,
    /// When an ended Live Activity leaves the screen, in seconds since 1970.
    #[body(range = EPOCH_SECONDS)]
    pub dismissal_date: Option<i64>,
    /// When the content was current, in seconds since 1970. Devices ignore older content.
    #[body(range = EPOCH_SECONDS)]
    pub timestamp: Option<i64>,
    /// What does not change while it runs, by name. Needed to start it.
    pub attributes: Option<Map<String, Value>>,
    /// The type of these attributes in the app. Needed to start it.
    #[body(length = 1..=usize::MAX)]
    pub attributes_type: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct LiveActivityAlert {
    /// Shown above the text.
    pub title: Option<String>,
    /// The text.
    pub body: Option<String>,
    /// The name of a sound file in the app.
    pub sound: Option<String>,
}
