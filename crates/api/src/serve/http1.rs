//! HTTP/1.1 on one connection, with header names in title case because some device libraries look for that spelling, except for the
//! names in `spelling`.

use std::convert::Infallible;

use http::header::{CONNECTION, UPGRADE};
use http::{HeaderValue, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tower::Service;

use super::guarded::Guarded;
use super::transport::Transport;
use super::unread::Unread;
use super::{Accepted, Server, say_encrypted};
use crate::limits::Limits;
use crate::path;

/// The most of a head. hyper keeps a buffer of this size for an incomplete one, so it bounds what slow callers cost.
pub(super) const MOST_HEAD_BYTES: usize = 64 * 1024;

pub(super) fn serve(
    stream: Transport,
    Accepted { address, peer, seat, guest }: Accepted,
    Server { router, stopping, spelling, patience, .. }: Server,
) -> impl Future<Output = Result<(), hyper::Error>> + Send + use<> {
    let (unread, is_encrypted) = (Unread::new(peer.clone()), stream.is_encrypted());
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        path::normalize(request.uri_mut());
        if is_encrypted {
            say_encrypted(request.headers_mut());
        }
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
    guest.run(connection)
}
