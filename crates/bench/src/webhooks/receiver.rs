//! A webhook that costs next to nothing, on a thread of its own: it counts events and takes every one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use anyhow::{Context, Result};
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const CHUNK: usize = 16 * 1024;
/// The waiting task is notified once per this many events.
const TELL_EVERY: u64 = 100;

pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// The thread ends when this sender is dropped.
    _running: oneshot::Sender<()>,
}

struct Shared {
    n_events: AtomicU64,
    n_body_bytes: AtomicU64,
    told: watch::Sender<u64>,
}

impl Receiver {
    pub(crate) fn start() -> Result<Self> {
        let shared =
            Shared { n_events: AtomicU64::new(0), n_body_bytes: AtomicU64::new(0), told: watch::Sender::new(0) };
        let shared = Arc::new(shared);
        let (ready, started) = mpsc::channel();
        let (running, ended) = oneshot::channel();
        let serving = shared.clone();
        std::thread::spawn(move || -> Result<()> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                ready.send(listener.local_addr()?)?;
                tokio::select! {
                    accepted = accept(listener, serving) => accepted,
                    _ = ended => Ok(()),
                }
            })
        });
        let address = started.recv().context("the receiver has not started")?;
        Ok(Self { address, shared, _running: running })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/events", self.address)
    }

    pub(crate) async fn wait_for(&self, n_events: u64) -> Result<()> {
        // The last few events are not notified, so this waits until the count is close and then polls.
        let mut told = self.shared.told.subscribe();
        told.wait_for(|told| *told + TELL_EVERY > n_events).await.context("the receiver is gone")?;
        while self.shared.n_events.load(Ordering::Relaxed) < n_events {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    pub(crate) fn mean_body_bytes(&self) -> usize {
        let n_events = self.shared.n_events.load(Ordering::Relaxed).max(1);
        usize::try_from(self.shared.n_body_bytes.load(Ordering::Relaxed) / n_events).unwrap_or(0)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) -> Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let shared = shared.clone();
        // A sender that hangs up is done.
        tokio::spawn(async move { drop(shared.serve(stream).await) });
    }
}

impl Shared {
    async fn serve(&self, mut stream: TcpStream) -> Result<()> {
        let mut received = Vec::with_capacity(CHUNK);
        loop {
            let (head, length) = loop {
                if let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                    break (end + 4, content_length(&received[..end])?);
                }
                more(&mut stream, &mut received).await?;
            };
            while received.len() < head + length {
                more(&mut stream, &mut received).await?;
            }
            let n_more = n_events(&received[head..head + length])?;
            received.drain(..head + length);
            stream.write_all(ANSWER).await?;
            self.n_body_bytes.fetch_add(length as u64, Ordering::Relaxed);
            let before = self.n_events.fetch_add(n_more, Ordering::Relaxed);
            if before / TELL_EVERY != (before + n_more) / TELL_EVERY {
                self.told.send_replace(before + n_more);
            }
        }
    }
}

/// A batch is an array.
fn n_events(body: &[u8]) -> Result<u64> {
    Ok(match body.first() {
        Some(b'[') => serde_json::from_slice::<Vec<&RawValue>>(body)?.len() as u64,
        Some(_) | None => 1,
    })
}

async fn more(stream: &mut TcpStream, received: &mut Vec<u8>) -> Result<()> {
    received.reserve(CHUNK);
    anyhow::ensure!(stream.read_buf(received).await? > 0, "the sender hung up");
    Ok(())
}

fn content_length(head: &[u8]) -> Result<usize> {
    let head = std::str::from_utf8(head).context("the head of a request is not text")?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    length.context("a request has no Content-Length")
}
