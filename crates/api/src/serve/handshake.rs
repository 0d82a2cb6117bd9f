//! A connection with our own TLS: from the handshake to the protocol that caller and server agree on.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::transport::Transport;
use super::{Accepted, Server, http1, http2, to_its_end};
use crate::tls::{HTTP2, Tls};

/// The first byte of every handshake: a record that holds one.
const HANDSHAKE: u8 = 22;
/// For a caller that speaks plain HTTP.
const USE_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n\
    This port speaks TLS: the address begins with https.\n";

/// Serves a connection to its end. A handshake has the time that the head of a request has, from the first moment on: it costs
/// memory and a signature before anything is known of the caller.
pub(super) async fn serve(stream: TcpStream, tls: Tls, caller: Accepted, server: Server) {
    let patience = server.patience.limits.head;
    caller.peer.await_head(true);
    let shaken = timeout(patience, shake(stream, &tls)).await;
    caller.peer.await_head(false);
    let stream = match shaken {
        Ok(Ok(Some(stream))) => stream,
        Ok(Ok(None)) => return,
        Ok(Err(error)) => return tracing::debug!(%error, "a handshake of TLS failed"),
        Err(_) => return tracing::debug!("a handshake of TLS took too long"),
    };
    // Boxed, so that the task does not have room for both.
    if stream.get_ref().1.alpn_protocol() == Some(HTTP2) {
        Box::pin(to_its_end(http2::serve(stream, caller, server))).await;
    } else {
        Box::pin(to_its_end(http1::serve(Transport::Encrypted(stream), caller, server))).await;
    }
}

/// `None` for a caller that speaks plain HTTP, and was told so.
async fn shake(mut stream: TcpStream, tls: &Tls) -> io::Result<Option<Box<TlsStream<TcpStream>>>> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if first[0] == HANDSHAKE {
        let accepted = TlsAcceptor::from(tls.config()).accept(stream).await?;
        return Ok(Some(Box::new(accepted)));
    }
    if first[0].is_ascii_uppercase() {
        stream.write_all(USE_TLS).await?;
        stream.shutdown().await?;
        // A connection with unread bytes would be reset, and the sentence be lost with it.
        let mut rest = [0; 512];
        while stream.read(&mut rest).await? > 0 {}
    }
    Ok(None)
}
