//! The Android override: keys that only devices reached through Firebase understand.

mod parts;
mod values;

use super::actions::Actions;
use super::color::Color;
use super::expiry::Expiry;
use super::extra::{self, TextExtra};
use super::interactive::Interactive;
use super::style::Style;
use super::template::TemplateReference;
use crate::json::body::Body;

pub use parts::{LiveUpdate, PublicNotification, Wearable, WearablePage};
pub use values::{AndroidCategory, DeliverTo, DeliveryPriority, NotificationPriority, Visibility};

/// Content and options for Android devices.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct AndroidOverride {
    pub alert: Option<String>,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub sound: Option<String>,
    pub icon: Option<String>,
    pub icon_color: Option<Color>,
    pub collapse_key: Option<String>,
    pub notification_channel: Option<String>,
    pub notification_tag: Option<String>,
    pub time_to_live: Option<Expiry>,
    /// Firebase ignores it nowadays; kept so that the payload prints back complete.
    pub delay_while_idle: Option<bool>,
    #[body(read = extra::android)]
    pub extra: Option<TextExtra>,
    pub priority: Option<NotificationPriority>,
    pub category: Option<AndroidCategory>,
    pub visibility: Option<Visibility>,
    pub public_notification: Option<PublicNotification>,
    pub local_only: Option<bool>,
    pub delivery_priority: Option<DeliveryPriority>,
    pub deliver_to: Option<DeliverTo>,
    pub style: Option<Style>,
    pub wearable: Option<Wearable>,
    pub live_update: Option<LiveUpdate>,
    pub interactive: Option<Interactive>,
    pub actions: Option<Actions>,
    #[body(first, take = |fields| TemplateReference::take(fields, &["alert", "title", "summary", "icon", "icon_color"]))]
    pub template: Option<TemplateReference>,
}

#[cfg(test)]
mod tests;
