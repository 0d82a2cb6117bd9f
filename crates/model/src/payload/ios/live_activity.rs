//! Live Activities: content that stays on the lock screen and changes by push.

use serde_json::{Map, Value};

use super::ApnsPriority;
use crate::json::body::Body;
use crate::payload::decimal::Decimal;
use crate::payload::live_event::{EPOCH_SECONDS, LiveEvent};

/// Content that stays on the lock screen and changes by push.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct LiveActivity {
    #[body(length = 1..=usize::MAX)]
    pub name: String,
    pub event: LiveEvent,
    pub alert: Option<LiveActivityAlert>,
    pub content_state: Option<Map<String, Value>>,
    pub priority: Option<ApnsPriority>,
    /// Unlike the score of a notification, this may exceed 1.
    #[body(range = 0.0..=f64::from(i32::MAX))]
    pub relevance_score: Option<Decimal>,
    #[body(range = EPOCH_SECONDS)]
    pub stale_date: Option<i64>,
    #[body(range = EPOCH_SECONDS)]
    pub dismissal_date: Option<i64>,
    #[body(range = EPOCH_SECONDS)]
    pub timestamp: Option<i64>,
    pub attributes: Option<Map<String, Value>>,
    #[body(length = 1..=usize::MAX)]
    pub attributes_type: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct LiveActivityAlert {
    pub title: Option<String>,
    pub body: Option<String>,
    pub sound: Option<String>,
}
