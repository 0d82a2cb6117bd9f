//! An HTTP client that costs next to nothing: one connection, requests as bytes, and only the needed parts of an answer.

use std::net::SocketAddr;
use std::ops::Range;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CHUNK: usize = 4096;
/// The position of the status in `HTTP/1.1 200 OK`.
const STATUS: Range<usize> = 9..12;
const LENGTH: &[u8] = b"content-length:";

pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

/// One answer, valid until the next request.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    head: &'a [u8],
    pub(crate) body: &'a [u8],
}

impl Answer<'_> {
    /// A header, by its name in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = std::str::from_utf8(self.head).ok()?.lines();
        let mut named = lines.filter_map(|line| line.split_once(':'));
        named.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
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

    /// Calls and fails for every status except those of success.
    pub(crate) async fn expect(&mut self, request: &[u8]) -> Result<Value> {
        let answer = self.call(request).await?;
        let text = String::from_utf8_lossy(answer.body);
        ensure!((200..300).contains(&answer.status), "The server answered {}: {text}", answer.status);
        if answer.body.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_slice(answer.body)?) }
    }

    /// Sends a part of a request; [`Connection::answer`] reads the answer to the whole of it.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    pub(crate) async fn answer(&mut self) -> Result<Answer<'_>> {
        self.received.clear();
        let head = loop {
            self.more().await?;
            if let Some(head) = Head::read(&self.received)? {
                break head;
            }
        };
        while self.received.len() < head.n_bytes + head.n_body_bytes {
            self.more().await?;
        }
        let (start, body) = self.received.split_at(head.n_bytes);
        Ok(Answer { status: head.status, head: start, body })
    }

    async fn more(&mut self) -> Result<()> {
        self.received.reserve(CHUNK);
        ensure!(self.stream.read_buf(&mut self.received).await? > 0, "The server hung up.");
        Ok(())
    }
}

/// The needed parts of the head of an answer, read in one pass: callers share the cores with the measured server, so their cost
/// lowers the results.
struct Head {
    status: u16,
    n_bytes: usize,
    n_body_bytes: usize,
}

impl Head {
    /// `None` while the head is incomplete.
    fn read(received: &[u8]) -> Result<Option<Self>> {
        let (mut n_bytes, mut n_body_bytes) = (0, 0);
        for line in received.split_inclusive(|byte| *byte == b'\n') {
            n_bytes += line.len();
            if line == b"\r\n" {
                let status = received.get(STATUS).and_then(number).context("an answer has no status")?;
                return Ok(Some(Self { status: u16::try_from(status)?, n_bytes, n_body_bytes }));
            }
            if let Some((name, value)) = line.split_at_checked(LENGTH.len())
                && name.eq_ignore_ascii_case(LENGTH)
            {
                n_body_bytes = number(value).context("an answer has no length")?;
            }
        }
        Ok(None)
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}
