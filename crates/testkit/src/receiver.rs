//! The endpoint of an open platform: a real server that confirms its validation code, keeps the requests it gets, and answers
//! as the test wants it to.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// One request with messages.
#[derive(Clone, Debug)]
pub struct Received {
    pub headers: HeaderMap,
    pub body: Value,
}

impl Received {
    /// The messages in the request.
    pub fn values(&self) -> &[Value] {
        self.body["values"].as_array().map_or(&[], Vec::as_slice)
    }
}

pub struct OpenReceiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    code: Mutex<Option<Uuid>>,
    statuses: Mutex<VecDeque<u16>>,
    refused: Mutex<Option<(String, u16)>>,
    received: watch::Sender<Vec<Received>>,
    /// Requests beyond this many wait for their answers.
    answered: watch::Sender<usize>,
}

impl OpenReceiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared {
            code: Mutex::default(),
            statuses: Mutex::default(),
            refused: Mutex::default(),
            received: watch::Sender::new(Vec::new()),
            answered: watch::Sender::new(usize::MAX),
        });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Self { address, shared, accepting }
    }

    /// The root URL to configure.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Makes the handshake succeed for a platform with this validation code. Without one it is refused.
    pub fn confirm(&self, code: Uuid) {
        *self.shared.code.lock() = Some(code);
    }

    /// The statuses of the next answers; after them every answer is 200 again.
    pub fn answer_with(&self, statuses: impl IntoIterator<Item = u16>) {
        self.shared.statuses.lock().extend(statuses);
    }

    /// Forgets statuses that have not been answered yet.
    pub fn recover(&self) {
        self.shared.statuses.lock().clear();
    }

    /// Answers every request that has a message for the address with the status.
    pub fn refuse(&self, address: &str, status: u16) {
        *self.shared.refused.lock() = Some((address.to_owned(), status));
    }

    /// Takes requests but answers none from here on until [`OpenReceiver::release`].
    pub fn hold(&self) {
        self.hold_after(0);
    }

    /// Answers the first `n_requests` with messages; later ones wait for [`OpenReceiver::release`].
    pub fn hold_after(&self, n_requests: usize) {
        self.shared.answered.send_replace(n_requests);
    }

    pub fn release(&self) {
        self.shared.answered.send_replace(usize::MAX);
    }

    /// All requests with messages so far, however they were answered.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.borrow().clone()
    }

    /// All messages so far.
    pub fn values(&self) -> Vec<Value> {
        self.shared.received.borrow().iter().flat_map(|received| received.values().to_vec()).collect()
    }

    /// Waits until at least `n_requests` have arrived.
    pub async fn wait_for(&self, n_requests: usize) -> Vec<Received> {
        self.wait_until(|received| received.len() >= n_requests).await;
        self.received()
    }

    /// Waits until `enough` is true of the requests so far. It is called after every request.
    pub async fn wait_until(&self, mut enough: impl FnMut(&[Received]) -> bool) {
        let mut received = self.shared.received.subscribe();
        let arrived = received.wait_for(|received| enough(received)).await;
        arrived.expect("the receiver lives as long as this waits");
    }
}

impl Drop for OpenReceiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let (stream, _) = listener.accept().await.expect("connections can be accepted");
        let shared = shared.clone();
        let service = service_fn(move |request| {
            let shared = shared.clone();
            async move { Ok::<_, Infallible>(shared.answer(request).await) }
        });
        tokio::spawn(async move {
            // A sender that goes away early is none of the receiver's business.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        match (&head.method, head.uri.path()) {
            (&Method::GET, "/hook/validate") => match *self.code.lock() {
                Some(code) => reply(StatusCode::OK, json!({ "confirmation_code": code }).to_string()),
                None => reply(StatusCode::NOT_FOUND, String::new()),
            },
            (&Method::POST, "/hook/push") => {
                let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                self.take(head.headers, &body).await
            }
            _ => reply(StatusCode::NOT_FOUND, String::new()),
        }
    }

    async fn take(&self, headers: HeaderMap, body: &[u8]) -> Response<Full<Bytes>> {
        // A compressed body is kept as null: tests of compression look at its headers only.
        let received = Received { headers, body: serde_json::from_slice(body).unwrap_or_default() };
        let refusal = self.refusal_of(&received);
        let mut n_before = 0;
        self.received.send_modify(|all| {
            n_before = all.len();
            all.push(received);
        });
        let released = self.answered.subscribe().wait_for(|answered| n_before < *answered).await.is_ok();
        let status = refusal.or_else(|| self.statuses.lock().pop_front().filter(|_| released)).unwrap_or(200);
        reply(StatusCode::from_u16(status).expect("a test answers with real statuses"), "{}".to_owned())
    }

    fn refusal_of(&self, received: &Received) -> Option<u16> {
        let (address, status) = self.refused.lock().clone()?;
        received.values().iter().any(|message| message["target"]["address"] == address).then_some(status)
    }
}

fn reply(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    response
}
