//! What keeps other web pages away: nothing is changed at the request of another origin, and pages run no code but our own.

use http::header::{CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::error::{Error, Result};

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
     frame-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types aerogram",
);

pub(crate) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The headers that every page has, unless it has set its own.
pub(crate) fn protect(headers: &mut HeaderMap) {
    let fixed: [(HeaderName, HeaderValue); 7] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
        (
            HeaderName::from_static("permissions-policy"),
            HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        ),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(value);
    }
}

/// Refuses changes that a page of another origin asks for, whose browser would send our cookie along.
pub(crate) fn refuse_cross_site(method: &Method, headers: &HeaderMap) -> Result<()> {
    if [Method::GET, Method::HEAD].contains(method) {
        return Ok(());
    }
    let says = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let is_ours = match (says(&FETCH_SITE), says(&ORIGIN)) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => {
            let host = origin.split_once("://").map(|(_, host)| host);
            host.is_some() && host == says(&HOST)
        }
        (None, None) => false,
    };
    if is_ours {
        return Ok(());
    }
    Err(Error::NotAllowed(
        "This request comes from another page; the console takes changes only from its own.".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(headers: &[(&'static str, &'static str)]) -> bool {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        refuse_cross_site(&Method::POST, &headers.collect()).is_err()
    }

    #[test]
    fn only_our_own_pages_may_change_anything() {
        assert!(!is_refused(&[("sec-fetch-site", "same-origin")]));
        assert!(is_refused(&[("sec-fetch-site", "same-site")]) && is_refused(&[("sec-fetch-site", "none")]));
        assert!(is_refused(&[("sec-fetch-site", "cross-site"), ("origin", "http://a"), ("host", "a")]));
        assert!(!is_refused(&[("origin", "https://push.example"), ("host", "push.example")]));
        assert!(is_refused(&[("origin", "https://evil.example"), ("host", "push.example")]));
        assert!(is_refused(&[("origin", "null"), ("host", "null")]) && is_refused(&[]));
    }
}
