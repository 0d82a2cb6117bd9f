//! The override for picture messages.

use super::http_url::HttpUrl;
use super::template::{self, TemplateReference};
use crate::json::body::{Body, Words};
use crate::limits;

/// A picture message. Texts and slides are given here, except those that a template gives.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(keys = |fields| template::require_without(fields, &["fallback_text", "slides"]))]
pub struct MmsOverride {
    /// Sent with a link to the picture to phones that cannot receive pictures.
    #[body(length = 1..=limits::MMS_FALLBACK_CHARS)]
    pub fallback_text: Option<String>,
    /// Exactly one, in an array because the format requires it.
    #[body(read = |slides| slides.array(1..=1, Slide::parse)?.try_into().ok())]
    pub slides: Option<[Slide; 1]>,
    /// The subject.
    #[body(length = 0..=limits::MMS_SUBJECT_CHARS)]
    pub subject: Option<String>,
    pub shorten_links: Option<bool>,
    /// Where the texts come from instead.
    #[body(first, take = |fields| TemplateReference::take(fields, &["fallback_text", "subject", "text"]))]
    pub template: Option<TemplateReference>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Slide {
    /// The picture.
    pub media: SlideMedia,
    /// Shown with the picture.
    #[body(length = 0..=limits::MMS_TEXT_CHARS)]
    pub text: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct SlideMedia {
    /// Where the file is fetched.
    #[body(read = |url| { url.text(1..=limits::MMS_URL_CHARS)?; HttpUrl::parse(url) })]
    pub url: HttpUrl,
    /// Its MIME type.
    pub content_type: MediaType,
    /// Its length in bytes.
    #[body(range = 1..=limits::MMS_MEDIA_BYTES)]
    pub content_length: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum MediaType {
    #[words(rename = "image/jpeg")]
    Jpeg,
    #[words(rename = "image/gif")]
    Gif,
    #[words(rename = "image/png")]
    Png,
    #[words(rename = "text/vcard")]
    Vcard,
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
