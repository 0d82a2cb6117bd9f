//! The server: accepts connections, gives paths their normal form, and stops without cutting off callers.

mod connections;
mod graceful;
mod guarded;
mod handshake;
mod head_scan;
mod http1;
mod http2;
mod last_callers;
mod peer;
mod socket;
mod spelling;
mod transport;
mod unread;

pub use connections::CallerAddress;
pub(crate) use connections::Seat;
pub(crate) use socket::take_socket;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use engine::{Engine, Metrics};
use http::{HeaderMap, HeaderValue};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::Settings;
use crate::limits::Limits;
use crate::router::router;
use crate::stopping::Stopping;
use crate::tls::Tls;
use connections::Connections;
use graceful::{Graceful, Guest};
use last_callers::take_last;
use peer::Peer;
use spelling::Spelling;
use transport::Transport;

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

/// How long the server waits for callers.
#[derive(Clone, Copy)]
struct Patience {
    /// For the rest of a body that nobody reads.
    rest: Duration,
    /// For callers that do not know yet that the server stops. They may have no connection at the moment, as a proxy in front
    /// that opens one for each request.
    listen_on: Duration,
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
/// It speaks HTTP/1.1, and with TLS of its own HTTP/2 as well.
pub async fn serve(listener: TcpListener, engine: Engine, mut settings: Settings, shutdown: watch::Receiver<bool>) {
    let tls = settings.tls.take();
    let (drain, limits, metrics) = (settings.drain, settings.limits, engine.metrics().clone());
    let listen_on = LISTEN_ON.min(drain / 2);
    let patience = Patience { rest: REST, listen_on, last_call: drain - listen_on, stop: STOP, limits };
    let (live, told) = (engine.live().clone(), engine.clone());
    let server = Server {
        router: router(engine, settings),
        stopping: Stopping(Some(shutdown.clone())),
        spelling: Spelling::learn(),
        patience,
        tls: tls.clone(),
    };
    let served = serve_within(server, listener, metrics);
    let mut stopping = Stopping(Some(shutdown));
    // Live connections are no requests: they end as soon as the node is told to stop, and never take longer than requests may.
    let ended = async {
        stopping.wait().await;
        if tokio::time::timeout(drain + STOP, live.stop()).await.is_err() {
            tracing::warn!("some live connections did not end in time");
        }
    };
    let stopped = async { tokio::join!(served, ended) };
    match tls {
        Some(tls) => tokio::select! {
            _ = stopped => {}
            never = tls.follow(&told) => match never {},
        },
        None => drop(stopped.await),
    }
}

/// What every connection is served with.
#[derive(Clone)]
struct Server {
    router: Router,
    stopping: Stopping,
    spelling: Spelling,
    patience: Patience,
    tls: Option<Tls>,
}

async fn serve_within(server: Server, listener: TcpListener, metrics: Metrics) {
    let patience = server.patience;
    let graceful = Graceful::new();
    let connections = Connections::new(&patience.limits, metrics);
    let mut stops = server.stopping.clone();
    let begin = |stream: TcpStream, address: SocketAddr| {
        let address = CallerAddress::of(address.ip());
        // A connection that is not admitted is closed by dropping it: an answer would cost what is to be saved.
        let Some(seat) = connections.admit(address) else { return };
        // Answers are small and written at once; waiting to fill packets would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection could not be tuned");
        }
        let peer = Peer::default();
        let caller = Accepted { address, peer: peer.clone(), seat: seat.clone(), guest: graceful.enter() };
        match &server.tls {
            None => {
                let served = http1::serve(Transport::Plain(stream), caller, server.clone());
                connections.run(seat, peer, to_its_end(served));
            }
            Some(tls) => connections.run(seat, peer, handshake::serve(stream, tls.clone(), caller, server.clone())),
        }
    };
    let drained = async {
        stops.wait().await;
        tokio::time::sleep(patience.listen_on).await;
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
    address: CallerAddress,
    peer: Peer,
    seat: Seat,
    guest: Guest,
}

/// Says of a request what a proxy that ends TLS would say: the TLS is ours. What the caller says of it does not count.
fn say_encrypted(headers: &mut HeaderMap) {
    headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
}

async fn to_its_end(connection: impl Future<Output = Result<(), hyper::Error>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests;
