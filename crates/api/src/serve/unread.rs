//! The rest of a request body that was not read before the request was answered.
//!
//! A connection can only serve its next request after the body of the last one. Many requests are answered without a look at
//! their body: unknown paths, wrong credentials, requests that need none. hyper then closes the connection, unless all of the
//! body has arrived by chance, and the answer does not say so: a client that keeps connections loses its next request, and one
//! that is still sending may see a broken connection instead of the answer. So the rest is read and thrown away, within bounds,
//! and otherwise the answer says that the connection ends.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONNECTION, EXPECT};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use parking_lot::Mutex;

use super::peer::Peer;
use crate::body::MOST_BODY_BYTES;

/// Where the bodies of one connection leave what was not read of them. It serves one request after the other, so there is at most
/// one, and a place per connection costs its requests nothing.
#[derive(Clone)]
pub(super) struct Unread {
    rest: Arc<Mutex<Option<Rest>>>,
    peer: Peer,
}

struct Rest {
    body: Incoming,
    /// The sender waits to be asked for the body before it sends any of it.
    is_held_back: bool,
}

impl Unread {
    pub(super) fn new(peer: Peer) -> Self {
        Self { rest: Arc::default(), peer }
    }

    pub(super) fn watch(&self, request: hyper::Request<Incoming>) -> hyper::Request<WatchedBody> {
        let is_held_back = request.headers().contains_key(EXPECT);
        request.map(|body| WatchedBody { rest: Some(Rest { body, is_held_back }), unread: self.clone() })
    }

    /// Makes the connection ready for its next request, or has the answer say that there will be none.
    pub(super) async fn settle(&self, mut response: Response, patience: Duration) -> Response {
        let Some(rest) = self.take() else { return response };
        // Rarely needed, so its future is not part of that of every request.
        if !Box::pin(rest.read_within(patience)).await {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    fn take(&self) -> Option<Rest> {
        self.rest.lock().take()
    }
}

impl Rest {
    async fn read_within(self, patience: Duration) -> bool {
        // Reading would ask for a body that is of no use, and that the sender may be glad to keep.
        let is_too_much = self.is_held_back || self.body.size_hint().lower() > MOST_BODY_BYTES as u64;
        !is_too_much && tokio::time::timeout(patience, read_to_end(self.body)).await.unwrap_or(false)
    }
}

async fn read_to_end(mut body: Incoming) -> bool {
    let mut n_bytes = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        n_bytes += frame.data_ref().map_or(0, Bytes::len);
        if n_bytes > MOST_BODY_BYTES {
            return false;
        }
    }
    true
}

/// A body that is handed on to [`Unread`] when it is dropped before its end.
pub(super) struct WatchedBody {
    /// `None` after the end.
    rest: Option<Rest>,
    unread: Unread,
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        rest.is_held_back = false;
        let frame = Pin::new(&mut rest.body).poll_frame(context);
        self.unread.peer.await_body(frame.is_pending());
        let frame = ready!(frame);
        if let Some(Ok(frame)) = &frame {
            self.unread.peer.count(frame.data_ref().map_or(0, Bytes::len));
        }
        if frame.is_none() {
            self.rest = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.rest.as_ref().is_none_or(|rest| rest.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.rest.as_ref().map_or(SizeHint::with_exact(0), |rest| rest.body.size_hint())
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        self.unread.peer.await_body(false);
        if let Some(rest) = self.rest.take().filter(|rest| !rest.body.is_end_stream()) {
            *self.unread.rest.lock() = Some(rest);
        }
    }
}
