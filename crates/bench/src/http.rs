//! An HTTP client that costs next to nothing: one connection, requests as bytes, and of an answer only what is looked at.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CHUNK: usize = 4096;

pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

/// One answer, as long as the next is not asked for.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

/// A request as it goes over the wire.
pub(crate) fn request(method: &str, path: &str, authorization: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: {authorization}\r\nContent-Type: application/json\r\n\
         Accept: application/vnd.urbanairship+json; version=3;\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("the server does not answer")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::new() })
    }

    pub(crate) async fn call(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.answer().await
    }

    /// Calls and refuses every status but those of success.
    pub(crate) async fn expect(&mut self, request: &[u8]) -> Result<Value> {
        let answer = self.call(request).await?;
        let text = String::from_utf8_lossy(answer.body);
        ensure!((200..300).contains(&answer.status), "The server answered {}: {text}", answer.status);
        if answer.body.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_slice(answer.body)?) }
    }

    /// Sends a part of a request; [`Connection::answer`] gets the answer to the whole of it.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    pub(crate) async fn answer(&mut self) -> Result<Answer<'_>> {
        self.received.clear();
        let head = loop {
            self.more().await?;
            if let Some(end) = self.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let (status, length) = read_head(&self.received[..head])?;
        while self.received.len() < head + length {
            self.more().await?;
        }
        Ok(Answer { status, body: &self.received[head..] })
    }

    async fn more(&mut self) -> Result<()> {
        self.received.reserve(CHUNK);
        ensure!(self.stream.read_buf(&mut self.received).await? > 0, "The server hung up.");
        Ok(())
    }
}

/// The status and the length of the body.
fn read_head(head: &[u8]) -> Result<(u16, usize)> {
    let head = std::str::from_utf8(head).context("the head of an answer is not text")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("an answer has no status")?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Ok((status, length.unwrap_or(0)))
}
