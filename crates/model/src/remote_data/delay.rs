//! What an in-app message waits for between its trigger and being shown.

use super::trigger::Trigger;
use crate::json::At;
use crate::json::body::{Body, Words};
use crate::limits;

/// What a message waits for after it was triggered.
#[derive(Clone, Debug, Default, PartialEq, Body)]
#[body(check = Delay::check)]
pub struct Delay {
    #[body(range = 0.0..=f64::from(u32::MAX))]
    pub seconds: Option<f64>,
    pub app_state: Option<AppState>,
    /// One of these screens is shown.
    #[body(length = 1..=limits::REMOTE_DATA_ITEMS, each = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub screen: Option<Vec<String>>,
    /// The device is in this region.
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub region_id: Option<String>,
    /// The same, as libraries for iOS read it; either key is enough.
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub region: Option<String>,
    /// Any of them ends the waiting without the message.
    #[body(read = |at| Trigger::parse_many(at, 0))]
    pub cancellation_triggers: Option<Vec<Trigger>>,
    pub execution_window: Option<ExecutionWindow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum AppState {
    Foreground,
    Background,
}

/// The times at which the message may be shown.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct ExecutionWindow {
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS)]
    pub include: Option<Vec<WindowRule>>,
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS)]
    pub exclude: Option<Vec<WindowRule>>,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(tag = "type")]
pub enum WindowRule {
    Daily {
        time_range: TimeRange,
        time_zone: Option<WindowZone>,
    },
    Weekly {
        /// 1 is Sunday.
        #[body(length = 1..=7, each = 1..=7)]
        days_of_week: Vec<u32>,
        time_range: Option<TimeRange>,
        time_zone: Option<WindowZone>,
    },
    Monthly {
        #[body(length = 1..=12, each = 1..=12)]
        months: Option<Vec<u32>>,
        #[body(length = 1..=31, each = 1..=31)]
        days_of_month: Option<Vec<u32>>,
        time_range: Option<TimeRange>,
        time_zone: Option<WindowZone>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct TimeRange {
    #[body(range = 0..=23)]
    pub start_hour: u32,
    #[body(range = 0..=59)]
    pub start_minute: Option<u32>,
    #[body(range = 0..=23)]
    pub end_hour: u32,
    #[body(range = 0..=59)]
    pub end_minute: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(tag = "type")]
pub enum WindowZone {
    Utc,
    Local,
    Identifiers {
        /// Such as `Europe/Oslo`; a device takes the first that it knows.
        #[body(length = 1..=limits::REMOTE_DATA_ITEMS, each = 1..=limits::REMOTE_DATA_NAME_CHARS)]
        identifiers: Vec<String>,
        on_failure: Option<OnUnknownZone>,
        #[body(range = -86_400..=86_400)]
        fallback_seconds_from_utc: Option<i64>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum OnUnknownZone {
    Error,
    Skip,
}

impl Delay {
    /// Libraries for Android read one spelling of the region and those for iOS the other.
    fn check(mut self, at: &At<'_>) -> Option<Self> {
        match (&self.region_id, &self.region) {
            (Some(id), Some(region)) if id != region => {
                return at.invalid_key("region", "'region' and 'region_id' must name the same region.");
            }
            (id, region) => {
                let either = id.clone().or_else(|| region.clone());
                self.region_id = either.clone();
                self.region = either;
            }
        }
        Some(self)
    }
}
