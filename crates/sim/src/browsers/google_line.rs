//! One push connection of a Chromium: it logs in, and gets its messages.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::mcs::{self, Packet};
use super::protobuf::Malformed;
use crate::shared::Shared;

/// Serves until the browser goes away.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, shared: &Shared) -> io::Result<()> {
    if stream.read_u8().await? != mcs::VERSION {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut buffer = BytesMut::new();
    let Packet::Login(login) = next(&mut stream, &mut buffer).await? else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    stream.write_all(&mcs::login_answer(shared.now_millis())).await?;
    shared.subscriptions.acknowledge(&login.browser, login.received.iter().map(String::as_str));
    let mut notices = shared.subscriptions.connect(&login.browser);
    loop {
        let answer = tokio::select! {
            // What was sent goes out before the answer to what was said later.
            biased;
            notice = notices.recv() => match notice {
                Some(notice) => mcs::data(&notice),
                // The same browser has another connection.
                None => return Ok(()),
            },
            packet = next(&mut stream, &mut buffer) => match packet? {
                Packet::Ping => mcs::ping_ack(),
                Packet::Close => return Ok(()),
                Packet::Login(_) | Packet::Other => continue,
            },
        };
        stream.write_all(&answer).await?;
        stream.flush().await?;
    }
}

/// The next packet. What has been read of it is in the buffer, so that one may stop waiting for it.
async fn next<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut BytesMut) -> io::Result<Packet> {
    loop {
        match Packet::read(buffer) {
            Ok(Some(packet)) => return Ok(packet),
            Ok(None) => {}
            Err(Malformed) => return Err(io::ErrorKind::InvalidData.into()),
        }
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
