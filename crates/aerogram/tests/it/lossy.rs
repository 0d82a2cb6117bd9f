//! A way to the server on which answers to posts get lost: the server has done what it was asked, and nobody hears of it.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;

const POST: &[u8] = b"POST /api/";
const NOBODY_KNOWS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 7\r\n\r\nnobody!";

pub(crate) struct Lossy {
    pub(crate) url: String,
    /// How the next answers get lost.
    losses: Arc<Mutex<VecDeque<Loss>>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Loss {
    /// The connection breaks.
    Broken,
    /// It says 503 instead, as a server does whose database has gone away meanwhile.
    Unknown,
}

impl Lossy {
    pub(crate) fn to(server: &str) -> Self {
        let server = server.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let losses = Arc::new(Mutex::new(VecDeque::new()));
        let shared = losses.clone();
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let (near, far) = (near.unwrap(), TcpStream::connect(&server).unwrap());
                let losses = shared.clone();
                std::thread::spawn(move || pass(near, far, &losses));
            }
        });
        Self { url, losses }
    }

    pub(crate) fn lose(&self, next: &[Loss]) {
        self.losses.lock().extend(next);
    }

    pub(crate) fn has_lost_all(&self) -> bool {
        self.losses.lock().is_empty()
    }
}

/// Passes requests and answers in turn, as a client without pipelining sends them, until an answer is lost or one side is gone.
fn pass(mut near: TcpStream, mut far: TcpStream, losses: &Mutex<VecDeque<Loss>>) {
    let (mut from_near, mut from_far) = (Vec::new(), Vec::new());
    while let Some(request) = read_message(&mut near, &mut from_near) {
        far.write_all(&request).unwrap();
        let Some(answer) = read_message(&mut far, &mut from_far) else { break };
        let loss = if request.starts_with(POST) { losses.lock().pop_front() } else { None };
        match loss {
            Some(Loss::Broken) => break,
            Some(Loss::Unknown) => near.write_all(NOBODY_KNOWS).unwrap(),
            None => near.write_all(&answer).unwrap(),
        }
    }
    drop(near.shutdown(Shutdown::Both));
}

/// One request or answer; what came after it stays for the next. `None` at the end.
fn read_message(from: &mut TcpStream, read: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut some = [0; 1 << 16];
    loop {
        let head = read.windows(4).position(|end| end == b"\r\n\r\n").map(|place| place + 4);
        if let Some(length) = head.map(|head| head + body_length(&read[..head])).filter(|length| *length <= read.len())
        {
            return Some(read.drain(..length).collect());
        }
        match from.read(&mut some) {
            Ok(n_bytes @ 1..) => read.extend_from_slice(&some[..n_bytes]),
            Ok(0) | Err(_) => return None,
        }
    }
}

fn body_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_lowercase();
    head.lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |length| length.trim().parse().unwrap())
}
