//! What HTTP/1.1 runs over: a socket, or one with our own TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// What the system keeps for a device that does not read: by itself it would take megabytes of each, and some hundreds of such
/// devices would fill the memory that it has for all connections. Linux takes twice as much.
const MOST_UNREAD: usize = 32 * 1024;

pub(super) enum Transport {
    Plain(TcpStream),
    /// Boxed, so that a connection without TLS does not grow by the size of a session.
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Transport {
    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self, Self::Encrypted(_))
    }

    /// The connection for WebSockets. Its socket is registered anew: the old registration knows whom to wake, which keeps the large
    /// task of the request in memory for as long as the connection lives.
    pub(super) fn into_live(self) -> io::Result<live::Stream> {
        let anew = |socket: TcpStream| {
            let socket = socket.into_std()?;
            SockRef::from(&socket).set_send_buffer_size(MOST_UNREAD)?;
            TcpStream::from_std(socket)
        };
        match self {
            Self::Plain(socket) => Ok(anew(socket)?.into()),
            Self::Encrypted(stream) => {
                let (socket, session) = stream.into_inner();
                Ok(live::Stream::encrypted(anew(socket)?, session))
            }
        }
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, pieces),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_write_vectored(context, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}
