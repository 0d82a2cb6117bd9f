//! Absolute URLs of our own, for `Location`, `Link` and `next_page`.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use model::app::WebOrigin;

use crate::edge::Edge;
use crate::serve::CallerAddress;

/// The base URL the caller sees: the configured one, or else that of the request. A proxy that ends TLS says so in
/// `X-Forwarded-Proto`; `X-Forwarded-Host` is not trusted, since proxies can pass `Host` on.
pub(crate) struct Links {
    base: String,
    /// That of the request, if another one is configured and the request was made on the machine of the service.
    asked: Option<String>,
}

impl Links {
    pub(crate) fn to(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// All URLs that certainly are this service's for a path, if it is configured how clients see it: that of links, and that by
    /// which a caller on the same machine has asked. Any other name in a request is only its caller's word.
    pub(crate) fn known_as(&self, path: &str) -> Vec<String> {
        std::iter::once(&self.base).chain(&self.asked).map(|base| format!("{base}{path}")).collect()
    }
}

impl FromRequestParts<Edge> for Links {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self, Infallible> {
        let asked = of_request(parts);
        Ok(match &edge.public_url {
            Some(url) => Self { base: url.to_string(), asked: asked.filter(|asked| is_local(parts, asked)) },
            // Without a host there are only relative links.
            None => Self { base: asked.unwrap_or_default(), asked: None },
        })
    }
}

/// Whether a request was made on the machine of the service, by a name that every machine has for itself.
fn is_local(parts: &Parts, asked: &str) -> bool {
    let is_here = parts.extensions.get::<CallerAddress>().is_some_and(|caller| caller.is_here(&parts.headers));
    is_here && asked.parse::<WebOrigin>().is_ok_and(|origin| origin.is_loopback())
}

fn of_request(parts: &Parts) -> Option<String> {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host: Authority = host.or_else(|| parts.uri.authority().map(Authority::as_str))?.parse().ok()?;
    if host.as_str().contains('@') {
        return None;
    }
    let forwarded = parts.headers.get("x-forwarded-proto").map(|scheme| scheme.as_bytes());
    let scheme = if forwarded == Some(b"https") { "https" } else { "http" };
    Some(format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn base(headers: &[(&str, &str)]) -> Option<String> {
        let mut request = Request::builder().uri("/api/channels");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        of_request(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn links_follow_the_host_and_the_scheme_a_proxy_tells() {
        let plain = Some("http://example.com:8080".to_owned());
        assert_eq!(base(&[("host", "example.com:8080")]), plain);
        assert_eq!(base(&[("host", "example.com:8080"), ("x-forwarded-proto", "gopher")]), plain);
        assert_eq!(base(&[("host", "example.com:8080"), ("x-forwarded-host", "evil.example")]), plain);
        let secure = base(&[("host", "example.com"), ("x-forwarded-proto", "https")]);
        assert_eq!(secure.as_deref(), Some("https://example.com"));
        for odd in ["", "a b", "user@example.com", "example.com/path"] {
            assert_eq!(base(&[("host", odd)]), None, "{odd}");
        }
    }
}
