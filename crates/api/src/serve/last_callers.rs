//! Stops to listen without cutting off anybody who has connected.
//!
//! When a listening socket is closed, the system resets connections that it has made and nobody has accepted. Accepting them first
//! is not enough: another may be made between the last look and the close, and its caller, who has sent a request by then, cannot
//! know what became of it. So the system is first told to make no more connections.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

/// For connections that are half made: the answer of a caller that is far away.
const HANDSHAKE: Duration = Duration::from_millis(200);

/// Takes the connections that were made or begun. Callers that come now try again by themselves, and find nobody.
pub(super) async fn take_last(listener: TcpListener, begin: impl Fn(TcpStream, SocketAddr)) {
    match make_no_more(&listener) {
        Ok(()) => {
            // Never ends by itself.
            drop(tokio::time::timeout(HANDSHAKE, super::accept(&listener, &begin)).await);
        }
        Err(error) => tracing::debug!(%error, "a caller that connects in the last moment may be cut off"),
    }
    // Whatever came while the last one was begun.
    let Ok(listener) = listener.into_std() else { return };
    while let Ok((stream, address)) = listener.accept() {
        if let Ok(stream) = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
            begin(stream, address);
        }
    }
}

/// Has the system ignore the first packet of every new connection. Callers send it again after a second.
#[cfg(target_os = "linux")]
fn make_no_more(listener: &TcpListener) -> io::Result<()> {
    use socket2::{SockFilter, SockRef};

    /// Where the flags are in the head of TCP, and what they are in a first packet: SYN without ACK.
    const FLAGS: u32 = 13;
    const SYN: u32 = 0x02;
    const ACK: u32 = 0x10;
    /// Instructions of the packet filter.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let program = [
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS),
        SockFilter::new(AND, 0, 0, SYN | ACK),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ];
    SockRef::from(listener).attach_filter(&program)
}

#[cfg(not(target_os = "linux"))]
fn make_no_more(_: &TcpListener) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
