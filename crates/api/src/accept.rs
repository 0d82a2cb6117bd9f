//! The version of the API that a caller asks for, and the vendor's name in it.
//!
//! There is one version, 3. The vendor word of a caller's media type is echoed, so that every client library finds the
//! content type it looks for.

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};

use crate::error::{Error, Result};

const VERSION: &str = "3";
const DEFAULT_VENDOR: &str = "urbanairship";
const DEFAULT: HeaderValue = HeaderValue::from_static("application/vnd.urbanairship+json; version=3");
const MOST_VENDOR_CHARS: usize = 64;
const PLAIN_LINES: &str = "application/x-ndjson";

/// One part of an `Accept` header.
enum Range<'a> {
    /// `application/vnd.<vendor>+<suffix>`, with the version it asks for, if it does.
    Vendor {
        vendor: &'a str,
        version: Option<&'a str>,
    },
    /// Any other type that JSON can be sent as.
    Json,
    Other,
}

/// Fails when the caller can take nothing but another version.
pub(crate) fn check(headers: &HeaderMap) -> Result<()> {
    if takes_only_other_versions(headers) { Err(Error::NotAcceptable) } else { Ok(()) }
}

/// How a caller wants a stream.
pub(crate) enum StreamForm {
    /// One JSON object a line, and the content type of that.
    Lines(HeaderValue),
    ServerSent,
}

pub(crate) fn stream_form(headers: &HeaderMap) -> StreamForm {
    if media_types(headers).any(|media_type| media_type.eq_ignore_ascii_case("text/event-stream")) {
        return StreamForm::ServerSent;
    }
    if media_types(headers).any(|media_type| media_type.eq_ignore_ascii_case(PLAIN_LINES)) {
        return StreamForm::Lines(HeaderValue::from_static(PLAIN_LINES));
    }
    StreamForm::Lines(vendor_type(asked_vendor(headers).unwrap_or(DEFAULT_VENDOR), "x-ndjson"))
}

/// The content type of the answer, also for a caller whose wish is impossible: errors need one too.
pub(crate) fn echo(headers: &HeaderMap) -> HeaderValue {
    match asked_vendor(headers).filter(|vendor| *vendor != DEFAULT_VENDOR) {
        Some(vendor) => vendor_type(vendor, "json"),
        None => DEFAULT,
    }
}

fn asked_vendor(headers: &HeaderMap) -> Option<&str> {
    ranges(headers).find_map(|range| match range {
        Range::Vendor { vendor, .. } => Some(vendor),
        Range::Json | Range::Other => None,
    })
}

fn vendor_type(vendor: &str, suffix: &str) -> HeaderValue {
    // Client libraries compare this text: no charset, and no trailing semicolon.
    let text = format!("application/vnd.{vendor}+{suffix}; version={VERSION}");
    HeaderValue::from_str(&text).expect("a vendor word has letters, digits, '.', '-' and '_' only")
}

fn takes_only_other_versions(headers: &HeaderMap) -> bool {
    let mut asks_for_another = false;
    for range in ranges(headers) {
        match range {
            Range::Vendor { version: None | Some(VERSION), .. } | Range::Json => return false,
            Range::Vendor { version: Some(_), .. } => asks_for_another = true,
            Range::Other => {}
        }
    }
    asks_for_another
}

fn ranges(headers: &HeaderMap) -> impl Iterator<Item = Range<'_>> {
    parts(headers).map(range)
}

/// The types that a caller names, without their parameters.
fn media_types(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    parts(headers).map(|part| part.split(';').next().unwrap_or_default().trim())
}

fn parts(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(','))
}

fn range(text: &str) -> Range<'_> {
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    if let Some(vendor) = vendor(media_type) {
        let version = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("version").then(|| value.trim().trim_matches('"'))
        });
        return Range::Vendor { vendor, version };
    }
    let takes_json = ["*/*", "application/*", "application/json"];
    if takes_json.iter().any(|known| media_type.eq_ignore_ascii_case(known)) { Range::Json } else { Range::Other }
}

fn vendor(media_type: &str) -> Option<&str> {
    const PREFIX: &str = "application/vnd.";
    let is_vendor = media_type.get(..PREFIX.len())?.eq_ignore_ascii_case(PREFIX);
    let (vendor, _suffix) = media_type.get(PREFIX.len()..)?.rsplit_once('+')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let fits = (1..=MOST_VENDOR_CHARS).contains(&vendor.len()) && vendor.chars().all(is_word);
    (is_vendor && fits).then_some(vendor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiated(accept: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(ACCEPT, value.parse().unwrap());
        }
        check(&headers).ok()?;
        let content_type = echo(&headers);
        Some(content_type.to_str().unwrap().to_owned())
    }

    #[test]
    fn vendors_are_echoed_and_only_other_versions_refused() {
        let ours = Some("application/vnd.urbanairship+json; version=3".to_owned());
        let accepted: [&[&str]; 14] = [
            &[],
            &[""],
            &["*/*"],
            &["application/json"],
            &["text/html"],
            &["application/vnd.urbanairship+json"],
            &["application/vnd.urbanairship+json; version=3"],
            &["application/vnd.urbanairship+json; version=3;"],
            &["application/vnd.urbanairship+json;version=\"3\""],
            &["Application/Vnd.urbanairship+JSON; Version=3"],
            &["application/vnd.urbanairship+csv; version=3"],
            &["application/vnd.urbanairship+json; version=2, */*;q=0.1"],
            &["application/vnd.urbanairship+json; version=1", "application/vnd.urbanairship+json; version=3"],
            &["application/vnd.bad vendor+json; version=3"],
        ];
        for accept in accepted {
            assert_eq!(negotiated(accept), ours, "{accept:?}");
        }
        let other = negotiated(&["text/csv, application/vnd.my-Company.x+json; version=3"]);
        assert_eq!(other.as_deref(), Some("application/vnd.my-Company.x+json; version=3"));
        for version in ["1", "2", "4", "30", "3.0", "three", ""] {
            assert_eq!(negotiated(&[&format!("application/vnd.urbanairship+json; version={version}")]), None);
        }
        assert_eq!(negotiated(&["text/csv, application/vnd.x+json; version=2"]), None);
    }
}
