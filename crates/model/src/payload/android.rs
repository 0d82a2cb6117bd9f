//! The Android override: keys that only devices reached through Firebase understand.

mod parts;
mod values;

use serde::Serialize;

use super::actions::Actions;
use super::color::Color;
use super::expiry::Expiry;
use super::extra::{self, TextExtra};
use super::interactive::Interactive;
use super::style::Style;
use super::template::Template;
use crate::json::At;

pub use parts::{LiveUpdate, PublicNotification, Wearable, WearablePage};
pub use values::{AndroidCategory, DeliverTo, DeliveryPriority, NotificationPriority, Visibility};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AndroidOverride {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sound: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_color: Option<Color>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapse_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification_channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification_tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_to_live: Option<Expiry>,
    /// Firebase ignores it nowadays; kept so that the payload prints back complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_while_idle: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<TextExtra>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<NotificationPriority>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<AndroidCategory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_notification: Option<PublicNotification>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_priority: Option<DeliveryPriority>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliver_to: Option<DeliverTo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wearable: Option<Wearable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_update: Option<LiveUpdate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<Interactive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
}

impl AndroidOverride {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let text_fields = ["alert", "title", "summary", "icon", "icon_color"];
        let android = Self {
            template: Template::take(&mut fields, &text_fields),
            alert: fields.optional("alert", At::any_text),
            title: fields.optional("title", At::any_text),
            summary: fields.optional("summary", At::any_text),
            sound: fields.optional("sound", At::any_text),
            icon: fields.optional("icon", At::any_text),
            icon_color: fields.optional("icon_color", Color::parse),
            collapse_key: fields.optional("collapse_key", At::any_text),
            notification_channel: fields.optional("notification_channel", At::any_text),
            notification_tag: fields.optional("notification_tag", At::any_text),
            time_to_live: fields.optional("time_to_live", Expiry::parse),
            delay_while_idle: fields.optional("delay_while_idle", At::boolean),
            extra: fields.optional("extra", extra::android),
            priority: fields.optional("priority", NotificationPriority::parse),
            category: fields.optional("category", AndroidCategory::parse),
            visibility: fields.optional("visibility", Visibility::parse),
            public_notification: fields.optional("public_notification", PublicNotification::parse),
            local_only: fields.optional("local_only", At::boolean),
            delivery_priority: fields.optional("delivery_priority", DeliveryPriority::parse),
            deliver_to: fields.optional("deliver_to", DeliverTo::parse),
            style: fields.optional("style", Style::parse),
            wearable: fields.optional("wearable", Wearable::parse),
            live_update: fields.optional("live_update", LiveUpdate::parse),
            interactive: fields.optional("interactive", Interactive::parse),
            actions: fields.optional("actions", Actions::parse),
        };
        fields.finish();
        Some(android)
    }
}

#[cfg(test)]
mod tests;
