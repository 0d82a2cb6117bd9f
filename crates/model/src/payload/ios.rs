//! The iOS override: keys that only Apple's devices understand.

mod alert;
mod live_activity;
mod media;
mod values;

use schemars::json_schema;

use super::actions::Actions;
use super::decimal::Decimal;
use super::expiry::Expiry;
use super::extra::{self, JsonExtra};
use super::interactive::Interactive;
use super::template::TemplateReference;
use crate::json::body::{Body, Read, Within};
use crate::json::{At, Fields, Json};
use crate::limits;

pub use alert::{AlertObject, IosAlert};
pub use live_activity::{LiveActivity, LiveActivityAlert};
pub use media::{Crop, MediaAttachment, MediaContent, MediaOptions};
pub use values::{ApnsPriority, Badge, InterruptionLevel, Sound};

/// The texts that a template can fill in.
pub const IOS_TEXTS: [&str; 3] = ["alert", "title", "subtitle"];

/// Content and options for iOS devices.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct IosOverride {
    /// The text, in place of that for everybody.
    pub alert: Option<IosAlert>,
    /// Shown above the text.
    pub title: Option<String>,
    /// Shown between the title and the text.
    pub subtitle: Option<String>,
    /// The number on the app's icon.
    pub badge: Option<Badge>,
    /// The sound to play.
    pub sound: Option<Sound>,
    /// Whether the app is woken in the background to fetch content.
    #[body(take = |fields| flag(fields, "content_available", "content-available"))]
    pub content_available: Option<bool>,
    /// Whether an extension of the app may change the notification before it is shown.
    #[body(take = |fields| flag(fields, "mutable_content", "mutable-content"))]
    pub mutable_content: Option<bool>,
    /// Values for the app, by name.
    #[body(read = extra::ios)]
    pub extra: Option<JsonExtra>,
    /// When Apple should no longer deliver it. It goes before the expiry of the push.
    pub expiry: Option<Expiry>,
    /// How urgently Apple delivers it.
    pub priority: Option<ApnsPriority>,
    /// The name of a category of the app's own, which has the buttons.
    pub category: Option<String>,
    /// The buttons, in place of those for everybody.
    pub interactive: Option<Interactive>,
    /// What a tap does, in place of the actions for everybody.
    pub actions: Option<Actions>,
    /// Notifications with the same id are grouped.
    #[body(take = |fields| either_spelling(fields, "thread_id", "thread-id", String::read))]
    pub thread_id: Option<String>,
    /// A later notification with the same id replaces this one.
    #[body(
        take = |fields| either_spelling(fields, "collapse_id", "collapse-id", collapse_id),
        schema = |_| json_schema!({"type": "string", "minLength": 1})
    )]
    pub collapse_id: Option<String>,
    /// Names the window of the app that is brought forward.
    #[body(take = |fields| either_spelling(fields, "target_content_id", "target-content-id", String::read))]
    pub target_content_id: Option<String>,
    /// Decides in which Focus modes the notification is shown.
    pub filter_criteria: Option<String>,
    /// How much the notification may disturb.
    #[body(take = |fields| either_spelling(fields, "interruption_level", "interruption-level", InterruptionLevel::read))]
    pub interruption_level: Option<InterruptionLevel>,
    /// Where it stands in the summary of notifications: 1 is first.
    #[body(take = relevance_score, schema = |_| json_schema!({"type": "number", "minimum": 0, "maximum": 1}))]
    pub relevance_score: Option<Decimal>,
    /// A picture, sound or film.
    pub media_attachment: Option<MediaAttachment>,
    /// Content that stays on the lock screen. Everything else for iOS is without effect then.
    pub live_activity: Option<LiveActivity>,
    /// Where the texts come from instead.
    #[body(first, take = |fields| TemplateReference::take(fields, &IOS_TEXTS))]
    pub template: Option<TemplateReference>,
}

impl IosOverride {
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
    either_spelling(fields, key, apple_key, read)
}

/// One of Airship's own examples has the hyphen.
fn relevance_score(fields: &mut Fields<'_>) -> Option<Decimal> {
    either_spelling(fields, "relevance_score", "relevance-score", |at| Decimal::read_within(at, 0.0..=1.0))
}

fn either_spelling<T>(
    fields: &mut Fields<'_>,
    key: &str,
    apple_key: &str,
    read: impl Fn(&At<'_>) -> Option<T>,
) -> Option<T> {
    let value = fields.optional(key, &read);
    let apple_value = fields.optional(apple_key, &read);
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
