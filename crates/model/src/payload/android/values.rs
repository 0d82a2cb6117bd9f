//! The small values of an Android notification: priorities, category, visibility.

use schemars::json_schema;
use serde::Serialize;

use crate::json::At;
use crate::json::body::{Read, Words};

/// Where the notification stands among others: -2 (last) to 2 (first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = json_schema!({"type": "integer", "minimum": -2, "maximum": 2}))]
pub struct NotificationPriority(i8);

impl NotificationPriority {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.integer(-2..=2).and_then(|value| i8::try_from(value).ok()).map(Self)
    }

    pub const fn get(self) -> i8 {
        self.0
    }
}

/// How much the lock screen shows: -1 (nothing), 0 (that there is something), 1 (everything).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = json_schema!({"type": "integer", "minimum": -1, "maximum": 1}))]
pub struct Visibility(i8);

impl Visibility {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.integer(-1..=1).and_then(|value| i8::try_from(value).ok()).map(Self)
    }

    pub const fn get(self) -> i8 {
        self.0
    }
}

/// The category of the notification, in Android's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum AndroidCategory {
    Alarm,
    Call,
    Email,
    Err,
    Event,
    Msg,
    Promo,
    Recommendation,
    Service,
    Social,
    Status,
    Sys,
    Transport,
}

/// Whether Firebase wakes a sleeping device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Words)]
pub enum DeliveryPriority {
    High,
    #[default]
    Normal,
}

/// Whether devices whose user has switched notifications off get the push all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Words)]
pub enum DeliverTo {
    #[default]
    All,
    OptedIn,
}
