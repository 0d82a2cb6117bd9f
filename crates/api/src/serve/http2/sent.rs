//! What a connection has sent: a caller that goes on reading is slow, and not gone. What it reads passes by here, too.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::heads::Heads;

/// A caller reads at least this much of its answers in the time that it may stall.
const LEAST_BYTES_READ: u64 = 64 * 1024;

/// A connection whose sent bytes are counted.
pub(super) struct Sent {
    stream: Box<TlsStream<TcpStream>>,
    n_bytes: Arc<AtomicU64>,
    heads: Heads,
}

impl Sent {
    pub(super) fn new(stream: Box<TlsStream<TcpStream>>, heads: Heads) -> Self {
        Self { stream, n_bytes: Arc::default(), heads }
    }

    pub(super) fn counter(&self) -> Arc<AtomicU64> {
        self.n_bytes.clone()
    }

    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(n_written)) = written {
            self.n_bytes.fetch_add(n_written as u64, Ordering::Relaxed);
        }
        written
    }
}

/// Whether enough of the answers is read, as seen by whoever looks from time to time.
pub(super) struct Moving {
    n_bytes: Arc<AtomicU64>,
    /// When enough had been sent, and how much that was.
    last: (Option<Instant>, u64),
}

impl Moving {
    pub(super) fn new(n_bytes: Arc<AtomicU64>) -> Self {
        Self { n_bytes, last: (None, 0) }
    }

    /// Whether enough was sent within some time.
    pub(super) fn within(&mut self, time: Duration) -> bool {
        let n_bytes = self.n_bytes.load(Ordering::Relaxed);
        if n_bytes - self.last.1 >= LEAST_BYTES_READ {
            self.last = (Some(Instant::now()), n_bytes);
        }
        self.last.0.is_some_and(|last| last.elapsed() <= time)
    }
}

impl AsyncRead for Sent {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.heads.pass(&buffer.filled()[n_before..]);
        read
    }
}

impl AsyncWrite for Sent {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_good_piece_counts_as_reading() {
        let n_bytes = Arc::new(AtomicU64::new(0));
        let mut moving = Moving::new(n_bytes.clone());
        assert!(!moving.within(Duration::MAX), "nothing was sent");
        n_bytes.store(LEAST_BYTES_READ - 1, Ordering::Relaxed);
        assert!(!moving.within(Duration::MAX), "bits of control cannot keep a connection");
        n_bytes.store(LEAST_BYTES_READ, Ordering::Relaxed);
        assert!(moving.within(Duration::MAX));
        assert!(!moving.within(Duration::ZERO), "that was before");
    }
}
