//! The bare socket of a connection that was upgraded to another protocol.

use bytes::Bytes;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::guarded::Guarded;

/// The socket, and the bytes of the new protocol that came with the request. `None` for a connection that is not ours.
pub(crate) fn take_socket(upgraded: Upgraded) -> Option<(TcpStream, Bytes)> {
    let parts = upgraded.downcast::<TokioIo<Guarded>>().ok()?;
    let stream = parts.io.into_inner().into_stream();
    // Registered anew: the old registration knows whom to wake, which keeps the large task of the request in memory for as long as
    // the connection lives.
    let stream = TcpStream::from_std(stream.into_std().ok()?).ok()?;
    Some((stream, parts.read_buf))
}
