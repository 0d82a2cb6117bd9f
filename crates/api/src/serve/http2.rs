//! HTTP/2 on one connection. hyper bounds neither how long one may be idle, nor how long the head of a request may take, nor how
//! long a caller may leave an answer unread, so that all of these are watched here.

mod heads;
mod sent;
mod streams;

use std::convert::Infallible;
use std::pin::pin;
use std::time::{Duration, Instant};

use http::header::HOST;
use http::{HeaderValue, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tower::Service;

use super::http1::MOST_HEAD_BYTES;
use super::{Accepted, Server, say_encrypted};
use crate::limits::Limits;
use crate::path;
use heads::Heads;
use sent::{Moving, Sent};
use streams::{State, Streams};

/// Requests at once on one connection. A caller that needs more opens another, which is counted.
const MOST_STREAMS: u32 = 64;
/// Of bodies that wait to be read, for all requests of a connection; and so of each.
const WINDOW: u32 = 256 * 1024;
/// Of an answer that waits to be sent.
const MOST_UNSENT: usize = 64 * 1024;
/// How often in the time that a caller may be idle it is looked whether it is.
const LOOKS: u32 = 8;
const SHORTEST_LOOK: Duration = Duration::from_millis(10);
/// For a caller without requests to take leave when the server stops; one that has vanished does not.
const LEAVE: Duration = Duration::from_secs(1);

pub(super) async fn serve(
    stream: Box<TlsStream<TcpStream>>,
    Accepted { address, guest, .. }: Accepted,
    Server { router, mut stopping, patience, .. }: Server,
) -> Result<(), hyper::Error> {
    // Counts until the end.
    let _guest = guest;
    let (streams, stops) = (Streams::new(), stopping.clone());
    let begin = streams.clone();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        let stream = begin.open();
        name_host(&mut request);
        path::normalize(request.uri_mut());
        say_encrypted(request.headers_mut());
        request.extensions_mut().insert(stops.clone());
        request.extensions_mut().insert(address);
        // A router is always ready.
        let answer = router.clone().call(request);
        async move { Ok::<_, Infallible>(answer.await?.map(|body| stream.watch(body))) }
    });
    let Limits { idle, head, stalled, .. } = patience.limits;
    let heads = Heads::default();
    let stream = Sent::new(stream, heads.clone());
    let n_sent = stream.counter();
    let mut connection = pin!(
        http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(MOST_STREAMS)
            .initial_connection_window_size(WINDOW)
            .initial_stream_window_size(WINDOW)
            .max_send_buf_size(MOST_UNSENT)
            .max_header_list_size(u32::try_from(MOST_HEAD_BYTES).unwrap_or(u32::MAX))
            .serve_connection(TokioIo::new(stream), service)
    );
    let mut is_moving = Moving::new(n_sent);
    let mut looks = tokio::time::interval((idle.min(head).min(stalled) / LOOKS).max(SHORTEST_LOOK));
    // Since when the caller knows that the connection ends, and how long it may take to leave.
    let mut ending: Option<(Instant, Duration)> = None;
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => return ended,
            () = stopping.wait(), if ending.is_none() => {
                connection.as_mut().graceful_shutdown();
                ending = Some((Instant::now(), LEAVE));
            }
            _ = looks.tick() => match (streams.state(stalled), ending) {
                // Whatever else goes on: nothing else can come after half a head.
                _ if heads.is_unfinished_for(head) => {
                    tracing::debug!("a connection ends: the head of a request takes too long");
                    return Ok(());
                }
                (State::Busy, _) => {}
                // hyper hands over whole answers, of which much may still be on its way.
                _ if is_moving.within(stalled) => {}
                (State::Unread, _) => {
                    tracing::debug!("a connection ends: the caller does not read its answers");
                    return Ok(());
                }
                (State::Quiet(time), None) if time > idle => {
                    connection.as_mut().graceful_shutdown();
                    ending = Some((Instant::now(), stalled));
                }
                // It does not take leave.
                (State::Quiet(time), Some((since, leave))) if time.min(since.elapsed()) > leave => return Ok(()),
                (State::Quiet(_), _) => {}
            },
        }
    }
}

/// Gives a request the form that it has in HTTP/1.1: the host in a header, and nothing but path and query in its target. One that
/// names another in its own header has two then, and is refused as in HTTP/1.1: a proxy in front may have read either.
fn name_host(request: &mut hyper::Request<Incoming>) {
    let Some(authority) = request.uri().authority() else { return };
    let Ok(host) = HeaderValue::from_str(authority.as_str()) else { return };
    let is_host = |named: &HeaderValue| named.as_bytes().eq_ignore_ascii_case(host.as_bytes());
    if !request.headers().get(HOST).is_some_and(is_host) {
        request.headers_mut().append(HOST, host);
    }
    if let Some(target) = request.uri().path_and_query().cloned() {
        *request.uri_mut() = Uri::from(target);
    }
}
