//! The exact request that carries a push to one device, which the sandbox keeps and shows.

use http::{HeaderMap, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// All but letters, digits and what has no meaning of its own inside a part of a URL.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~').remove(b':').remove(b'.');

/// A request as the provider would have got it, apart from credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedRequest {
    pub method: String,
    pub url: String,
    /// Names in lower case, each at most once.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl PreparedRequest {
    pub(crate) fn post(url: String, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        let body = String::from_utf8(body).expect("bodies are made of JSON or XML text");
        Self { method: "POST".to_owned(), url, headers, body }
    }

    /// As [`PreparedRequest::post`], with headers in the form they are sent in.
    pub(crate) fn with_headers(url: String, headers: &HeaderMap, body: Vec<u8>) -> Self {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Self::post(url, headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(), body)
    }

    /// For people to read: headers by name, and a JSON body as JSON rather than as text.
    pub fn to_json(&self) -> Value {
        let headers: Map<String, Value> =
            self.headers.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        let body = serde_json::from_str(&self.body).unwrap_or_else(|_| Value::from(self.body.as_str()));
        json!({ "method": self.method, "url": self.url, "headers": headers, "body": body })
    }
}

/// A header as [`PreparedRequest`] has it.
pub(crate) fn header(name: &str, value: &(impl ToString + ?Sized)) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// Text as one path segment of a URL. Addresses come from devices and must not lead anywhere else.
pub(crate) fn path_segment(text: &str) -> String {
    // A segment of dots alone would walk up the path.
    match text.bytes().all(|byte| byte == b'.') {
        true => text.replace('.', "%2E"),
        false => percent_encoded(text),
    }
}

/// Text with everything escaped that could mean something in a URL or a form.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_plainest_characters_are_escaped() {
        assert_eq!(percent_encoded("kim-7._~:"), "kim-7._~:");
        assert_eq!(percent_encoded("a b&c=d/é%+"), "a%20b%26c%3Dd%2F%C3%A9%25%2B");
        assert_eq!(percent_encoded("open::smart_fridge"), "open::smart_fridge");
        assert_eq!(percent_encoded("a/b?ü"), "a%2Fb%3F%C3%BC");
        assert_eq!(path_segment(".."), "%2E%2E");
    }

    #[test]
    fn shown_with_headers_by_name_and_json_bodies_taken_apart() {
        let headers = vec![header("ttl", &60)];
        let request = PreparedRequest::post("https://example.com/".to_owned(), headers.clone(), b"{\"a\":1}".to_vec());
        let shown = json!({
            "method": "POST", "url": "https://example.com/", "headers": {"ttl": "60"}, "body": {"a": 1},
        });
        assert_eq!(request.to_json(), shown);
        let xml = PreparedRequest::post("https://example.com/".to_owned(), headers, b"<toast/>".to_vec());
        assert_eq!(xml.to_json()["body"], "<toast/>");
    }

    #[test]
    fn addresses_cannot_leave_their_path_segment() {
        let table = [("abc-1_2:~.d", "abc-1_2:~.d"), ("../x?y#z", "..%2Fx%3Fy%23z"), ("..", "%2E%2E"), ("é", "%C3%A9")];
        for (address, segment) in table {
            assert_eq!(path_segment(address), segment);
        }
    }
}
