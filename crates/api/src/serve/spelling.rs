//! Names of headers that are not spelled in title case.
//!
//! Android's library keeps the headers of an answer in a case-sensitive map. Without the three headers below, spelled as the
//! library does, a device keeps very few events until it can send them.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::response::Response;
use futures_util::FutureExt;
use http::Extensions;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

/// All of these names begin with it, and no other header that we send does.
const PREFIX: &str = "x-ua-";
/// A request with all of these headers.
const EXAMPLE: &[u8] =
    b"GET / HTTP/1.1\r\nX-UA-Max-Total: 0\r\nX-UA-Max-Batch: 0\r\nX-UA-Min-Batch-Interval: 0\r\n\r\n";

/// The spelling of the names, in the only form that hyper takes: the extension that it adds to a request for proxies that pass
/// the headers on. Its type is private to hyper, so only hyper can make one.
#[derive(Clone)]
pub(super) struct Spelling(Arc<Extensions>);

impl Spelling {
    /// Has hyper read a request from memory, which completes at once.
    pub(super) fn learn() -> Self {
        let noted = OnceLock::new();
        let note = service_fn(async |request: hyper::Request<Incoming>| {
            noted.get_or_init(|| request.extensions().clone());
            Ok::<_, Infallible>(hyper::Response::new(String::new()))
        });
        let connection = TokioIo::new(tokio::io::join(EXAMPLE, tokio::io::sink()));
        // The input ends after the request, which has to be answered all the same.
        let mut server = http1::Builder::new();
        let served = server.half_close(true).preserve_header_case(true).serve_connection(connection, note);
        let served = served.now_or_never();
        let noted = noted.into_inner().unwrap_or_default();
        if noted.is_empty() {
            tracing::warn!(?served, "some headers for devices will not be spelled as they expect");
        }
        Self(Arc::new(noted))
    }

    /// Has an answer written with this spelling of its names. Names that do not occur here stay in title case.
    pub(super) fn keep(&self, mut response: Response) -> Response {
        if response.headers().keys().any(|name| name.as_str().starts_with(PREFIX)) {
            response.extensions_mut().extend(Extensions::clone(&self.0));
        }
        response
    }
}
