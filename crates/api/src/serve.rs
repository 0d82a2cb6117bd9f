//! The server: accepts connections, gives paths their normal form, and stops without cutting off callers.

mod connections;
mod graceful;
mod guarded;
mod head_scan;
mod last_callers;
mod peer;
mod socket;
mod spelling;
mod unread;

pub use connections::CallerAddress;
pub(crate) use connections::Seat;
pub(crate) use socket::take_socket;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use engine::{Engine, Metrics};
use http::header::{CONNECTION, UPGRADE};
use http::{HeaderValue, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::Service;

use crate::limits::Limits;
use crate::router::router;
use crate::stopping::Stopping;
use crate::{Settings, path};
use connections::Connections;
use graceful::Graceful;
use guarded::Guarded;
use last_callers::take_last;
use peer::Peer;
use spelling::Spelling;
use unread::Unread;

/// After a failed accept, most likely for want of file descriptors, which only come back with time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How often a server that stops looks whether its callers have gone.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long a server that stops still listens: enough for a proxy to notice.
const LISTEN_ON: Duration = Duration::from_secs(1);

/// How long a connection waits for bytes of a body that nobody reads: callers mostly send it together with the head.
const REST: Duration = Duration::from_secs(1);
/// For requests in work once the server has stopped to listen. Callers that neither send nor read are not waited for.
const STOP: Duration = Duration::from_secs(20);
/// The most of a head. hyper keeps a buffer of this size for an incomplete one, so it bounds what slow callers cost.
const MOST_HEAD_BYTES: usize = 64 * 1024;

/// How long the server waits for callers.
#[derive(Clone, Copy)]
struct Patience {
    /// For the rest of a body that nobody reads.
    rest: Duration,
    /// For callers that do not know yet that the server stops, while it still listens.
    drain: Duration,
    /// For the next request on every connection once it does not.
    last_call: Duration,
    /// For requests in work after that.
    stop: Duration,
    limits: Limits,
}

/// Serves until `shutdown` turns true, then answers the requests received already, within bounds.
///
/// A caller that keeps its connection may have sent its next request when the connection is closed, and cannot know what became of
/// it. So for as long as `drain` says, callers are still served, and every answer says that its connection ends.
///
/// It speaks HTTP/1.1, with header names in title case because some device libraries look for that spelling, except for the names
/// in `spelling`. TLS and other versions of HTTP are the business of a proxy in front.
pub async fn serve(listener: TcpListener, engine: Engine, settings: Settings, shutdown: watch::Receiver<bool>) {
    let (drain, limits, metrics) = (settings.drain, settings.limits, engine.metrics().clone());
    let listen_on = LISTEN_ON.min(drain / 2);
    let patience = Patience { rest: REST, drain: listen_on, last_call: drain - listen_on, stop: STOP, limits };
    let live = engine.live().clone();
    let served = serve_within(patience, listener, router(engine, settings), metrics, shutdown.clone());
    let mut stopping = Stopping(Some(shutdown));
    // Live connections are no requests: they end as soon as the node is told to stop, and never take longer than requests may.
    let ended = async {
        stopping.wait().await;
        if tokio::time::timeout(drain + STOP, live.stop()).await.is_err() {
            tracing::warn!("some live connections did not end in time");
        }
    };
    tokio::join!(served, ended);
}

async fn serve_within(
    patience: Patience,
    listener: TcpListener,
    router: Router,
    metrics: Metrics,
    shutdown: watch::Receiver<bool>,
) {
    let graceful = Graceful::new();
    let connections = Connections::new(&patience.limits, metrics);
    let stopping = Stopping(Some(shutdown));
    let spelling = Spelling::learn();
    let mut stops = stopping.clone();
    let begin = |stream: TcpStream, address: SocketAddr| {
        let address = CallerAddress::of(address.ip());
        // A connection that is not admitted is closed by dropping it: an answer would cost what is to be saved.
        let Some(seat) = connections.admit(address) else { return };
        let peer = Peer::default();
        let caller = Accepted { stream, address, peer: peer.clone(), seat: seat.clone() };
        let served = connect(caller, &graceful, router.clone(), stopping.clone(), spelling.clone(), patience);
        connections.run(seat, peer, to_its_end(served));
    };
    let drained = async {
        stops.wait().await;
        wait_until_gone(&graceful, patience.drain).await;
    };
    tokio::select! {
        never = accept(&listener, begin) => match never {},
        () = drained => {}
    }
    take_last(listener, begin).await;
    // A connection without a request so far would be closed, and the request may be on its way.
    wait_until_gone(&graceful, patience.last_call).await;
    let finished = async {
        tokio::select! {
            () = graceful.shutdown() => {}
            () = connections.cut_off_idlers() => {}
        }
    };
    if tokio::time::timeout(patience.stop, finished).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
}

async fn accept(listener: &TcpListener, begin: impl Fn(TcpStream, SocketAddr)) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => begin(stream, address),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn wait_until_gone(connections: &Graceful, patience: Duration) {
    let began = Instant::now();
    while connections.count() > 0 && began.elapsed() < patience {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A connection that was admitted.
struct Accepted {
    stream: TcpStream,
    address: CallerAddress,
    peer: Peer,
    seat: Seat,
}

fn connect(
    Accepted { stream, address, peer, seat }: Accepted,
    graceful: &Graceful,
    router: Router,
    stopping: Stopping,
    spelling: Spelling,
    patience: Patience,
) -> impl Future<Output = Result<(), hyper::Error>> + Send + use<> {
    // Answers are small and written at once; waiting to fill packets would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection could not be tuned");
    }
    let unread = Unread::new(peer.clone());
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        path::normalize(request.uri_mut());
        request.extensions_mut().insert(stopping.clone());
        request.extensions_mut().insert(address);
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(seat.clone());
        }
        let (spelling, unread, is_last) = (spelling.clone(), unread.clone(), stopping.is_near());
        // A router is always ready.
        let answer = router.clone().call(unread.watch(request));
        async move {
            let mut answer = unread.settle(spelling.keep(answer.await?), patience.rest).await;
            if is_last && answer.status() != StatusCode::SWITCHING_PROTOCOLS {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let Limits { idle, head, stalled, .. } = patience.limits;
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(MOST_HEAD_BYTES)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(Guarded::new(stream, peer, head, stalled)), service)
        .with_upgrades();
    graceful.watch(connection)
}

async fn to_its_end(connection: impl Future<Output = Result<(), hyper::Error>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests;
