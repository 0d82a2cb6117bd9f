//! The small values of an Android notification: priorities, category, visibility.

use serde::Serialize;

use crate::json::At;

/// Where the notification stands among others: -2 (last) to 2 (first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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

impl AndroidCategory {
    const WORDS: [(&'static str, AndroidCategory); 13] = [
        ("alarm", AndroidCategory::Alarm),
        ("call", AndroidCategory::Call),
        ("email", AndroidCategory::Email),
        ("err", AndroidCategory::Err),
        ("event", AndroidCategory::Event),
        ("msg", AndroidCategory::Msg),
        ("promo", AndroidCategory::Promo),
        ("recommendation", AndroidCategory::Recommendation),
        ("service", AndroidCategory::Service),
        ("social", AndroidCategory::Social),
        ("status", AndroidCategory::Status),
        ("sys", AndroidCategory::Sys),
        ("transport", AndroidCategory::Transport),
    ];

    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&Self::WORDS)
    }
}

/// Whether Firebase wakes a sleeping device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryPriority {
    High,
    #[default]
    Normal,
}

impl DeliveryPriority {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("high", DeliveryPriority::High), ("normal", DeliveryPriority::Normal)])
    }
}

/// Whether devices whose user has switched notifications off get the push all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliverTo {
    #[default]
    All,
    OptedIn,
}

impl DeliverTo {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("all", DeliverTo::All), ("opted_in", DeliverTo::OptedIn)])
    }
}
