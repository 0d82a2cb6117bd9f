//! The Amazon override: keys that only devices reached through Amazon Device Messaging understand.

use serde::Serialize;

use super::actions::Actions;
use super::color::Color;
use super::expiry::Expiry;
use super::extra::{self, TextExtra};
use super::interactive::Interactive;
use super::style::Style;
use super::template::Template;
use crate::json::At;
use crate::limits;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AmazonOverride {
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
    pub notification_channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification_tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consolidation_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_after: Option<Expiry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<TextExtra>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<Interactive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
}

impl AmazonOverride {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let text_fields = ["alert", "title", "summary", "icon", "icon_color"];
        let amazon = Self {
            template: Template::take(&mut fields, &text_fields),
            alert: fields.optional("alert", At::any_text),
            title: fields.optional("title", At::any_text),
            summary: fields.optional("summary", At::any_text),
            sound: fields.optional("sound", At::any_text),
            icon: fields.optional("icon", At::any_text),
            icon_color: fields.optional("icon_color", Color::parse),
            notification_channel: fields.optional("notification_channel", At::any_text),
            notification_tag: fields.optional("notification_tag", At::any_text),
            consolidation_key: fields.optional("consolidation_key", At::any_text),
            expires_after: fields
                .optional("expires_after", |at| Expiry::parse_within(at, limits::AMAZON_EXPIRY_SECONDS)),
            extra: fields.optional("extra", extra::text),
            style: fields.optional("style", Style::parse),
            interactive: fields.optional("interactive", Interactive::parse),
            actions: fields.optional("actions", Actions::parse),
        };
        fields.finish();
        Some(amazon)
    }
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
