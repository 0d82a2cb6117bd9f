//! URLs that a device or a provider fetches over HTTP.

use schemars::json_schema;
use serde::Serialize;

use crate::json::At;
use crate::json::body::Read;

/// A URL that a device or a provider fetches over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = json_schema!({"type": "string", "pattern": "^[hH][tT][tT][pP][sS]?://[^/\\\\s]"}))]
pub struct HttpUrl(String);

impl HttpUrl {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        let after_scheme = text
            .split_once("://")
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"));
        let Some((_, rest)) = after_scheme else {
            return at.invalid("A URL that begins with https:// or http:// is needed here.");
        };
        if rest.is_empty() || rest.starts_with('/') {
            return at.invalid("This URL names no host.");
        }
        if rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return at.invalid("A URL must not contain white space or control characters.");
        }
        Some(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn scheme_and_host_are_needed() {
        for body in [r#""https://example.com/a?b=c#d""#, r#""http://[::1]:80""#, r#""HTTPS://example.com""#] {
            let url = parse(body.as_bytes(), HttpUrl::parse).unwrap();
            assert_eq!(serde_json::to_string(&url).unwrap(), body);
        }
        for body in [
            r#""""#,
            r#""example.com""#,
            r#""ftp://example.com""#,
            r#""https://""#,
            r#""https:///a""#,
            r#""http://a b""#,
            "1",
        ] {
            parse(body.as_bytes(), HttpUrl::parse).unwrap_err();
        }
    }
}
