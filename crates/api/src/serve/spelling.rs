//! Names of headers whose capitals are not those of title case.
//!
//! Android's library keeps the headers of an answer in a map that tells capitals apart. Without the three below, as they are
//! spelled there, a device keeps very few events until it can send them.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::response::Response;
use futures_util::FutureExt;
use http::Extensions;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

/// What all of them, and no others that we send, begin with.
const PREFIX: &str = "x-ua-";
/// A request with all of them.
const EXAMPLE: &[u8] =
    b"GET / HTTP/1.1\r\nX-UA-Max-Total: 0\r\nX-UA-Max-Batch: 0\r\nX-UA-Min-Batch-Interval: 0\r\n\r\n";

/// How the names are spelled, in the only form that hyper takes from us: what it noted of a request for whoever passes the
/// headers on. It is of a type of its own that nobody else can make.
#[derive(Clone)]
pub(super) struct Spelling(Arc<Extensions>);

impl Spelling {
    /// Has hyper read a request in memory, which is done at once.
    pub(super) fn learn() -> Self {
        let noted = OnceLock::new();
        let note = service_fn(async |request: hyper::Request<Incoming>| {
            noted.get_or_init(|| request.extensions().clone());
            Ok::<_, Infallible>(hyper::Response::new(String::new()))
        });
        let connection = TokioIo::new(tokio::io::join(EXAMPLE, tokio::io::sink()));
        // Nothing follows the request, and it is to be answered all the same.
        let mut server = http1::Builder::new();
        let served = server.half_close(true).preserve_header_case(true).serve_connection(connection, note);
        let served = served.now_or_never();
        let noted = noted.into_inner().unwrap_or_default();
        if noted.is_empty() {
            tracing::warn!(?served, "some headers for devices will not be spelled as they expect");
        }
        Self(Arc::new(noted))
    }

    /// Has an answer written with its names as they are spelled. Those that do not occur here stay in title case.
    pub(super) fn keep(&self, mut response: Response) -> Response {
        if response.headers().keys().any(|name| name.as_str().starts_with(PREFIX)) {
            response.extensions_mut().extend(Extensions::clone(&self.0));
        }
        response
    }
}
