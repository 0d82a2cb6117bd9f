//! A connection with limits to how slow its caller may be: to send the head of a request, and to read an answer. How slow a body
//! may be depends on the handler that reads it. Nothing is read any more once the scan of heads has refused a byte.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::head_scan::{END_OF_REFUSED_HEAD, HeadScan};
use super::peer::Peer;
use super::transport::Transport;

/// A caller reads at least this much of an answer in the time that it may stall.
const LEAST_BYTES_READ: usize = 64 * 1024;

pub(crate) struct Guarded {
    stream: Transport,
    scan: HeadScan,
    refusal: Option<Refusal>,
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

/// What is next for hyper to read after a byte was refused.
#[derive(Clone, Copy)]
enum Refusal {
    /// The end of a head that nobody takes, which hyper answers with 400.
    OfHead,
    /// An error.
    OfRest,
}

impl Guarded {
    pub(super) fn new(stream: Transport, peer: Peer, head_patience: Duration, stall_patience: Duration) -> Self {
        Self {
            stream,
            scan: HeadScan::default(),
            refusal: None,
            peer,
            head_patience,
            head_limit: None,
            stall_patience,
            stall_limit: None,
            n_written: 0,
        }
    }

    /// The connection without limits, for another protocol.
    pub(super) fn into_stream(self) -> Transport {
        self.stream
    }

    fn check_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.scan.is_inside_head() {
            return Poll::Pending;
        }
        self.peer.await_head(true);
        let limit = self.head_limit.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.head_patience)));
        limit.as_mut().poll(context).map(|()| Err(too_slow("the head of a request did not arrive in time")))
    }

    /// Takes note of the bytes after the first `n_before` of a buffer, and takes them back from the first refused one on.
    fn check_read(&mut self, buffer: &mut ReadBuf<'_>, n_before: usize) -> io::Result<()> {
        let scanned = self.scan.scan(&buffer.filled()[n_before..]);
        if self.head_limit.is_some() && (scanned.is_err() || !self.scan.is_inside_head()) {
            self.head_limit = None;
            self.peer.await_head(false);
        }
        let Err(refused) = scanned else { return Ok(()) };
        buffer.set_filled(n_before + refused.n_before);
        let refusal = if refused.is_in_head { Refusal::OfHead } else { Refusal::OfRest };
        self.refusal = Some(refusal);
        // No bytes at all would be the end of the connection.
        if refused.n_before == 0 { self.refuse(refusal, buffer) } else { Ok(()) }
    }

    fn refuse(&mut self, refusal: Refusal, buffer: &mut ReadBuf<'_>) -> io::Result<()> {
        self.refusal = Some(Refusal::OfRest);
        match refusal {
            Refusal::OfHead => {
                buffer.put_slice(&END_OF_REFUSED_HEAD[..END_OF_REFUSED_HEAD.len().min(buffer.remaining())]);
                Ok(())
            }
            Refusal::OfRest => {
                let why = "a line ends without a carriage return, or the length of a body is not told in one way";
                Err(io::Error::new(io::ErrorKind::InvalidData, why))
            }
        }
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
            Poll::Pending => self.stall(context),
        }
    }

    /// Takes note of whether everything that was written is sent. Only a session of TLS keeps some of it.
    fn check_sent(&mut self, context: &mut Context<'_>, sent: Poll<io::Result<()>>) -> Poll<io::Result<()>> {
        if sent.is_pending() {
            return self.stall(context);
        }
        if self.stream.is_encrypted() {
            (self.stall_limit, self.n_written) = (None, 0);
            self.peer.await_reading(false);
        }
        sent
    }

    /// Waits for the caller to read, for as long as it may take.
    fn stall<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        self.peer.await_reading(true);
        let limit = self.stall_limit.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.stall_patience)));
        limit.as_mut().poll(context).map(|()| Err(too_slow("the caller does not read its answer")))
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
        if let Some(refusal) = self.refusal {
            return Poll::Ready(self.refuse(refusal, buffer));
        }
        let n_before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending => self.check_head(context),
            Poll::Ready(Ok(())) => Poll::Ready(self.check_read(buffer, n_before)),
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
        let sent = Pin::new(&mut self.stream).poll_flush(context);
        self.check_sent(context, sent)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.stream).poll_shutdown(context);
        self.check_sent(context, sent)
    }
}
