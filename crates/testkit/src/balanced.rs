//! A caller that knows several nodes and turns to the next one when a node cannot be reached, as a load balancer does.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Between two rounds over all nodes.
const PAUSE: Duration = Duration::from_millis(50);
/// Without an answer for this long, a request has failed for good.
const PATIENCE: Duration = Duration::from_secs(120);
const CONNECT: Duration = Duration::from_secs(2);

/// Which requests go to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retries {
    /// Requests of which nothing was sent: what a proxy may repeat, whatever the request is.
    Unsent,
    /// Requests without an answer within this time, and requests that a node could not carry out (5xx). To be used with requests
    /// that are safe to repeat.
    Unanswered(Duration),
}

/// One connection at a time, which is used again until the node ends it.
pub struct Balanced {
    nodes: Arc<[SocketAddr]>,
    node: usize,
    retries: Retries,
    connection: Option<SendRequest<Full<Bytes>>>,
    n_retries: u64,
}

/// A request that can be sent more than once.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: Method,
    pub path: String,
    /// Beside those of every request.
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

impl Call {
    pub fn get(path: impl Into<String>, authorization: &str) -> Self {
        Self::new(Method::GET, path.into(), authorization, Bytes::new())
    }

    pub fn post(path: impl Into<String>, authorization: &str, body: &Value) -> Self {
        Self::new(Method::POST, path.into(), authorization, body.to_string().into())
    }

    /// Makes a request safe to repeat.
    #[must_use]
    pub fn once(self, key: &str) -> Self {
        self.with("idempotency-key", key)
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn new(method: Method, path: String, authorization: &str, body: Bytes) -> Self {
        Self { method, path, headers: vec![(AUTHORIZATION.as_str(), authorization.to_owned())], body }
    }

    fn request(&self) -> io::Result<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(&self.method).uri(&self.path).header(HOST, "balanced");
        request = request.header(CONTENT_TYPE, "application/json");
        request = request.header(ACCEPT, "application/vnd.urbanairship+json; version=3;");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.body(Full::new(self.body.clone())).map_err(io::Error::other)
    }
}

/// The answer of a node.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Bytes,
}

impl Reply {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What a try came to.
enum Tried {
    Answered(Reply),
    /// Nothing was sent.
    Unsent(io::Error),
    /// It is unknown whether the request was carried out.
    Unanswered(io::Error),
}

impl Balanced {
    /// Callers begin with different nodes when their numbers differ.
    pub fn new(nodes: Arc<[SocketAddr]>, number: usize, retries: Retries) -> Self {
        Self { node: number % nodes.len().max(1), nodes, retries, connection: None, n_retries: 0 }
    }

    /// How often a request went to another node.
    pub const fn n_retries(&self) -> u64 {
        self.n_retries
    }

    /// Sends a request until it is answered.
    ///
    /// # Errors
    /// When it may not be sent again, or nobody answers for two minutes.
    pub async fn call(&mut self, call: &Call) -> io::Result<Reply> {
        let began = Instant::now();
        loop {
            let patience = match self.retries {
                Retries::Unsent => PATIENCE,
                Retries::Unanswered(time) => time,
            };
            let tried = match timeout(patience, self.try_once(call)).await {
                Ok(tried) => tried,
                Err(_) => Tried::Unanswered(io::ErrorKind::TimedOut.into()),
            };
            let may_repeat = self.retries != Retries::Unsent;
            let failure = match tried {
                Tried::Answered(reply) if reply.status >= 500 && may_repeat => {
                    io::Error::other(format!("{}: {}", reply.status, String::from_utf8_lossy(&reply.body)))
                }
                Tried::Answered(reply) => return Ok(reply),
                Tried::Unanswered(error) if !may_repeat => return Err(error),
                Tried::Unsent(error) | Tried::Unanswered(error) => error,
            };
            if began.elapsed() > PATIENCE {
                return Err(failure);
            }
            self.connection = None;
            self.n_retries += 1;
            self.node = (self.node + 1) % self.nodes.len();
            if self.node == 0 {
                sleep(PAUSE).await;
            }
        }
    }

    async fn try_once(&mut self, call: &Call) -> Tried {
        let request = match call.request() {
            Ok(request) => request,
            Err(error) => return Tried::Unsent(error),
        };
        // A node that has ended the connection is asked over a new one.
        let kept = match self.connection.take() {
            Some(mut kept) => kept.ready().await.is_ok().then_some(kept),
            None => None,
        };
        let mut connection = match kept {
            Some(kept) => kept,
            None => match connect(self.nodes[self.node]).await {
                Ok(new) => new,
                Err(error) => return Tried::Unsent(error),
            },
        };
        let response = match connection.try_send_request(request).await {
            Ok(response) => response,
            Err(mut refused) => {
                let is_unsent = refused.take_message().is_some();
                let error = io::Error::other(refused.into_error());
                return if is_unsent { Tried::Unsent(error) } else { Tried::Unanswered(error) };
            }
        };
        let status = response.status().as_u16();
        match response.into_body().collect().await {
            Ok(body) => {
                self.connection = Some(connection);
                Tried::Answered(Reply { status, body: body.to_bytes() })
            }
            Err(error) => Tried::Unanswered(io::Error::other(error)),
        }
    }
}

async fn connect(node: SocketAddr) -> io::Result<SendRequest<Full<Bytes>>> {
    let stream = timeout(CONNECT, TcpStream::connect(node)).await??;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // Whatever ends the connection is told to the request that is under way on it.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}
