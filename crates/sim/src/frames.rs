//! The byte stream under an HTTP/2 connection. It makes changes that the library does not offer: the number of streams in
//! SETTINGS while a connection lasts, and a GOAWAY whose last stream is not the last one that arrived.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const HEADER_BYTES: usize = 9;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;
const MAX_CONCURRENT_STREAMS: u16 = 3;
/// Bytes that may wait before the library has to.
const MOST_WAITING: usize = 64 * 1024;
const NOTHING: u32 = u32::MAX;
const REASON: &[u8] = b"{\"reason\":\"Shutdown\"}";

/// Writes whole batches: the library's output is collected until it flushes.
pub(crate) struct Frames<S> {
    stream: S,
    edits: Arc<Edits>,
    waiting: BytesMut,
    /// A frame's header of which only a part has come.
    header: Vec<u8>,
    /// Bytes of the current frame that are still to come.
    n_left: usize,
}

/// The changes to make. The task of the connection sets them, and the next flush applies them.
pub(crate) struct Edits {
    streams: AtomicU32,
    goaway: AtomicU32,
}

impl Edits {
    pub(crate) fn new(streams: u32) -> Arc<Self> {
        Arc::new(Self { streams: AtomicU32::new(streams), goaway: AtomicU32::new(NOTHING) })
    }

    /// Sets the limit of streams for the next SETTINGS.
    pub(crate) fn allow(&self, streams: u32) {
        self.streams.store(streams, Ordering::Relaxed);
    }

    /// Sends a GOAWAY: no stream after this one was looked at.
    pub(crate) fn go_away(&self, last_stream: u32) {
        self.goaway.store(last_stream, Ordering::Relaxed);
    }
}

impl<S> Frames<S> {
    pub(crate) fn new(stream: S, edits: Arc<Edits>) -> Self {
        Self { stream, edits, waiting: BytesMut::new(), header: Vec::with_capacity(HEADER_BYTES), n_left: 0 }
    }

    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.n_left > 0 {
                let n = self.n_left.min(bytes.len());
                self.waiting.extend_from_slice(&bytes[..n]);
                self.n_left -= n;
                bytes.advance(n);
                continue;
            }
            let n = (HEADER_BYTES - self.header.len()).min(bytes.len());
            self.header.extend_from_slice(&bytes[..n]);
            bytes.advance(n);
            if self.header.len() == HEADER_BYTES {
                self.begin_frame();
            }
        }
    }

    fn begin_frame(&mut self) {
        let length = u32::from_be_bytes([0, self.header[0], self.header[1], self.header[2]]);
        self.n_left = usize::try_from(length).unwrap_or(usize::MAX);
        let is_settings = self.header[3] == SETTINGS && self.header[4] & ACK == 0;
        if is_settings {
            // Six more bytes than the library wrote: one more setting, in front of its own.
            self.put_header(length + 6, SETTINGS);
            self.waiting.put_u16(MAX_CONCURRENT_STREAMS);
            self.waiting.put_u32(self.edits.streams.load(Ordering::Relaxed));
        } else {
            self.waiting.extend_from_slice(&self.header);
        }
        self.header.clear();
    }

    fn add_goaway(&mut self) {
        if self.n_left > 0 || !self.header.is_empty() {
            return;
        }
        let last_stream = self.edits.goaway.swap(NOTHING, Ordering::Relaxed);
        if last_stream != NOTHING {
            self.put_header(8 + u32::try_from(REASON.len()).unwrap_or(0), GOAWAY);
            self.waiting.put_u32(last_stream);
            self.waiting.put_u32(0);
            self.waiting.extend_from_slice(REASON);
        }
    }

    /// The header of a frame without flags that concerns the whole connection.
    fn put_header(&mut self, length: u32, kind: u8) {
        self.waiting.put_uint(length.into(), 3);
        self.waiting.put_u8(kind);
        self.waiting.put_u8(0);
        self.waiting.put_u32(0);
    }
}

impl<S: AsyncWrite + Unpin> Frames<S> {
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            let n = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.waiting))?;
            if n == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.waiting.advance(n);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Frames<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Frames<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.waiting.len() > MOST_WAITING {
            ready!(self.poll_drain(cx))?;
        }
        self.take(buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.add_goaway();
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
