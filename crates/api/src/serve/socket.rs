//! The socket of a connection that was upgraded to another protocol.

use bytes::Bytes;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;

use super::guarded::Guarded;

/// The socket, and the bytes of the new protocol that came with the request. `None` for a connection that is not ours.
pub(crate) fn take_socket(upgraded: Upgraded) -> Option<(live::Stream, Bytes)> {
    let parts = upgraded.downcast::<TokioIo<Guarded>>().ok()?;
    Some((parts.io.into_inner().into_stream().into_live().ok()?, parts.read_buf))
}
