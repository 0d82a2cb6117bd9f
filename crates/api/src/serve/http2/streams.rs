//! The requests of one connection: whether there are any, and whose answers the caller does not read.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;

/// Clones are of the same connection.
#[derive(Clone)]
pub(super) struct Streams(Arc<Mutex<Book>>);

struct Book {
    last_number: u64,
    n_open: usize,
    /// Since when there is none.
    quiet: Instant,
    /// Since when the next piece of an answer is ready and not asked for: hyper asks when the one before is on its way.
    unread: HashMap<u64, Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    Busy,
    /// Without a request for so long.
    Quiet(Duration),
    /// Some answer was left unread for too long.
    Unread,
}

impl Streams {
    pub(super) fn new() -> Self {
        let book = Book { last_number: 0, n_open: 0, quiet: Instant::now(), unread: HashMap::new() };
        Self(Arc::new(Mutex::new(book)))
    }

    /// Notes a request, until the stream or its answer is dropped.
    pub(super) fn open(&self) -> Stream {
        let mut book = self.0.lock();
        book.last_number += 1;
        book.n_open += 1;
        Stream { of: self.clone(), number: book.last_number }
    }

    pub(super) fn state(&self, stalled: Duration) -> State {
        let book = self.0.lock();
        if book.unread.values().any(|since| since.elapsed() > stalled) {
            State::Unread
        } else if book.n_open == 0 {
            State::Quiet(book.quiet.elapsed())
        } else {
            State::Busy
        }
    }
}

/// One request, and its answer.
pub(super) struct Stream {
    of: Streams,
    number: u64,
}

impl Stream {
    pub(super) fn watch(self, body: Body) -> WatchedAnswer {
        self.await_caller(true);
        WatchedAnswer { body, stream: self }
    }

    fn await_caller(&self, is_awaited: bool) {
        let mut book = self.of.0.lock();
        if is_awaited {
            book.unread.insert(self.number, Instant::now());
        } else {
            book.unread.remove(&self.number);
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut book = self.of.0.lock();
        book.unread.remove(&self.number);
        book.n_open -= 1;
        if book.n_open == 0 {
            book.quiet = Instant::now();
        }
    }
}

pub(super) struct WatchedAnswer {
    body: Body,
    stream: Stream,
}

impl hyper::body::Body for WatchedAnswer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.stream.await_caller(frame.is_ready());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
