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

/// The texts that a template can fill in.
pub const ANDROID_TEXTS: [&str; 5] = ["alert", "title", "summary", "icon", "icon_color"];

/// Content and options for Android devices.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct AndroidOverride {
    /// The text, in place of that for everybody.
    pub alert: Option<String>,
    /// Shown above the text.
    pub title: Option<String>,
    /// Shown below the text.
    pub summary: Option<String>,
    /// The name of a sound file in the app.
    pub sound: Option<String>,
    /// The name of a picture in the app.
    pub icon: Option<String>,
    /// The color of the icon.
    pub icon_color: Option<Color>,
    /// Of several notifications with the same key, a device that was offline gets the last.
    pub collapse_key: Option<String>,
    /// The notification channel of the app, in which users choose how they are disturbed.
    pub notification_channel: Option<String>,
    /// A later notification with the same tag replaces this one.
    pub notification_tag: Option<String>,
    /// When Firebase should no longer deliver it. It goes before the expiry of the push.
    pub time_to_live: Option<Expiry>,
    /// Firebase ignores it nowadays; kept so that the payload prints back complete.
    pub delay_while_idle: Option<bool>,
    /// Values for the app, by name.
    #[body(read = extra::android)]
    pub extra: Option<TextExtra>,
    /// Where it stands among others.
    pub priority: Option<NotificationPriority>,
    /// What kind of notification it is.
    pub category: Option<AndroidCategory>,
    /// How much the lock screen shows.
    pub visibility: Option<Visibility>,
    /// What the lock screen shows instead.
    pub public_notification: Option<PublicNotification>,
    /// Whether it stays on this device and is not shown on a watch.
    pub local_only: Option<bool>,
    /// Whether a sleeping device is woken.
    pub delivery_priority: Option<DeliveryPriority>,
    /// Whether only devices that show notifications get it.
    pub deliver_to: Option<DeliverTo>,
    /// The expanded form.
    pub style: Option<Style>,
    /// What differs on a watch.
    pub wearable: Option<Wearable>,
    /// Starts, changes or ends a Live Update.
    pub live_update: Option<LiveUpdate>,
    /// The buttons, in place of those for everybody.
    pub interactive: Option<Interactive>,
    /// What a tap does, in place of the actions for everybody.
    pub actions: Option<Actions>,
    /// Where the texts come from instead.
    #[body(first, take = |fields| TemplateReference::take(fields, &ANDROID_TEXTS))]
    pub template: Option<TemplateReference>,
}

#[cfg(test)]
mod tests;
