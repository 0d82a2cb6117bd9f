//! URLs from outside, and which of them the service accepts.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use http::Uri;
use serde::{Deserialize, Serialize};

use super::AddressPolicy;

/// Why the service will not talk to a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("'{url}' is not an absolute URL such as https://example.com/path.")]
    NotAUrl { url: String },
    #[error("The URL's scheme is '{scheme}'; only http and https are supported.")]
    Scheme { scheme: String },
    #[error("The URL must not contain a user name or password; configure them as authentication instead.")]
    Credentials,
    #[error("'{host}' is neither a host name nor an address in its usual form.")]
    Host { host: String },
    #[error(
        "'{host}' leads to a {kind} address, which the service does not connect to unless the operator sets \
         AEROGRAM_ALLOW_PRIVATE_ADDRESSES to true."
    )]
    Address { host: String, kind: &'static str },
}

/// An absolute http or https URL without credentials. Whether its host may be connected to is asked again on every use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebUrl(Uri);

impl WebUrl {
    /// A provider's own URL, which is known to be good.
    pub(crate) fn from_static(url: &'static str) -> Self {
        Self(Uri::from_static(url))
    }

    pub fn uri(&self) -> &Uri {
        &self.0
    }

    /// The URL one path segment further down; a query stays where it was.
    pub fn join(&self, segment: &str) -> Uri {
        let path = self.0.path().trim_end_matches('/');
        let joined = match self.0.query() {
            Some(query) => format!("{path}/{segment}?{query}"),
            None => format!("{path}/{segment}"),
        };
        let mut parts = self.0.clone().into_parts();
        parts.path_and_query = joined.parse().ok();
        Uri::from_parts(parts).unwrap_or_else(|_| self.0.clone())
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for WebUrl {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        check_url(&text, AddressPolicy::ANY)
    }
}

impl From<WebUrl> for String {
    fn from(url: WebUrl) -> String {
        url.to_string()
    }
}

/// Checks that need no lookup: the form of the URL, and its host when that is an address or a local name. The addresses of a name
/// are checked whenever a connection is made.
pub fn check_url(url: &str, policy: AddressPolicy) -> Result<WebUrl, Refusal> {
    let uri: Uri = url.parse().map_err(|_| Refusal::NotAUrl { url: url.to_owned() })?;
    check_uri(&uri, policy)?;
    Ok(WebUrl(uri))
}

pub(crate) fn check_uri(uri: &Uri, policy: AddressPolicy) -> Result<(), Refusal> {
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(Refusal::NotAUrl { url: uri.to_string() });
    };
    if !matches!(scheme, "http" | "https") {
        return Err(Refusal::Scheme { scheme: scheme.to_owned() });
    }
    if authority.as_str().contains('@') {
        return Err(Refusal::Credentials);
    }
    check_host(authority.host(), policy)
}

fn check_host(host: &str, policy: AddressPolicy) -> Result<(), Refusal> {
    let odd = || Err(Refusal::Host { host: host.to_owned() });
    let refused = |kind| Refusal::Address { host: host.to_owned(), kind };
    if let Some(bracketed) = host.strip_prefix('[') {
        let Ok(address) = bracketed.trim_end_matches(']').parse::<Ipv6Addr>() else { return odd() };
        return policy.check(IpAddr::V6(address)).map_err(refused);
    }
    if let Ok(address) = host.parse() {
        return policy.check(address).map_err(refused);
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let last_label = name.rsplit('.').next().unwrap_or_default();
    // `127.1`, `2130706433` and `0x7f.0.0.1` are old spellings of addresses that only hide where they lead.
    let looks_numeric = last_label.bytes().all(|b| b.is_ascii_digit()) || last_label.starts_with("0x");
    let unfit = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    if looks_numeric || name.contains(unfit) {
        return odd();
    }
    if last_label == "localhost" && !policy.allow_private {
        return Err(refused("loopback"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_what_is_wrong_with_them() {
        let address = |host: &str, kind| Refusal::Address { host: host.to_owned(), kind };
        let host = |host: &str| Refusal::Host { host: host.to_owned() };
        let not_a_url = |url: &str| Refusal::NotAUrl { url: url.to_owned() };
        let scheme = |scheme: &str| Refusal::Scheme { scheme: scheme.to_owned() };
        let table = [
            ("", not_a_url("")),
            ("example.com", not_a_url("example.com")),
            ("/hooks", not_a_url("/hooks")),
            ("https://", not_a_url("https://")),
            ("https://exa mple.com/", not_a_url("https://exa mple.com/")),
            ("ftp://example.com/", scheme("ftp")),
            ("file://host/etc/passwd", scheme("file")),
            ("https://user:word@example.com/", Refusal::Credentials),
            ("https://user@127.0.0.1/", Refusal::Credentials),
            ("http://127.0.0.1/", address("127.0.0.1", "loopback")),
            ("http://[::1]:8080/hooks", address("[::1]", "loopback")),
            ("http://[::ffff:10.0.0.1]/", address("[::ffff:10.0.0.1]", "private")),
            ("http://169.254.169.254/latest", address("169.254.169.254", "link-local")),
            ("http://localhost:8080", address("localhost", "loopback")),
            ("http://app.LocalHost./", address("app.LocalHost.", "loopback")),
            ("http://127.1/", host("127.1")),
            ("http://2130706433/", host("2130706433")),
            ("http://0x7f000001/", host("0x7f000001")),
            ("http://0177.0.0.1/", host("0177.0.0.1")),
            ("http://10.0.0.1./", host("10.0.0.1.")),
        ];
        for (url, refusal) in table {
            assert_eq!(check_url(url, AddressPolicy::PUBLIC_ONLY), Err(refusal), "{url}");
        }
        let fine =
            ["https://example.com", "http://example.com:8080/a?b=c", "https://1.1.1.1/", "https://a_b.example.com./"];
        for url in fine {
            check_url(url, AddressPolicy::PUBLIC_ONLY).expect(url);
        }
    }

    #[test]
    fn the_operator_can_permit_private_addresses_and_the_refusal_says_how() {
        for url in ["http://127.0.0.1:9/", "http://[::1]/", "http://localhost/", "http://192.168.0.1/"] {
            let refusal = check_url(url, AddressPolicy::PUBLIC_ONLY).unwrap_err();
            assert!(refusal.to_string().contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"), "{refusal}");
            check_url(url, AddressPolicy::ANY).expect(url);
        }
    }

    #[test]
    fn joining_keeps_path_and_query() {
        let table = [
            ("https://example.com", "https://example.com/push"),
            ("https://example.com/", "https://example.com/push"),
            ("https://example.com/a/b/", "https://example.com/a/b/push"),
            ("https://example.com:8443/a?key=1", "https://example.com:8443/a/push?key=1"),
        ];
        for (root, joined) in table {
            assert_eq!(check_url(root, AddressPolicy::PUBLIC_ONLY).unwrap().join("push").to_string(), joined);
        }
    }
}
