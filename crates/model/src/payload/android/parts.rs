//! The objects inside an Android override: lock screen, watch and Live Update.

use serde_json::{Map, Value};

use crate::json::body::Body;
use crate::limits;
use crate::payload::interactive::Interactive;
use crate::payload::live_event::{EPOCH_SECONDS, LiveEvent};

/// The text that a locked screen shows instead of the notification.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct PublicNotification {
    pub title: Option<String>,
    pub alert: Option<String>,
    pub summary: Option<String>,
}

/// The content for a watch.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct Wearable {
    #[body(length = 1..=usize::MAX)]
    pub background_image: Option<String>,
    #[body(length = 0..=limits::WEARABLE_PAGES)]
    pub extra_pages: Option<Vec<WearablePage>>,
    pub interactive: Option<Interactive>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct WearablePage {
    pub title: Option<String>,
    pub alert: Option<String>,
}

/// Content that stays on the screen and changes by push.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct LiveUpdate {
    #[body(length = 1..=usize::MAX)]
    pub name: String,
    pub event: LiveEvent,
    pub content_state: Option<Map<String, Value>>,
    #[body(rename = "type", length = 1..=usize::MAX)]
    pub kind: Option<String>,
    #[body(range = EPOCH_SECONDS)]
    pub dismissal_date: Option<i64>,
    #[body(range = EPOCH_SECONDS)]
    pub timestamp: Option<i64>,
}
