//! The override for text messages.

use super::expiry::Expiry;
use super::template::TemplateReference;
use crate::json::body::Body;
use crate::limits;

/// A text message.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct SmsOverride {
    #[body(length = 1..=limits::SMS_ALERT_CHARS)]
    pub alert: Option<String>,
    /// When carriers should no longer deliver it.
    #[body(range = 0..=limits::SMS_EXPIRY_SECONDS)]
    pub expiry: Option<Expiry>,
    pub shorten_links: Option<bool>,
    /// Where the text comes from instead.
    #[body(first, take = |fields| TemplateReference::take(fields, &["alert"]))]
    pub template: Option<TemplateReference>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<SmsOverride, String> {
        parse(body.to_string().as_bytes(), SmsOverride::parse).map_err(|problems| problems.first().path.clone())
    }

    #[test]
    fn good_and_bad() {
        for body in [
            json!({}),
            json!({"alert": "é".repeat(1600), "expiry": 172_800, "shorten_links": true}),
            json!({"alert": "a", "expiry": "2030-01-01T00:00:00"}),
            json!({"template": {"fields": {"alert": "Hi {{name}}"}}}),
        ] {
            assert_eq!(json!(read(&body).unwrap()), body);
        }
        for (body, path) in [
            (json!("a"), ""),
            (json!({"title": "t"}), "title"),
            (json!({"alert": ""}), "alert"),
            (json!({"alert": "x".repeat(1601)}), "alert"),
            (json!({"expiry": 172_801}), "expiry"),
            (json!({"shorten_links": "yes"}), "shorten_links"),
            (json!({"alert": "a", "template": {"fields": {"alert": "b"}}}), "alert"),
            (json!({"template": {"fields": {"title": "b"}}}), "template.fields.title"),
        ] {
            assert_eq!(read(&body).unwrap_err(), path, "{body}");
        }
    }
}
