//! Types of hosted content and its form in JSON: MIME types and text encodings.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::json_schema;
use serde::Serialize;

use crate::json::body::Read;
use crate::json::{At, schema};
use crate::limits;

/// A MIME type such as `text/html` or `text/html; charset=utf-8`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = schema::text(1..=limits::CONTENT_TYPE_CHARS))]
pub struct ContentType(String);

impl ContentType {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.text(1..=limits::CONTENT_TYPE_CHARS)?;
        let essence = text.split(';').next().unwrap_or_default().trim_end();
        let is_mime = essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype));
        if !is_mime || text.contains(char::is_control) {
            return at.invalid(format!("'{text}' is not a MIME type such as text/html."));
        }
        Some(Self(text))
    }

    pub fn html() -> Self {
        Self("text/html".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The type that a body of this encoding is served as. Text that was not sent in base64 came as JSON, so its character set is
    /// known.
    pub fn served(&self, encoding: Option<ContentEncoding>) -> String {
        let lower = self.0.to_ascii_lowercase();
        let lacks_charset = lower.starts_with("text/") && !lower.contains("charset=");
        match encoding.unwrap_or(ContentEncoding::Utf8) {
            ContentEncoding::Utf8 if lacks_charset => format!("{}; charset=utf-8", self.0),
            ContentEncoding::Utf8 | ContentEncoding::Base64 => self.0.clone(),
        }
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
}

/// How the bytes of a body are written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = json_schema!({"type": "string", "enum": ["utf-8", "base64"]}))]
pub enum ContentEncoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

impl ContentEncoding {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        let is = |name: &str| text.eq_ignore_ascii_case(name);
        // One client library always writes it without the hyphen.
        if is("utf-8") || is("utf8") {
            return Some(ContentEncoding::Utf8);
        }
        if is("base64") {
            return Some(ContentEncoding::Base64);
        }
        at.invalid(format!("'{text}' is not known here; use 'utf-8' or 'base64'."))
    }

    /// The bytes of a body, or `None` when it does not follow the encoding.
    pub fn decode(self, body: &str) -> Option<Vec<u8>> {
        match self {
            ContentEncoding::Utf8 => Some(body.as_bytes().to_vec()),
            ContentEncoding::Base64 => STANDARD.decode(body).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn mime_types() {
        for body in [r#""text/html""#, r#""application/vnd.x+json""#, r#""text/html; charset=utf-8""#] {
            let content_type = parse(body.as_bytes(), ContentType::parse).unwrap();
            assert_eq!(serde_json::to_string(&content_type).unwrap(), body);
        }
        for body in [r#""""#, r#""html""#, r#""text/""#, r#""/html""#, r#""text/html/x""#, r#""te xt/html""#, "null"] {
            parse(body.as_bytes(), ContentType::parse).unwrap_err();
        }
    }

    #[test]
    fn text_is_served_with_its_character_set() {
        use ContentEncoding::{Base64, Utf8};
        for (given, encoding, served) in [
            ("text/html", None, "text/html; charset=utf-8"),
            ("Text/Plain", Some(Utf8), "Text/Plain; charset=utf-8"),
            ("text/html; Charset=latin1", None, "text/html; Charset=latin1"),
            ("text/html", Some(Base64), "text/html"),
            ("application/json", None, "application/json"),
        ] {
            assert_eq!(ContentType(given.to_owned()).served(encoding), served, "{given}");
        }
    }

    #[test]
    fn encodings_by_all_their_names() {
        for (text, encoding) in [
            ("utf-8", ContentEncoding::Utf8),
            ("utf8", ContentEncoding::Utf8),
            ("UTF-8", ContentEncoding::Utf8),
            ("Base64", ContentEncoding::Base64),
        ] {
            assert_eq!(parse(format!("\"{text}\"").as_bytes(), ContentEncoding::parse).unwrap(), encoding, "{text}");
        }
        for body in [r#""utf-16""#, r#""""#, "null"] {
            parse(body.as_bytes(), ContentEncoding::parse).unwrap_err();
        }
    }

    #[test]
    fn decoding() {
        assert_eq!(ContentEncoding::Utf8.decode("é").unwrap(), "é".as_bytes());
        assert_eq!(ContentEncoding::Base64.decode("aGk=").unwrap(), b"hi");
        assert_eq!(ContentEncoding::Base64.decode("a"), None);
    }
}
