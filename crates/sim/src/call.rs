//! One request, in either version of HTTP.

use http::{HeaderMap, HeaderValue, Method};

pub(crate) struct Call<'a> {
    pub(crate) method: &'a Method,
    /// Without the query.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    /// `https` or `http`.
    pub(crate) scheme: &'static str,
    /// Host and port, as the client named them.
    pub(crate) authority: &'a str,
    pub(crate) is_h2: bool,
}

/// The credentials that the client has shown on a connection so far.
#[derive(Debug, Default)]
pub(crate) struct ShownCredentials {
    /// Whether the client has a certificate that our authority made.
    pub(crate) has_certificate: bool,
    /// The last valid provider token of Apple's form, and when it was made.
    pub(crate) provider_token: Option<(HeaderValue, i64)>,
    /// The last valid VAPID header, and until when it counts.
    pub(crate) vapid: Option<(HeaderValue, i64)>,
}

impl<'a> Call<'a> {
    /// A header that occurs once and is text.
    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The token after `Bearer`.
    pub(crate) fn bearer(&self) -> Option<&'a str> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token)
    }

    /// The media type without its parameters.
    pub(crate) fn content_type(&self) -> &'a str {
        self.header("content-type").and_then(|value| value.split(';').next()).unwrap_or_default().trim()
    }

    /// A parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<&'a str> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }
}

/// Text from a path or a form, with its escapes resolved.
pub(crate) fn decoded(text: &str, plus_is_space: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let escaped = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (next, byte) = match (first, escaped) {
            (b'%', Some(byte)) => (&after[2..], byte),
            (b'+', _) if plus_is_space => (after, b' '),
            _ => (after, first),
        };
        rest = next;
        bytes.push(byte);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The fields of a form.
pub(crate) fn form(body: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(body);
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (decoded(key, true), decoded(value, true))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_decoded() {
        let fields = form(b"a=1%2B1&scope=messaging%3apush&b=x+y&c=%zz&nothing");
        let expected = [("a", "1+1"), ("scope", "messaging:push"), ("b", "x y"), ("c", "%zz")];
        assert_eq!(fields, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!(decoded("a+b%41%", false), "a+bA%");
    }
}
