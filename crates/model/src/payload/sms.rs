//! The override for text messages.

use serde::Serialize;

use super::expiry::Expiry;
use super::template::Template;
use crate::json::At;
use crate::limits;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SmsOverride {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shorten_links: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
}

impl SmsOverride {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let sms = Self {
            template: Template::take(&mut fields, &["alert"]),
            alert: fields.optional("alert", |alert| alert.text(1..=limits::SMS_ALERT_CHARS)),
            expiry: fields.optional("expiry", |at| Expiry::parse_within(at, 0..=limits::SMS_EXPIRY_SECONDS)),
            shorten_links: fields.optional("shorten_links", At::boolean),
        };
        fields.finish();
        Some(sms)
    }
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
