//! The override for picture messages.

use serde::Serialize;

use super::http_url::HttpUrl;
use super::template::Template;
use crate::json::At;
use crate::limits;

/// The texts and slides that a template leaves open are given here; without a template, all of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MmsOverride {
    /// Sent with a link to the picture to phones that cannot receive pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_text: Option<String>,
    /// Exactly one, in an array because the format requires it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slides: Option<[Slide; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shorten_links: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slide {
    pub media: SlideMedia,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlideMedia {
    pub url: HttpUrl,
    pub content_type: MediaType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_length: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum MediaType {
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/gif")]
    Gif,
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "text/vcard")]
    Vcard,
}

impl MmsOverride {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let has_template = fields.has("template");
        let template = Template::take(&mut fields, &["fallback_text", "subject", "text"]);
        let fallback_text = fields.optional("fallback_text", |text| text.text(1..=limits::MMS_FALLBACK_CHARS));
        let slides = fields.optional("slides", |slides| {
            let slides = slides.array(1..=1, Slide::parse)?;
            slides.try_into().ok()
        });
        let subject = fields.optional("subject", |subject| subject.text(0..=limits::MMS_SUBJECT_CHARS));
        let shorten_links = fields.optional("shorten_links", At::boolean);
        for key in ["fallback_text", "slides"] {
            if !has_template && !fields.has(key) {
                at.missing::<()>(key);
            }
        }
        fields.finish();
        Some(Self { fallback_text, slides, subject, shorten_links, template })
    }
}

impl Slide {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let media = fields.required("media", SlideMedia::parse);
        let text = fields.optional("text", |text| text.text(0..=limits::MMS_TEXT_CHARS));
        fields.finish();
        Some(Self { media: media?, text })
    }
}

impl SlideMedia {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let url = fields.required("url", |url| {
            url.text(1..=limits::MMS_URL_CHARS)?;
            HttpUrl::parse(url)
        });
        let content_type = fields.required("content_type", |kind| {
            kind.choice(&[
                ("image/jpeg", MediaType::Jpeg),
                ("image/gif", MediaType::Gif),
                ("image/png", MediaType::Png),
                ("text/vcard", MediaType::Vcard),
            ])
        });
        let content_length = fields.optional("content_length", |length| length.integer(1..=limits::MMS_MEDIA_BYTES));
        fields.finish();
        Some(Self { url: url?, content_type: content_type?, content_length })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<MmsOverride, String> {
        parse(body.to_string().as_bytes(), MmsOverride::parse).map_err(|problems| problems.first().path.clone())
    }

    fn slide() -> Value {
        json!({"media": {"url": "https://example.com/a.jpg", "content_type": "image/jpeg"}})
    }

    #[test]
    fn good_and_bad() {
        for body in [
            json!({"fallback_text": "x", "slides": [slide()]}),
            json!({"fallback_text": "x", "subject": "s", "shorten_links": true, "slides": [{"text": "t", "media":
                {"url": "https://example.com/a.vcf", "content_type": "text/vcard", "content_length": 12}}]}),
            json!({"template": {"fields": {"fallback_text": "x", "subject": "s", "text": "t"}}, "slides": [slide()]}),
            json!({"template": {"external_id": "x"}}),
        ] {
            assert_eq!(json!(read(&body).unwrap()), body);
        }
        let media = |key: &str, value: Value| {
            let mut slide = slide();
            slide["media"][key] = value;
            json!({"fallback_text": "x", "slides": [slide]})
        };
        for (body, path) in [
            (json!({}), "fallback_text"),
            (json!({"slides": [slide()]}), "fallback_text"),
            (json!({"fallback_text": "x"}), "slides"),
            (json!({"fallback_text": "", "slides": [slide()]}), "fallback_text"),
            (json!({"fallback_text": "x".repeat(161), "slides": [slide()]}), "fallback_text"),
            (json!({"fallback_text": "x", "slides": []}), "slides"),
            (json!({"fallback_text": "x", "slides": [slide(), slide()]}), "slides"),
            (json!({"fallback_text": "x", "slides": [{}]}), "slides[0].media"),
            (json!({"fallback_text": "x", "slides": [slide()], "subject": "x".repeat(81)}), "subject"),
            (json!({"fallback_text": "x", "slides": [slide()], "alert": "x"}), "alert"),
            (media("url", json!(format!("https://{}", "x".repeat(2000)))), "slides[0].media.url"),
            (media("url", json!("a.jpg")), "slides[0].media.url"),
            (media("content_type", json!("image/webp")), "slides[0].media.content_type"),
            (media("content_length", json!(0)), "slides[0].media.content_length"),
        ] {
            assert_eq!(read(&body).unwrap_err(), path, "{body}");
        }
    }
}
