//! What devices tell, in every shape in which their libraries have told it over the years.
//!
//! Reading is lenient on purpose, unlike everywhere else: a device cannot mend what it sends, it drops a whole batch that is
//! refused, and what old libraries send differs. So what cannot be understood costs one event at most.

mod echo;
mod in_app;
mod loose;
mod read;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::event::{Custom, Region, ScreenViewed, Unrecognized};
use crate::ids::EventId;
use crate::limits;
use crate::place::Point;
use crate::problem::Problems;
use crate::time::UtcMillis;

pub use echo::{Echo, PushEcho};
pub use in_app::{InAppEnd, ToldInApp};

/// The events of one upload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceEvents {
    pub events: Vec<DeviceEvent>,
    /// Those that could not be understood, or were too large or too many.
    pub n_unreadable: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DeviceEvent {
    /// The same whenever the event is sent again.
    pub id: EventId,
    /// Whether the device gave no id, so that this one follows from the text of the event.
    pub is_id_of_text: bool,
    /// By the clock of the device.
    pub time: Option<UtcMillis>,
    pub session: Option<String>,
    pub told: Told,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Opened(Opened),
    Closed,
    Custom(ToldCustom),
    Screen(ScreenViewed),
    Region(Region),
    Location(ToldLocation),
    InAppDisplay(ToldInApp),
    InAppEnd(ToldInApp, InAppEnd),
    Button(Button),
    /// All the ids under which others know the device.
    Identifiers(BTreeMap<String, String>),
    Other(Unrecognized),
}

/// The app came to the foreground.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub echo: Echo,
    pub connection_type: Option<String>,
    pub carrier: Option<String>,
    pub utc_offset_seconds: Option<i32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToldCustom {
    /// Without the pushes it may be due to.
    pub event: Custom,
    pub echo: Echo,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldLocation {
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
    /// Whether the app was opened by it; then it tells so itself.
    pub foreground: bool,
    /// As it came, for the log.
    pub whole: Unrecognized,
}

impl DeviceEvents {
    /// Reads an array of events, or a single one. Fails for what is not JSON or neither of these.
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
