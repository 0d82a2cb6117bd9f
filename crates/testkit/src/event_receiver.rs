//! A webhook for events: a real server that keeps the requests it gets and answers each event as the test wants it to.

use std::convert::Infallible;
use std::future::pending;
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
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How an event is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    Status(u16),
    /// Not at all, until the sender loses patience.
    Silence,
    /// The connection is closed instead.
    Close,
}

/// One request.
#[derive(Clone, Debug)]
pub struct ReceivedEvent {
    pub path: String,
    pub headers: HeaderMap,
    pub event: Value,
    pub reaction: Reaction,
}

type Rule = Box<dyn FnMut(&Value) -> Reaction + Send>;

pub struct EventReceiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    rule: Mutex<Rule>,
    received: watch::Sender<Vec<ReceivedEvent>>,
}

impl EventReceiver {
    /// Takes everything until told otherwise.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let rule: Rule = Box::new(|_| Reaction::Status(200));
        let shared = Arc::new(Shared { rule: Mutex::new(rule), received: watch::Sender::new(Vec::new()) });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Self { address, shared, accepting }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}/events?source=aerogram", self.address)
    }

    /// Sets how events are answered from now on, in the order in which they arrive.
    pub fn react(&self, rule: impl FnMut(&Value) -> Reaction + Send + 'static) {
        *self.shared.rule.lock() = Box::new(rule);
    }

    /// All requests so far, however they were answered.
    pub fn received(&self) -> Vec<ReceivedEvent> {
        self.shared.received.borrow().clone()
    }

    /// The events that were taken.
    pub fn taken(&self) -> Vec<Value> {
        let is_taken = |received: &&ReceivedEvent| matches!(received.reaction, Reaction::Status(200..=299));
        self.shared.received.borrow().iter().filter(is_taken).map(|received| received.event.clone()).collect()
    }

    /// Waits until at least `n_requests` have arrived.
    pub async fn wait_for(&self, n_requests: usize) {
        let mut received = self.shared.received.subscribe();
        let arrived = received.wait_for(|received| received.len() >= n_requests).await;
        arrived.expect("the receiver lives as long as this waits");
    }

    /// Waits until a certain request has arrived.
    pub async fn wait_until(&self, mut is_it: impl FnMut(&ReceivedEvent) -> bool) {
        let (mut received, mut n_seen) = (self.shared.received.subscribe(), 0);
        let arrived = received.wait_for(|all| {
            let is_there = all[n_seen..].iter().any(&mut is_it);
            n_seen = all.len();
            is_there
        });
        arrived.await.expect("the receiver lives as long as this waits");
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the receiver closes the connection")]
struct Closing;

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let (stream, _) = listener.accept().await.expect("connections can be accepted");
        let shared = shared.clone();
        let service = service_fn(move |request| {
            let shared = shared.clone();
            async move { shared.answer(request).await }
        });
        tokio::spawn(async move {
            // A sender that goes away early is none of the receiver's business.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Closing> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Closing)?.to_bytes();
        let event: Value = serde_json::from_slice(&body).map_err(|_| Closing)?;
        let is_post = head.method == Method::POST;
        let reaction = match is_post {
            true => (self.rule.lock())(&event),
            false => Reaction::Status(405),
        };
        let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let received = ReceivedEvent { path, headers: head.headers, event, reaction };
        self.received.send_modify(|all| all.push(received));
        match reaction {
            Reaction::Status(status) => {
                let mut response = Response::new(Full::default());
                *response.status_mut() = StatusCode::from_u16(status).expect("a test answers with real statuses");
                Ok(response)
            }
            Reaction::Silence => match pending::<Infallible>().await {},
            Reaction::Close => Err(Closing),
        }
    }
}
