//! The server: accepts connections, gives paths their normal form, and stops without cutting off callers.

mod connections;
mod guarded;
mod head_scan;
mod peer;
mod spelling;
mod unread;

pub(crate) use connections::CallerAddress;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use engine::{Engine, Metrics};
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::Service;

use crate::limits::Limits;
use crate::router::router;
use crate::stopping::Stopping;
use crate::{Settings, path};
use connections::Connections;
use guarded::Guarded;
use peer::Peer;
use spelling::Spelling;
use unread::Unread;

/// After a failed accept, most likely for want of file descriptors, which only come back with time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How often a server that stops looks whether its callers have gone.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The most for the first requests of callers that connected just before the server stopped to listen.
const LAST_CALL: Duration = Duration::from_millis(200);

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
    /// For callers that do not know yet that the server stops.
    drain: Duration,
    /// For their requests once the server has stopped to listen.
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
    let patience = Patience { rest: REST, drain, last_call: drain.min(LAST_CALL), stop: STOP, limits };
    serve_within(patience, listener, router(engine, settings), metrics, shutdown).await;
}

async fn serve_within(
    patience: Patience,
    listener: TcpListener,
    router: Router,
    metrics: Metrics,
    shutdown: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let connections = Connections::new(&patience.limits, metrics);
    let stopping = Stopping(Some(shutdown));
    let spelling = Spelling::learn();
    let mut stops = stopping.clone();
    let begin = |stream: TcpStream, address: SocketAddr| {
        let address = CallerAddress::of(address.ip());
        // A connection that is not admitted is closed by dropping it: an answer would cost what is to be saved.
        let Some(permit) = connections.admit(address) else { return };
        let peer = Peer::default();
        let caller = Accepted { stream, address, peer: peer.clone() };
        let connection = connect(caller, router.clone(), stopping.clone(), spelling.clone(), patience);
        connections.run(permit, peer, to_its_end(graceful.watch(connection)));
    };
    let drained = async {
        stops.wait().await;
        wait_until_gone(&graceful, patience.drain).await;
    };
    tokio::select! {
        never = accept(&listener, begin) => match never {},
        () = drained => {}
    }
    take_last(listener, begin);
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

/// Stops to listen. Connections that the system has made meanwhile would be reset; they are taken instead.
fn take_last(listener: TcpListener, begin: impl Fn(TcpStream, SocketAddr)) {
    let Ok(listener) = listener.into_std() else { return };
    while let Ok((stream, address)) = listener.accept() {
        if let Ok(stream) = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
            begin(stream, address);
        }
    }
}

async fn wait_until_gone(connections: &GracefulShutdown, patience: Duration) {
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
}

fn connect(
    Accepted { stream, address, peer }: Accepted,
    router: Router,
    stopping: Stopping,
    spelling: Spelling,
    patience: Patience,
) -> impl GracefulConnection<Error = hyper::Error> + Send + 'static {
    // Answers are small and written at once; waiting to fill packets would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection could not be tuned");
    }
    let unread = Unread::new(peer.clone());
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        path::normalize(request.uri_mut());
        request.extensions_mut().insert(stopping.clone());
        request.extensions_mut().insert(address);
        let (spelling, unread, is_last) = (spelling.clone(), unread.clone(), stopping.is_near());
        // A router is always ready.
        let answer = router.clone().call(unread.watch(request));
        async move {
            let mut answer = unread.settle(spelling.keep(answer.await?), patience.rest).await;
            if is_last {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let Limits { idle, head, stalled, .. } = patience.limits;
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(MOST_HEAD_BYTES)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(Guarded::new(stream, peer, head, stalled)), service)
}

async fn to_its_end<T>(connection: impl Future<Output = Result<T, hyper::Error>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::io::{self, Read, Write};

    const MINUTE: Duration = Duration::from_secs(60);

    fn patience(limits: Limits) -> Patience {
        let (drain, last_call) = (Duration::ZERO, Duration::ZERO);
        Patience { rest: Duration::from_millis(100), drain, last_call, stop: Duration::from_millis(100), limits }
    }

    async fn start(limits: Limits) -> (SocketAddr, watch::Sender<bool>) {
        start_within(patience(limits)).await
    }

    async fn start_within(patience: Patience) -> (SocketAddr, watch::Sender<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stops) = watch::channel(false);
        let tuned = || async { ([("x-ua-max-batch", "500"), ("x-ua-else", "X-Ua-Max-Batch")], "X-Ua-Max-Batch") };
        let router = Router::new().route("/", get(|| async { "hello" })).route("/tuned", get(tuned));
        tokio::spawn(serve_within(patience, listener, router, Metrics::default(), stops));
        (address, stop)
    }

    /// The server's answer to these bytes before it hangs up.
    async fn answer_to(address: SocketAddr, request: &'static str) -> io::Result<String> {
        let talk = move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            stream.write_all(request.as_bytes())?;
            let mut answer = String::new();
            let read = stream.read_to_string(&mut answer);
            let waits =
                |error: &io::Error| [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&error.kind());
            assert!(!read.as_ref().is_err_and(waits), "the server neither answers nor hangs up");
            read.map(|_| answer)
        };
        tokio::task::spawn_blocking(talk).await.unwrap()
    }

    #[tokio::test]
    async fn callers_that_never_finish_a_head_are_hung_up_on() {
        let (address, _stop) = start(Limits { idle: Duration::from_millis(100), ..Limits::default() }).await;
        for head in ["", "P", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
            // A caller that is too slow even to send this much finds the connection reset.
            let Ok(answer) = answer_to(address, head).await else { continue };
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{head:?}: {answer}");
        }
        // A head that is finished in time is answered; on a busy machine that may need several tries.
        let whole = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        let mut last = answer_to(address, whole).await;
        for _ in 0..100 {
            if last.as_ref().is_ok_and(|answer| answer.ends_with("hello")) {
                return;
            }
            last = answer_to(address, whole).await;
        }
        panic!("never answered; the last time: {last:?}");
    }

    #[tokio::test]
    async fn header_names_have_capitals() {
        let (address, _stop) = start(Limits::default()).await;
        let answer = answer_to(address, "GET //?q HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        assert!(answer.contains("\r\nContent-Type: "), "{answer}");
    }

    #[tokio::test]
    async fn names_that_devices_spell_in_another_way_are_spelled_so() {
        let (address, _stop) = start(Limits::default()).await;
        let request = "GET /tuned HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let answer = answer_to(address, request).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("\r\nX-UA-Max-Batch: 500"), "{head}");
        assert!(head.contains("\r\nX-Ua-Else: X-Ua-Max-Batch") && head.contains("\r\nContent-Type: "), "{head}");
        assert_eq!(body, "X-Ua-Max-Batch");
    }

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    /// The answer to a request on a connection that the server ends after it.
    fn last_answer(mut stream: std::net::TcpStream) -> String {
        stream.write_all(REQUEST).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[tokio::test]
    async fn callers_that_do_not_know_of_the_stop_are_served_and_told() {
        // The second caller may come when the first has gone, which ends the drain: then it is one of the last.
        let patience = Patience { drain: MINUTE, last_call: MINUTE, stop: STOP, ..patience(Limits::default()) };
        let (address, stop) = start_within(patience).await;
        let talk = move || {
            let mut kept = std::net::TcpStream::connect(address).unwrap();
            kept.write_all(REQUEST).unwrap();
            let mut first = Vec::new();
            while !first.ends_with(b"hello") {
                let mut byte = [0];
                kept.read_exact(&mut byte).unwrap();
                first.extend(byte);
            }
            stop.send_replace(true);
            [kept, std::net::TcpStream::connect(address).unwrap()].map(last_answer)
        };
        for answer in tokio::task::spawn_blocking(talk).await.unwrap() {
            assert!(answer.contains("\r\nConnection: close\r\n") && answer.ends_with("hello"), "{answer:?}");
        }
    }

    #[tokio::test]
    async fn a_caller_that_connects_just_before_the_end_is_served() {
        let (address, stop) =
            start_within(Patience { last_call: MINUTE, stop: STOP, ..patience(Limits::default()) }).await;
        let talk = move || {
            let early = std::net::TcpStream::connect(address).unwrap();
            stop.send_replace(true);
            while std::net::TcpStream::connect(address).is_ok() {}
            last_answer(early)
        };
        let answer = tokio::task::spawn_blocking(talk).await.unwrap();
        assert!(answer.contains("\r\nConnection: close\r\n") && answer.ends_with("hello"), "{answer:?}");
    }
}
