//! The server: accepts connections, gives paths their normal form, and stops without cutting anybody off.

use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

use crate::path;
use crate::stopping::Stopping;

/// How long a connection may be silent before, between and within request heads. Bounds what idle and slow callers hold.
const HEAD_PATIENCE: Duration = Duration::from_secs(60);
/// How long requests in work may take to finish once the server stops.
const STOP_PATIENCE: Duration = Duration::from_secs(20);
/// After a failed accept, most likely for want of file descriptors, which only come back with time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` turns true, then answers what was asked already, within bounds.
///
/// It speaks HTTP/1.1, with header names in title case because some device libraries look for that spelling. TLS and other
/// versions of HTTP are the business of a proxy in front.
pub async fn serve(listener: TcpListener, router: Router, mut shutdown: watch::Receiver<bool>) {
    let connections = GracefulShutdown::new();
    let stopping = Stopping(Some(shutdown.clone()));
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => start(stream, router.clone(), stopping.clone(), &connections),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            // An error means that nobody is left who could ask us to stop; so we do.
            _ = shutdown.wait_for(|stops| *stops) => break,
        }
    }
    drop(listener);
    if tokio::time::timeout(STOP_PATIENCE, connections.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
}

fn start(stream: TcpStream, router: Router, stopping: Stopping, connections: &GracefulShutdown) {
    // Answers are small and written at once; waiting to fill packets would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection could not be tuned");
    }
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        path::normalize(request.uri_mut());
        request.extensions_mut().insert(stopping.clone());
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(stream), service);
    let connection = connections.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended early");
        }
    });
}
