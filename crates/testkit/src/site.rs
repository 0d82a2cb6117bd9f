//! A web site for browsers of tests: a few files on loopback, an origin that browsers take for secure.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Served until it is dropped.
pub struct Site {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

/// A file: its path, its media type and its content.
pub type File = (&'static str, &'static str, &'static [u8]);

/// The content policies of a site. Workers have one of their own, because they take in scripts by their names.
pub struct Policies {
    pub of_pages: HeaderValue,
    pub of_workers: HeaderValue,
}

/// Browsers send it with the request for a service worker.
const WORKER: &str = "service-worker";

impl Site {
    pub async fn start(files: &'static [File], policies: Policies) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let policies = Arc::new(policies);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let policies = policies.clone();
                let service = service_fn(move |request| {
                    let response = answer(files, &policies, &request);
                    async move { Ok::<_, Infallible>(response) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, accepting }
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn answer(files: &[File], policies: &Policies, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let found = files.iter().find(|(path, _, _)| *path == request.uri().path());
    let (_, kind, content) = found.copied().unwrap_or(("", "text/plain", b"There is nothing here."));
    let mut response = Response::new(Full::from(Bytes::from_static(content)));
    if found.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    let is_worker = request.headers().contains_key(WORKER);
    let policy = if is_worker { &policies.of_workers } else { &policies.of_pages };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy.clone());
    response
}
