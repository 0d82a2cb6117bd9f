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

/// Content and options for Amazon devices.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct AmazonOverride {
    pub alert: Option<String>,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub sound: Option<String>,
    pub icon: Option<String>,
    pub icon_color: Option<Color>,
    pub notification_channel: Option<String>,
    pub notification_tag: Option<String>,
    pub consolidation_key: Option<String>,
    #[body(range = limits::AMAZON_EXPIRY_SECONDS)]
    pub expires_after: Option<Expiry>,
    pub extra: Option<TextExtra>,
    pub style: Option<Style>,
    pub interactive: Option<Interactive>,
    pub actions: Option<Actions>,
    #[body(first, take = |fields| TemplateReference::take(fields, &["alert", "title", "summary", "icon", "icon_color"]))]
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
