//! Clients of live connections that cost next to nothing: the handshake as bytes, and frames of a server, which have no masks.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Handshakes at once.
const AT_ONCE: usize = 200;
/// Connections from one address. The first address gets half of all, and the next half of the rest.
const OF_ADDRESS: usize = 1_000;
const MOST_FILES: u64 = 1_000_000;
/// The longest: clients that answer no pings are closed after two.
const PING_SECONDS: u32 = 600;
const LONGEST_WAIT: Duration = Duration::from_secs(60);

pub(super) struct Device {
    pub(super) channel: String,
    pub(super) token: String,
}

pub(super) struct LiveSocket {
    stream: TcpStream,
    received: Vec<u8>,
    /// The position of the last message.
    pub(super) at: String,
}

/// The connection of the device that registered last, to which a message to all is written last. It is waited for with the whole
/// thread, which reads nothing else meanwhile.
pub(super) struct LastSocket(std::net::TcpStream);

/// Allows as many files as the system lets this process, and the server that it starts, have.
pub(super) fn raise_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let wished = Rlimit { current: Some(MOST_FILES), maximum: Some(MOST_FILES) };
    if setrlimit(Resource::Nofile, wished).is_err() {
        // Without the right to more, the hard limit is it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

pub(super) fn file_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Opens the connections with these numbers, of all devices in turn.
pub(super) async fn open_all(
    server: SocketAddr,
    devices: &[Device],
    numbers: Range<usize>,
    after: Option<&str>,
) -> Result<Vec<LiveSocket>> {
    let all = numbers.map(|n| LiveSocket::open(server, &devices[n % devices.len()], n, after));
    stream::iter(all).buffered(AT_ONCE).try_collect().await
}

impl LiveSocket {
    /// `n` decides the address that it comes from.
    pub(super) async fn open(server: SocketAddr, device: &Device, n: usize, after: Option<&str>) -> Result<Self> {
        let socket = TcpSocket::new_v4()?;
        let host = u8::try_from(1 + n / OF_ADDRESS).context("there are more connections than addresses")?;
        socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 1, host), 0)))?;
        let mut stream = socket.connect(server).await.context("the server does not answer")?;
        let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
        let request = format!(
            "GET /live?ping={PING_SECONDS}{after} HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Authorization: Bearer {}\r\n\r\n",
            device.token
        );
        stream.write_all(request.as_bytes()).await?;
        let mut opened = Self { stream, received: Vec::new(), at: String::new() };
        let n_head = loop {
            if let Some(end) = opened.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            opened.more().await?;
        };
        ensure!(opened.received.starts_with(b"HTTP/1.1 101"), "The server does not upgrade the connection.");
        opened.received.drain(..n_head);
        opened.message().await?;
        Ok(opened)
    }

    /// Waits for the next message, and tells how large its frame is. Pings are passed over.
    pub(super) async fn message(&mut self) -> Result<usize> {
        loop {
            let Some((opcode, start, end)) = frame(&self.received) else {
                self.more().await?;
                continue;
            };
            let text = String::from_utf8_lossy(&self.received[start..end]).into_owned();
            self.received.drain(..end);
            if self.received.is_empty() {
                self.received = Vec::new();
            }
            // A ping may bring the position, which is no message.
            if opcode == 0x1 && !text.starts_with(r#"{"type":"at""#) {
                let at = text.split_once(r#""at":""#).and_then(|(_, rest)| rest.split_once('"'));
                self.at = at.with_context(|| format!("a message without a position: {text}"))?.0.to_owned();
                return Ok(end);
            }
            ensure!(opcode != 0x8, "The server closed a connection: {text}");
        }
    }

    async fn more(&mut self) -> Result<()> {
        self.received.reserve(1024);
        ensure!(self.stream.read_buf(&mut self.received).await? > 0, "The server hung up.");
        Ok(())
    }
}

impl LastSocket {
    pub(super) async fn open(server: SocketAddr, device: &Device) -> Result<Self> {
        let stream = LiveSocket::open(server, device, 0, None).await?.stream.into_std()?;
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LONGEST_WAIT))?;
        Ok(Self(stream))
    }

    /// Waits for the next message, which one read takes whole.
    pub(super) fn message(&mut self) -> Result<()> {
        let mut bytes = [0; 4096];
        let n_read = self.0.read(&mut bytes).context("The last device got no message.")?;
        ensure!(n_read > 0, "The server hung up.");
        Ok(())
    }
}

/// The opcode of the first frame, and where its payload begins and ends; `None` while it is incomplete.
fn frame(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let (start, length) = match bytes.get(1)? {
        126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?),
        length => (2, usize::from(*length)),
    };
    (bytes.len() >= start + length).then_some((bytes[0] & 0x0F, start, start + length))
}
