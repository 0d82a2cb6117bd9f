//! The objects inside an Android override: lock screen, watch and Live Update.

use serde_json::{Map, Value};

use crate::json::body::Body;
use crate::limits;
use crate::payload::interactive::Interactive;
use crate::payload::live_event::{EPOCH_SECONDS, LiveEvent};

/// The text that a locked screen shows instead of the notification.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct PublicNotification {
    /// Shown above the text.
    pub title: Option<String>,
    /// The text.
    pub alert: Option<String>,
    /// Shown below the text.
    pub summary: Option<String>,
}

/// The content for a watch.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct Wearable {
    /// The address of a picture.
    #[body(length = 1..=usize::MAX)]
    pub background_image: Option<String>,
    /// Further pages to leaf through.
    #[body(length = 0..=limits::WEARABLE_PAGES)]
    pub extra_pages: Option<Vec<WearablePage>>,
    /// The buttons on the watch.
    pub interactive: Option<Interactive>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct WearablePage {
    /// Shown above the text.
    pub title: Option<String>,
    /// The text.
    pub alert: Option<String>,
}

/// Content that stays on the screen and changes by push.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct LiveUpdate {
    /// Tells the Live Updates of a device apart.
    #[body(length = 1..=usize::MAX)]
    pub name: String,
    /// Whether it starts, changes or ends.
    pub event: LiveEvent,
    /// What the app is to show now, by name.
    pub content_state: Option<Map<String, Value>>,
    /// The kind of Live Update that the app registered.
    #[body(rename = "type", length = 1..=usize::MAX)]
    pub kind: Option<String>,
    /// When an ended Live Update leaves the screen, in seconds since 1970.
    #[body(range = EPOCH_SECONDS)]
    pub dismissal_date: Option<i64>,
    /// When the content was current, in seconds since 1970. Devices ignore older content.
    #[body(range = EPOCH_SECONDS)]
    pub timestamp: Option<i64>,
}
