//! The Amazon override: keys that only devices reached through Amazon Device Messaging understand.

use super::actions::Actions;
use super::color::Color;
use super::expiry::Expiry;
use super::extra::TextExtra;
use super::interactive::Interactive;
use super::style::Style;
use super::template::TemplateReference;
use crate::json::body::Body;
use crate::limits;

/// The texts that a template can fill in.
pub const AMAZON_TEXTS: [&str; 5] = ["alert", "title", "summary", "icon", "icon_color"];

/// Content and options for Amazon devices.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct AmazonOverride {
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
    /// The notification channel of the app, in which users choose how they are disturbed.
    pub notification_channel: Option<String>,
    /// A later notification with the same tag replaces this one.
    pub notification_tag: Option<String>,
    /// Of several notifications with the same key, a device that was offline gets the last.
    pub consolidation_key: Option<String>,
    /// When Amazon should no longer deliver it. It goes before the expiry of the push.
    #[body(range = limits::AMAZON_EXPIRY_SECONDS)]
    pub expires_after: Option<Expiry>,
    /// Values for the app, by name.
    pub extra: Option<TextExtra>,
    /// The expanded form.
    pub style: Option<Style>,
    /// The buttons, in place of those for everybody.
    pub interactive: Option<Interactive>,
    /// What a tap does, in place of the actions for everybody.
    pub actions: Option<Actions>,
    /// Where the texts come from instead.
    #[body(first, take = |fields| TemplateReference::take(fields, &AMAZON_TEXTS))]
    pub template: Option<TemplateReference>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<AmazonOverride, String> {
        parse(body.to_string().as_bytes(), AmazonOverride::parse).map_err(|problems| problems.first().path.clone())
    }

    #[test]
    fn good_and_bad() {
        for body in [
            json!({}),
            json!({"alert": "a", "title": "t", "summary": "s", "sound": "x", "icon": "i", "icon_color": "#000000",
                "notification_channel": "c", "notification_tag": "n", "consolidation_key": "k"}),
            json!({"expires_after": 60, "extra": {"a": "b"}, "style": {"type": "inbox", "lines": ["x"]}}),
            json!({"expires_after": 2_678_400}),
            json!({"expires_after": "2030-01-01T00:00:00"}),
            json!({"interactive": {"type": "ua_like"}, "actions": {"share": "x"}}),
            json!({"template": {"external_id": "x"}}),
        ] {
            assert_eq!(json!(read(&body).unwrap()), body);
        }
        for (body, path) in [
            (json!(1), ""),
            (json!({"time_to_live": 60}), "time_to_live"),
            (json!({"alert": 1}), "alert"),
            (json!({"icon_color": "#12345"}), "icon_color"),
            (json!({"expires_after": 59}), "expires_after"),
            (json!({"expires_after": 2_678_401}), "expires_after"),
            (json!({"extra": {"a": {}}}), "extra.a"),
            (json!({"style": {"type": "inbox"}}), "style.lines"),
            (json!({"interactive": {"type": "ua_x"}}), "interactive.type"),
            (json!({"actions": {"share": ""}}), "actions.share"),
        ] {
            assert_eq!(read(&body).unwrap_err(), path, "{body}");
        }
    }
}
