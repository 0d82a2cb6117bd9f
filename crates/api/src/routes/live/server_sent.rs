//! Live messages as server-sent events. A client that reads slowly is sent nothing more until it has read: messages wait in the
//! log.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use live::{End, Opened, Reader, Told};
use model::ids::{AppId, Offset};

use crate::fair_share::Permit;
use crate::stopping::Stopping;

struct OpenStream {
    first: Option<Bytes>,
    reader: Reader,
    stopping: Stopping,
    ping: Duration,
    _permit: Permit<AppId>,
}

pub(super) fn stream(opened: Opened, permit: Permit<AppId>, stopping: Stopping, ping: Duration) -> Response {
    let first = Some(format!("id: {}\nevent: hello\ndata: {}\n\n", opened.start().0, opened.hello()).into());
    let open = OpenStream { first, reader: opened.reader(), stopping, ping, _permit: permit };
    let pieces = stream::unfold(Some(open), |open| async {
        let mut open = open?;
        match open.next().await {
            Ok(piece) => Some((Ok::<_, Infallible>(piece), Some(open))),
            Err(end) => Some((Ok(last_event(end)), None)),
        }
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl OpenStream {
    async fn next(&mut self) -> Result<Bytes, End> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        let messages = tokio::select! {
            messages = self.reader.next() => messages?,
            () = self.stopping.wait() => return Err(End::Restart { retry: 1_000 }),
            () = tokio::time::sleep(self.ping) => return Ok(nothing_new(self.reader.position()?)),
        };
        let event = |told: &Told| format!("id: {}\nevent: {}\ndata: {}\n\n", told.at().0, told.name(), told.json());
        Ok(messages.iter().map(event).collect::<String>().into())
    }
}

/// A comment. Its id is where the client goes on when it comes back, as with an event.
fn nothing_new(position: Option<Offset>) -> Bytes {
    match position {
        Some(at) => format!(": nothing new\nid: {}\n\n", at.0).into(),
        None => Bytes::from_static(b": something is on its way\n\n"),
    }
}

/// The code says what a WebSocket would have been closed with.
fn last_event(end: End) -> Bytes {
    let text = end.farewell().unwrap_or_else(|| format!(r#"{{"type":"bye","why":"{}"}}"#, end.code()));
    format!("event: bye\ndata: {text}\n\n").into()
}
