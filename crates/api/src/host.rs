//! The `Host` header: HTTP/1.1 requires exactly one, and in HTTP/2 it is the `:authority`. Without it, or with two, a proxy and the
//! service may take a request for different ones.

use axum::extract::Request;
use http::Version;
use http::header::HOST;

use crate::error::{Error, Result};

pub(crate) fn check(request: &Request) -> Result<()> {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next(), request.version()) {
        (Some(_), None, _) | (None, _, Version::HTTP_09 | Version::HTTP_10) => Ok(()),
        (None, ..) => Err(Error::invalid("host", "A request of HTTP/1.1 needs a Host header.")),
        (Some(_), Some(_), _) => Err(Error::invalid("host", "A request has one Host header, not several.")),
    }
}
