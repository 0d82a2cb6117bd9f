//! Where connections lead: a host, a port, and whether they are encrypted.

use http::uri::{Authority, Scheme};

use crate::http::WebUrl;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
    pub(super) secure: bool,
}

impl Origin {
    /// The origin of a URL; its path does not matter.
    pub(crate) fn of(url: &WebUrl) -> Self {
        let uri = url.uri();
        let secure = uri.scheme() != Some(&Scheme::HTTP);
        let scheme = if secure { Scheme::HTTPS } else { Scheme::HTTP };
        let authority = uri.authority().cloned().unwrap_or_else(|| Authority::from_static("invalid."));
        Self { scheme, authority, secure }
    }

    /// A public provider's.
    pub(crate) fn https(authority: &'static str) -> Self {
        Self { scheme: Scheme::HTTPS, authority: Authority::from_static(authority), secure: true }
    }

    /// A name or an address, without the brackets that IPv6 has in URLs.
    pub(super) fn host(&self) -> &str {
        self.authority.host().trim_start_matches('[').trim_end_matches(']')
    }

    pub(super) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(if self.secure { 443 } else { 80 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_of_urls() {
        let table = [
            ("https://api.push.apple.com", true, "api.push.apple.com", 443),
            ("https://api.push.apple.com:2197/x", true, "api.push.apple.com", 2197),
            ("http://127.0.0.1:8080/", false, "127.0.0.1", 8080),
            ("http://[::1]/", false, "::1", 80),
        ];
        for (url, secure, host, port) in table {
            let origin = Origin::of(&WebUrl::try_from(url.to_owned()).unwrap());
            assert_eq!((origin.secure, origin.host(), origin.port()), (secure, host, port), "{url}");
        }
    }
}
