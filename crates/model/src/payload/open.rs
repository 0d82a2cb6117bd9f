//! The override of an open platform, which the customer's own server turns into a message.

use super::extra::TextExtra;
use super::interactive::Interactive;
use super::template::TemplateReference;
use crate::json::body::Body;

/// The texts that a template can fill in.
pub const OPEN_TEXTS: [&str; 4] = ["alert", "title", "summary", "media_attachment"];

/// Content for the channels of an open platform.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct OpenOverride {
    // A common client library sends null when the alert is not set.
    /// The text, in place of that for everybody.
    #[body(nullable)]
    pub alert: Option<String>,
    /// Shown above the text.
    pub title: Option<String>,
    /// Shown below the text.
    pub summary: Option<String>,
    /// A URI.
    #[body(length = 1..=usize::MAX)]
    pub media_attachment: Option<String>,
    /// Values for the receiving server, by name.
    pub extra: Option<TextExtra>,
    /// The buttons, in place of those for everybody.
    pub interactive: Option<Interactive>,
    /// Where the texts come from instead.
    #[body(first, take = |fields| TemplateReference::take(fields, &OPEN_TEXTS))]
    pub template: Option<TemplateReference>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<OpenOverride, String> {
        parse(body.to_string().as_bytes(), OpenOverride::parse).map_err(|problems| problems.first().path.clone())
    }

    #[test]
    fn good_and_bad() {
        for body in [
            json!({}),
            json!({"alert": "a", "title": "t", "summary": "s", "media_attachment": "https://example.com/a.png",
                "extra": {"a": "b"}, "interactive": {"type": "ua_share"}}),
            json!({"template": {"fields": {"alert": "a", "media_attachment": "{{url}}"}}}),
        ] {
            assert_eq!(json!(read(&body).unwrap()), body);
        }
        assert_eq!(json!(read(&json!({"alert": null, "title": "t"})).unwrap()), json!({"title": "t"}));
        for (body, path) in [
            (json!([]), ""),
            (json!({"alert": 1}), "alert"),
            (json!({"title": null}), "title"),
            (json!({"media_attachment": {"url": "https://example.com"}}), "media_attachment"),
            (json!({"extra": {"a": ["b"]}}), "extra.a"),
            (json!({"actions": {"share": "x"}}), "actions"),
            (
                json!({"interactive": {"type": "ua_share", "button_actions": {"share": {}}}}),
                "interactive.button_actions.share",
            ),
        ] {
            assert_eq!(read(&body).unwrap_err(), path, "{body}");
        }
    }
}
