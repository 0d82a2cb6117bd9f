//! Devices that cannot connect are told why, in the protocol that they have begun to speak.

use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use websocket::frame;

use crate::End;

/// For the device to take the reason, and to close.
const GOODBYE: Duration = Duration::from_secs(5);

/// Says why a WebSocket that was just opened is closed, and waits until its device closes it, too.
pub async fn refuse(stream: &mut TcpStream, end: End) {
    let said = async {
        stream.write_all(&end.frames()).await?;
        let mut input = BytesMut::new();
        while stream.read_buf(&mut input).await? > 0 && !frame::is_over(&mut input) {}
        Ok::<_, std::io::Error>(())
    };
    // A device that does not listen is none of our business any more.
    let _ = timeout(GOODBYE, said).await;
}
