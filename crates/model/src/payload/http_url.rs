//! URLs that a device or a provider fetches over HTTP.

use personalization::{Part, Template};
use schemars::json_schema;
use serde::Serialize;

use crate::json::body::Read;
use crate::json::{At, Texts};

/// A URL that a device or a provider fetches over HTTP. In a personalized push it may have tags, and begin with one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = json_schema!({"type": "string", "pattern": "^([hH][tT][tT][pP][sS]?://[^/\\s]|\\{\\{)"}))]
pub struct HttpUrl(String);

const WITH_SPACE: &str = "A URL must not contain white space or control characters.";
/// Stands where something is filled in.
const SOMETHING: &str = "x";

impl HttpUrl {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        let complaint = match at.texts() {
            Texts::Final => Self::complaint(text),
            Texts::Tagged => complaint_about_written(text),
            Texts::Accepted => None,
        };
        match complaint {
            Some(complaint) => at.invalid(complaint),
            None => Some(Self(text.to_owned())),
        }
    }

    /// What keeps a text from being such a URL.
    pub(crate) fn complaint(text: &str) -> Option<&'static str> {
        let after_scheme = text
            .split_once("://")
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"));
        let Some((_, rest)) = after_scheme else {
            return Some("A URL that begins with https:// or http:// is needed here.");
        };
        if rest.is_empty() || rest.starts_with('/') {
            return Some("This URL names no host.");
        }
        has_space(rest).then_some(WITH_SPACE)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The same for what is written around tags. Mistakes in these are noted with those of all other texts.
fn complaint_about_written(text: &str) -> Option<&'static str> {
    let parts = Template::parse(text).ok()?.into_parts();
    let written = |part: &Part| match part {
        Part::Constant(text) => text.clone(),
        Part::Varying(_) => SOMETHING.to_owned(),
    };
    let whole: String = parts.iter().map(written).collect();
    match parts.first() {
        Some(Part::Varying(_)) => has_space(&whole).then_some(WITH_SPACE),
        Some(Part::Constant(_)) | None => HttpUrl::complaint(&whole),
    }
}

fn has_space(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || c.is_control())
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
            r#""{{{url}}}""#,
            "1",
        ] {
            parse(body.as_bytes(), HttpUrl::parse).unwrap_err();
        }
    }

    #[test]
    fn of_a_url_with_tags_the_rest_is_judged() {
        let read = |text: &str| {
            let body = serde_json::json!(text).to_string();
            parse(body.as_bytes(), |at| HttpUrl::parse(&at.with_texts(Texts::Tagged)))
        };
        for text in [
            "https://example.com/{{ sku }}",
            "https://example.com/{{$def sku \"no ne\"}}.png",
            "https://{{host}}/",
            "https://{{#if a}}b{{/if}}",
            "{{{url}}}",
            "{{base}}/a.png",
            "https://example.com/{{broken",
            "https://example.com/{{! a b }}",
        ] {
            assert_eq!(read(text).unwrap().as_str(), text);
        }
        for text in
            ["http{{s}}://example.com", "/{{path}}", "https:///{{a}}", "https://{{a}} b", "{{a}} ", "{{! a }}", "a b"]
        {
            read(text).expect_err(text);
        }
    }
}
