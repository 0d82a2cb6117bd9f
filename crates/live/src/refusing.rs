//! Devices that cannot connect are told why, in the protocol that they have begun to speak.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::End;

/// For the device to take the reason, and to close.
const GOODBYE: Duration = Duration::from_secs(5);

/// Closes a WebSocket that was just opened.
pub async fn refuse(mut stream: TcpStream, end: End) {
    let said = async {
        stream.write_all(&end.frames()).await?;
        let mut rest = [0; 256];
        while stream.read(&mut rest).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    // A device that does not listen is none of our business any more.
    let _ = timeout(GOODBYE, said).await;
}
