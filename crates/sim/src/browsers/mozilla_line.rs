//! One push connection of a Firefox, a WebSocket.

use std::io;

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use websocket::accept_key;
use websocket::frame::{self, Frame};

use super::mozilla::{self, Reaction};
use crate::answer;
use crate::shared::Shared;

/// The answer to the handshake, if it is one.
pub(crate) fn accept(path: &str, headers: &HeaderMap) -> Option<Response<Bytes>> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let is_upgrade = text(UPGRADE).is_some_and(|value| value.eq_ignore_ascii_case("websocket"));
    let accept = text(SEC_WEBSOCKET_KEY).and_then(accept_key)?;
    if path != mozilla::SOCKET || !is_upgrade {
        return None;
    }
    let mut response = answer::empty(StatusCode::SWITCHING_PROTOCOLS);
    let offers = text(SEC_WEBSOCKET_PROTOCOL).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&accept).ok()?);
    if offers.split(',').any(|offer| offer.trim() == mozilla::SUBPROTOCOL) {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(mozilla::SUBPROTOCOL));
    }
    Some(response)
}

/// Serves until the browser goes away.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, shared: &Shared) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    let mut line: Option<(String, _)> = None;
    loop {
        let notice = async {
            match &mut line {
                Some((_, notices)) => tokio::sync::mpsc::UnboundedReceiver::recv(notices).await,
                None => std::future::pending().await,
            }
        };
        let frame = tokio::select! {
            // What was sent goes out before the answer to what was said later.
            biased;
            notice = notice => match notice {
                Some(notice) => {
                    stream.write_all(&frame::text(&mozilla::notification(&notice))).await?;
                    stream.flush().await?;
                    continue;
                }
                // The same browser has another connection.
                None => return Ok(()),
            },
            frame = next(&mut stream, &mut buffer) => frame?,
        };
        let answer = match frame {
            Frame::Text(text) => {
                let browser = line.as_ref().map(|(browser, _)| &**browser);
                let reaction = mozilla::react(&shared.subscriptions, browser, &text);
                shared.changed.notify_waiters();
                match reaction {
                    Reaction::Answer(answer) => frame::text(&answer),
                    Reaction::Welcome { browser, answer } => {
                        let notices = shared.subscriptions.connect(&browser);
                        line = Some((browser, notices));
                        frame::text(&answer)
                    }
                    Reaction::Nothing => continue,
                    Reaction::End => {
                        frame::close(frame::Fault::PROTOCOL.0, "This is not the protocol of the push service.")
                    }
                }
            }
            Frame::Ping(payload) => frame::pong(&payload),
            Frame::Pong => continue,
            Frame::Close(code) => {
                stream.write_all(&frame::close(code.unwrap_or(1000), "")).await?;
                return Ok(());
            }
        };
        stream.write_all(&answer).await?;
        stream.flush().await?;
    }
}

/// The next frame. What has been read of it is in the buffer, so that one may stop waiting for it.
async fn next<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut BytesMut) -> io::Result<Frame> {
    loop {
        match Frame::read(buffer) {
            Ok(Some(frame)) => return Ok(frame),
            Ok(None) => {}
            Err(fault) => return Err(io::Error::new(io::ErrorKind::InvalidData, format!("close code {}", fault.0))),
        }
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
