//! Events that devices upload, in every form that their libraries have used over the years.
//!
//! Reading is lenient on purpose, unlike everywhere else: a device cannot correct its events, it drops the whole batch if one is
//! refused, and old libraries differ. So anything unreadable costs at most one event.

mod data;
mod echo;
mod in_app;
mod interaction;
mod loose;
mod read;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::event::{Custom, FlagInteraction, Region, ScreenViewed, Unrecognized};
use crate::ids::EventId;
use crate::limits;
use crate::place::Point;
use crate::problem::Problems;
use crate::time::UtcMillis;

pub use echo::{Echo, PushEcho};
pub use in_app::{InAppEnd, UploadedInApp};
pub use interaction::UploadedInteraction;

/// The events of one upload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceEvents {
    pub events: Vec<DeviceEvent>,
    /// How many could not be understood, or were too large or too many.
    pub n_unreadable: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DeviceEvent {
    /// The same whenever the event is sent again.
    pub id: EventId,
    /// Whether the device gave no id, so that this one is derived from the text of the event.
    pub is_id_of_text: bool,
    /// By the clock of the device.
    pub time: Option<UtcMillis>,
    pub session: Option<String>,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Opened(AppOpening),
    Closed,
    Custom(UploadedCustom),
    Screen(ScreenViewed),
    Region(Region),
    Location(UploadedLocation),
    InAppDisplay(UploadedInApp),
    InAppEnd(UploadedInApp, InAppEnd),
    InAppInteraction(UploadedInteraction),
    FlagInteraction(FlagInteraction),
    Button(Button),
    Receipt(PushReceipt),
    /// All ids of the device in other systems.
    Identifiers(BTreeMap<String, String>),
    Other(Unrecognized),
}

/// The app came to the foreground.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppOpening {
    pub echo: Echo,
    pub connection_type: Option<String>,
    pub carrier: Option<String>,
    pub utc_offset_seconds: Option<i32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UploadedCustom {
    /// Without the pushes that may have led to it.
    pub event: Custom,
    pub echo: Echo,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedLocation {
    pub point: Point,
    /// As the device wrote them.
    pub latitude: String,
    pub longitude: String,
    pub foreground: bool,
}

/// A button of a notification was pressed.
#[derive(Clone, Debug, PartialEq)]
pub struct Button {
    pub echo: Echo,
    pub button: String,
    /// Whether it opened the app, which then uploads an event of its own.
    pub foreground: bool,
    /// As it came, for the log.
    pub whole: Unrecognized,
}

/// What became of a notification on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct PushReceipt {
    pub kind: ReceiptKind,
    pub push: Option<PushEcho>,
    /// The button that was pressed, if one was.
    pub button: Option<String>,
    /// As it came, for the log.
    pub whole: Unrecognized,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptKind {
    Received,
    Clicked,
    Dismissed,
}

impl DeviceEvents {
    /// Reads an array of events, or a single one. Fails for anything else, and for invalid JSON.
    pub fn read(body: &[u8]) -> Result<Self, Problems> {
        let raw = read::split(body)?;
        let mut events = Self { n_unreadable: raw.len().saturating_sub(limits::EVENTS_PER_UPLOAD), ..Self::default() };
        for raw in raw.into_iter().take(limits::EVENTS_PER_UPLOAD) {
            match read::event(raw.get()) {
                Some(event) => events.events.push(event),
                None => events.n_unreadable += 1,
            }
        }
        Ok(events)
    }
}
