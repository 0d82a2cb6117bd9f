//! Devices that cannot connect are told why, in the protocol that they have begun to speak.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::time::timeout;
use websocket::frame;

use crate::End;
use crate::stream::Stream;

/// For the device to take the reason, and to close.
const GOODBYE: Duration = Duration::from_secs(5);

/// Says why a WebSocket that was just opened is closed, and waits until its device closes it, too.
pub async fn refuse(stream: &Stream, end: End) {
    // A device that does not listen is none of our business any more.
    let _ = timeout(GOODBYE, say(stream, end)).await;
}

async fn say(stream: &Stream, end: End) -> io::Result<()> {
    let mut rest = end.frames();
    while !rest.is_empty() || stream.has_unsent() {
        stream.writable().await?;
        stream.send_unsent()?;
        match stream.try_write(&rest) {
            Ok(n_written) => drop(rest.drain(..n_written)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    let mut input = BytesMut::new();
    while !frame::is_over(&mut input) {
        stream.readable().await?;
        stream.read_some(&mut input)?;
    }
    Ok(())
}
