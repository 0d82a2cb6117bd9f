//! A server that speaks HTTP/2 frame by frame, so that a test decides what is said and when.

use std::collections::VecDeque;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const ACK: u8 = 0x1;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

const MAX_CONCURRENT_STREAMS: u16 = 3;

pub(crate) const NO_ERROR: u32 = 0;
pub(crate) const INTERNAL_ERROR: u32 = 2;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 0xb;
pub(crate) const REFUSED_STREAM: u32 = 7;

pub(crate) struct FrameServer {
    listener: TcpListener,
    pub(crate) address: SocketAddr,
}

/// One connection of a client.
pub(crate) struct Peer {
    stream: TcpStream,
    /// Requests that have arrived and that the test has not asked for yet.
    requests: VecDeque<u32>,
    n_pings: u64,
}

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl FrameServer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next connection, which is told how many streams it may open.
    pub(crate) async fn accept(&self, n_streams: u32) -> Peer {
        let (stream, _) = self.listener.accept().await.unwrap();
        let mut peer = Peer { stream, requests: VecDeque::new(), n_pings: 0 };
        let mut preface = [0; PREFACE.len()];
        peer.stream.read_exact(&mut preface).await.unwrap();
        assert_eq!(preface, PREFACE);
        peer.permit(n_streams).await;
        // Room for the bodies of all requests that a test may send.
        peer.write(WINDOW_UPDATE, 0, 0, &0x7fff_0000_u32.to_be_bytes()).await;
        peer
    }
}

impl Peer {
    pub(crate) async fn permit(&mut self, n_streams: u32) {
        let mut setting = MAX_CONCURRENT_STREAMS.to_be_bytes().to_vec();
        setting.extend(n_streams.to_be_bytes());
        self.write(SETTINGS, 0, 0, &setting).await;
    }

    /// The stream of the next complete request.
    pub(crate) async fn request(&mut self) -> u32 {
        while self.requests.is_empty() {
            let frame = self.read().await.expect("the client closed the connection");
            self.note(&frame).await;
        }
        self.requests.pop_front().unwrap()
    }

    /// The streams of all requests that the client has sent before it answered a ping.
    pub(crate) async fn requests_so_far(&mut self) -> Vec<u32> {
        self.n_pings += 1;
        let ping = self.n_pings.to_be_bytes();
        self.write(PING, 0, 0, &ping).await;
        loop {
            let frame = self.read().await.expect("the client closed the connection");
            if frame.kind == PING && frame.flags & ACK != 0 && frame.payload == ping {
                return self.requests.drain(..).collect();
            }
            self.note(&frame).await;
        }
    }

    /// Answers without a body.
    pub(crate) async fn answer(&mut self, stream: u32, status: u16) {
        self.write(HEADERS, END_HEADERS | END_STREAM, stream, &status_header(status)).await;
    }

    pub(crate) async fn answer_with(&mut self, stream: u32, status: u16, body: &str) {
        self.write(HEADERS, END_HEADERS, stream, &status_header(status)).await;
        // In two pieces, as it may happen on a real network.
        let (start, end) = body.as_bytes().split_at(body.len() / 2);
        self.write(DATA, 0, stream, start).await;
        self.write(DATA, END_STREAM, stream, end).await;
    }

    pub(crate) async fn reset(&mut self, stream: u32, code: u32) {
        self.write(RST_STREAM, 0, stream, &code.to_be_bytes()).await;
    }

    pub(crate) async fn go_away(&mut self, last_stream: u32, code: u32) {
        let mut payload = last_stream.to_be_bytes().to_vec();
        payload.extend(code.to_be_bytes());
        self.write(GO_AWAY, 0, 0, &payload).await;
    }

    /// Waits until the client closes the connection.
    pub(crate) async fn closed(mut self) {
        while self.read().await.is_some() {}
    }

    async fn note(&mut self, frame: &Frame) {
        match frame.kind {
            HEADERS | DATA if frame.flags & END_STREAM != 0 => self.requests.push_back(frame.stream),
            SETTINGS if frame.flags & ACK == 0 => self.write(SETTINGS, ACK, 0, &[]).await,
            _ => {}
        }
    }

    async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.stream.write_all(&frame).await.unwrap();
    }

    /// `None` when the client has gone.
    async fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap()];
        self.stream.read_exact(&mut payload).await.ok()?;
        Some(Frame { kind, flags, stream: u32::from_be_bytes(stream), payload })
    }
}

/// `:status`, compressed as little as HPACK permits.
fn status_header(status: u16) -> Vec<u8> {
    const LITERAL_STATUS: u8 = 0x08;
    let digits = status.to_string();
    let mut header = vec![LITERAL_STATUS, u8::try_from(digits.len()).unwrap()];
    header.extend(digits.bytes());
    header
}
