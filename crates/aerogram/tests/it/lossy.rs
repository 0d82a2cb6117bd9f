//! A way to the server on which answers to posts get lost: the server has done what it was asked, and nobody hears of it.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::Mutex;

const POST: &[u8] = b"POST /api/";
const NOBODY_KNOWS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 7\r\n\r\nnobody!";
/// Only keeps a test from hanging.
const DEADLINE: Duration = Duration::from_secs(120);

pub(crate) struct Lossy {
    pub(crate) url: String,
    /// How the next answers get lost.
    losses: Arc<Mutex<VecDeque<Loss>>>,
    /// One for each post that the server has answered, lost or not.
    answered: mpsc::Receiver<()>,
}

#[derive(Clone, Copy)]
pub(crate) enum Loss {
    /// It arrives.
    Nothing,
    /// The connection breaks.
    Broken,
    /// It says 503 instead, as a server does whose database has gone away meanwhile.
    Unknown,
    /// It is waited for in vain.
    Stalled,
}

impl Lossy {
    pub(crate) fn to(server: &str) -> Self {
        let server = server.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let losses = Arc::new(Mutex::new(VecDeque::new()));
        let (answers, answered) = mpsc::channel();
        let shared = losses.clone();
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let (near, far) = (near.unwrap(), TcpStream::connect(&server).unwrap());
                let (losses, answers) = (shared.clone(), answers.clone());
                std::thread::spawn(move || pass(near, far, &losses, &answers));
            }
        });
        Self { url, losses, answered }
    }

    pub(crate) fn lose(&self, next: &[Loss]) {
        self.losses.lock().extend(next);
    }

    pub(crate) fn has_lost_all(&self) -> bool {
        self.losses.lock().is_empty()
    }

    /// Waits until the server has answered so many more posts.
    pub(crate) fn wait_for_posts(&self, n_posts: usize) {
        for n_answered in 0..n_posts {
            let answered = self.answered.recv_timeout(DEADLINE);
            assert!(answered.is_ok(), "{n_answered} posts instead of {n_posts} were answered");
        }
    }
}

/// Passes requests and answers in turn, as a client without pipelining sends them, until a connection breaks or one side is gone.
fn pass(mut near: TcpStream, mut far: TcpStream, losses: &Mutex<VecDeque<Loss>>, answers: &mpsc::Sender<()>) {
    let (mut from_near, mut from_far) = (Vec::new(), Vec::new());
    while let Some(request) = read_message(&mut near, &mut from_near) {
        far.write_all(&request).unwrap();
        let Some(answer) = read_message(&mut far, &mut from_far) else { break };
        let mut loss = None;
        if request.starts_with(POST) {
            loss = losses.lock().pop_front();
            // The test may have ended.
            _ = answers.send(());
        }
        let passed = match loss {
            Some(Loss::Broken) => break,
            Some(Loss::Unknown) => near.write_all(NOBODY_KNOWS),
            Some(Loss::Stalled) => Ok(()),
            Some(Loss::Nothing) | None => near.write_all(&answer),
        };
        // The client may have been killed.
        if passed.is_err() {
            break;
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
