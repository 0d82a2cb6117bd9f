//! A connection with limits to how slow its caller may be: to send the head of a request, and to read an answer. How slow a body
//! may be depends on the handler that reads it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::head_scan::HeadScan;
use super::peer::Peer;

/// A caller reads at least this much of an answer in the time that it may stall.
const LEAST_BYTES_READ: usize = 64 * 1024;

pub(super) struct Guarded {
    stream: TcpStream,
    scan: HeadScan,
    peer: Peer,
    head_patience: Duration,
    /// Runs while a head is incomplete.
    head_limit: Option<Pin<Box<Sleep>>>,
    stall_patience: Duration,
    /// Runs while an answer waits for the caller to read.
    stall_limit: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the stall began, or since enough of them were.
    n_written: usize,
}

impl Guarded {
    pub(super) fn new(stream: TcpStream, peer: Peer, head_patience: Duration, stall_patience: Duration) -> Self {
        Self {
            stream,
            scan: HeadScan::default(),
            peer,
            head_patience,
            head_limit: None,
            stall_patience,
            stall_limit: None,
            n_written: 0,
        }
    }

    fn check_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.scan.is_inside_head() {
            return Poll::Pending;
        }
        self.peer.await_head(true);
        let limit = self.head_limit.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.head_patience)));
        limit.as_mut().poll(context).map(|()| Err(too_slow("the head of a request did not arrive in time")))
    }

    /// Takes note of the outcome of writing `n_wanted` bytes.
    fn check_stall(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
        n_wanted: usize,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(n_written)) => {
                self.peer.count(n_written);
                self.n_written += n_written;
                if n_written == n_wanted || self.n_written >= LEAST_BYTES_READ {
                    (self.stall_limit, self.n_written) = (None, 0);
                }
                self.peer.await_reading(false);
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                self.peer.await_reading(true);
                let limit = self.stall_limit.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.stall_patience)));
                limit.as_mut().poll(context).map(|()| Err(too_slow("the caller does not read its answer")))
            }
        }
    }
}

fn too_slow(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending => self.check_head(context),
            Poll::Ready(Ok(())) => {
                self.scan.scan(&mut buffer.filled_mut()[n_before..]);
                if self.head_limit.is_some() && !self.scan.is_inside_head() {
                    self.head_limit = None;
                    self.peer.await_head(false);
                }
                Poll::Ready(Ok(()))
            }
            failed @ Poll::Ready(Err(_)) => failed,
        }
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_stall(context, written, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.check_stall(context, written, pieces.iter().map(|piece| piece.len()).sum())
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
