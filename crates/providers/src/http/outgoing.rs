//! Request bodies that are read while they are sent, so that they need not fit into memory.

use std::fmt;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

const PIECE: usize = 64 * 1024;

/// The body of a request, which comes from a reader. Reading blocks the thread, so it is for programs that do nothing else
/// meanwhile.
pub struct Outgoing {
    source: Box<dyn Read + Send>,
    /// As far as it is known.
    n_bytes: Option<u64>,
    sent: BytesSent,
}

/// How much of a body the connection has taken.
#[derive(Clone, Debug, Default)]
pub struct BytesSent(Arc<AtomicU64>);

impl Outgoing {
    pub fn new(source: impl Read + Send + 'static, n_bytes: Option<u64>) -> Self {
        Self { source: Box::new(source), n_bytes, sent: BytesSent::default() }
    }

    pub fn sent(&self) -> BytesSent {
        self.sent.clone()
    }
}

impl BytesSent {
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut piece = vec![0; PIECE];
        let n_read = loop {
            match self.source.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Some(Err(error))),
                Ok(n_read) => break n_read,
            }
        };
        if n_read == 0 {
            return Poll::Ready(None);
        }
        piece.truncate(n_read);
        self.sent.0.fetch_add(n_read as u64, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(piece.into()))))
    }

    fn size_hint(&self) -> SizeHint {
        self.n_bytes.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").field("n_bytes", &self.n_bytes).field("sent", &self.sent).finish_non_exhaustive()
    }
}
