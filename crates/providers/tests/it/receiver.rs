//! A small HTTP server that answers as it is told and remembers what it was asked.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

#[derive(Clone)]
pub(crate) struct Received {
    /// Names the connection.
    pub(crate) peer: SocketAddr,
    pub(crate) head: Parts,
    pub(crate) body: Bytes,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    accepting: JoinHandle<()>,
}

impl Receiver {
    /// HTTP/1.1 or HTTP/2, whichever the client begins with.
    pub(crate) async fn start(answer: impl Fn(&Received) -> Response<Bytes> + Send + Sync + 'static) -> Self {
        Self::start_with(None, answer).await
    }

    /// As [`Receiver::start`], behind TLS.
    pub(crate) async fn start_tls(
        tls: Arc<rustls::ServerConfig>,
        answer: impl Fn(&Received) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(Some(TlsAcceptor::from(tls)), answer).await
    }

    async fn start_with(
        tls: Option<TlsAcceptor>,
        answer: impl Fn(&Received) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (received.clone(), Arc::new(answer));
        let accepting = tokio::spawn(async move {
            loop {
                let (stream, peer) = listener.accept().await.unwrap();
                let (tls, log, answer) = (tls.clone(), log.clone(), answer.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, peer, log, answer).await,
                        Some(tls) => {
                            // Some clients are meant to be turned away.
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, peer, log, answer).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, received, accepting }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().clone()
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    log: Arc<Mutex<Vec<Received>>>,
    answer: Arc<impl Fn(&Received) -> Response<Bytes> + Send + Sync + 'static>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (log, answer) = (log.clone(), answer.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let received = Received { peer, head, body };
            log.lock().push(received.clone());
            Ok::<_, Infallible>(answer(&received).map(Full::new))
        }
    });
    // A client that goes away in the middle is none of the server's business.
    let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

pub(crate) fn answer(status: u16, body: impl Into<Bytes>) -> Response<Bytes> {
    Response::builder().status(status).body(body.into()).unwrap()
}
