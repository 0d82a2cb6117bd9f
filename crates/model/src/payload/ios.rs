//! The iOS override: keys that only Apple's devices understand.

mod alert;
mod live_activity;
mod media;
mod values;

use serde::Serialize;

use super::actions::Actions;
use super::decimal::Decimal;
use super::expiry::Expiry;
use super::extra::{self, JsonExtra};
use super::interactive::Interactive;
use super::template::Template;
use crate::json::{At, Fields, Json};
use crate::limits;

pub use alert::{AlertObject, IosAlert};
pub use live_activity::{LiveActivity, LiveActivityAlert};
pub use media::{Crop, MediaAttachment, MediaContent, MediaOptions};
pub use values::{ApnsPriority, Badge, InterruptionLevel, Sound};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IosOverride {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert: Option<IosAlert>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub badge: Option<Badge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sound: Option<Sound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_available: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutable_content: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<JsonExtra>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<ApnsPriority>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<Interactive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapse_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_content_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter_criteria: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interruption_level: Option<InterruptionLevel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance_score: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_attachment: Option<MediaAttachment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_activity: Option<LiveActivity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
}

impl IosOverride {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let ios = Self {
            template: Template::take(&mut fields, &["alert", "title", "subtitle"]),
            alert: fields.optional("alert", IosAlert::parse),
            title: fields.optional("title", At::any_text),
            subtitle: fields.optional("subtitle", At::any_text),
            badge: fields.optional("badge", Badge::parse),
            sound: fields.optional("sound", Sound::parse),
            content_available: flag(&mut fields, "content_available", "content-available"),
            mutable_content: flag(&mut fields, "mutable_content", "mutable-content"),
            extra: fields.optional("extra", extra::ios),
            expiry: fields.optional("expiry", Expiry::parse),
            priority: fields.optional("priority", ApnsPriority::parse),
            category: fields.optional("category", At::any_text),
            interactive: fields.optional("interactive", Interactive::parse),
            actions: fields.optional("actions", Actions::parse),
            thread_id: fields.optional("thread_id", At::any_text),
            collapse_id: fields.optional("collapse_id", collapse_id),
            target_content_id: fields.optional("target_content_id", At::any_text),
            filter_criteria: fields.optional("filter_criteria", At::any_text),
            interruption_level: fields.optional("interruption_level", InterruptionLevel::parse),
            relevance_score: fields.optional("relevance_score", Decimal::parse_fraction),
            media_attachment: fields.optional("media_attachment", MediaAttachment::parse),
            live_activity: fields.optional("live_activity", LiveActivity::parse),
        };
        fields.finish();
        Some(ios)
    }

    /// The alert with the title and subtitle that were given beside it, as Apple wants it.
    pub fn full_alert(&self) -> Option<IosAlert> {
        let (title, subtitle) = (self.title.as_deref(), self.subtitle.as_deref());
        let alert = match &self.alert {
            Some(alert) => alert.clone(),
            None if title.is_some() || subtitle.is_some() => IosAlert::Object(Box::default()),
            None => return None,
        };
        Some(alert.with_titles(title, subtitle))
    }

    /// Whether the user notices anything. A push that is not visible only wakes the app.
    pub fn is_visible(&self) -> bool {
        self.full_alert().is_some() || self.badge.is_some() || self.sound.is_some() || self.template.is_some()
    }

    /// The buttons decide; the category of the app's own counts when there are none.
    pub fn apns_category(&self) -> Option<&str> {
        self.interactive.as_ref().map(|interactive| interactive.kind.name()).or(self.category.as_deref())
    }

    pub fn apns_priority(&self) -> ApnsPriority {
        self.priority.unwrap_or(if self.is_visible() { ApnsPriority::Immediate } else { ApnsPriority::Considerate })
    }

    /// Media is fetched by an extension of the app, which may only then change the notification.
    pub fn is_mutable(&self) -> bool {
        self.mutable_content.unwrap_or(false) || self.media_attachment.is_some()
    }
}

/// A flag that clients also spell as Apple does: with a hyphen, and 1 for true.
fn flag(fields: &mut Fields<'_>, key: &str, apple_key: &str) -> Option<bool> {
    let read = |at: &At<'_>| match at.json() {
        Json::Number(number) if number.as_u64() == Some(1) => Some(true),
        Json::Number(number) if number.as_u64() == Some(0) => Some(false),
        _ => at.boolean(),
    };
    let value = fields.optional(key, read);
    let apple_value = fields.optional(apple_key, read);
    if fields.has(key) && fields.has(apple_key) {
        return fields.at().invalid_key(apple_key, format!("'{key}' is given already; leave one of the two out."));
    }
    value.or(apple_value)
}

fn collapse_id(at: &At<'_>) -> Option<String> {
    let id = at.text(1..=usize::MAX)?;
    if id.len() > limits::IOS_COLLAPSE_ID_BYTES {
        let most = limits::IOS_COLLAPSE_ID_BYTES;
        return at.invalid(format!("This must have at most {most} bytes in UTF-8; it has {}.", id.len()));
    }
    // It travels in a header.
    if id.contains(char::is_control) {
        return at.invalid("This must not contain line breaks or other control characters.");
    }
    Some(id)
}

#[cfg(test)]
mod tests;
