//! The socket of a WebSocket, written to by whoever has something for it, and never waited for: what it does not take at once
//! stays in a small rest, and what does not fit there is read from the backlog when it is writable again.

use std::io;
use std::time::{Duration, Instant};

use model::ids::{Offset, Ordinal};
use model::time::UtcMillis;
use parking_lot::Mutex;
use websocket::frame;

use crate::End;
use crate::backlog::Backlog;
use crate::message::{self, InboxNews};
use crate::stream::Stream;

/// The most that waits for a socket to be writable, apart from one message and from what is sent at the beginning.
const MOST_REST: usize = 16 * 1024;
/// A socket that takes nothing for so long is closed.
pub(crate) const STALLED: Duration = Duration::from_secs(30);

pub(crate) struct Socket {
    pub(crate) stream: Stream,
    /// Between two pings.
    ping: Duration,
    out: Mutex<Out>,
}

struct Out {
    /// What the socket did not take so far.
    rest: Vec<u8>,
    /// The last message that was written or is in the rest, or where the device began or was told to be since.
    at: Offset,
    /// Whether it gets messages as they come; otherwise they are read from the backlog.
    is_current: bool,
    /// Since when it takes nothing.
    stalled: Option<Instant>,
    pinged: Instant,
    heard: Instant,
}

impl Socket {
    /// Begins with some frames, and goes on with the messages after an offset.
    pub(crate) fn new(stream: Stream, first: Vec<u8>, at: Offset, ping: Duration) -> Self {
        let now = Instant::now();
        let out = Out { rest: first, at, is_current: false, stalled: Some(now), pinged: now, heard: now };
        Self { stream, ping, out: Mutex::new(out) }
    }

    /// Takes a new message. Returns whether nothing is left to do for it.
    pub(crate) fn offer(&self, at: Offset, frame: &[u8]) -> bool {
        let mut out = self.out.lock();
        if at <= out.at {
            return true;
        }
        if !out.is_current {
            return false;
        }
        if out.rest.is_empty() {
            out.at = at;
            let n_written = self.stream.try_write(frame).unwrap_or(0);
            if n_written == frame.len() && !self.stream.has_unsent() {
                return true;
            }
            out.rest.extend_from_slice(&frame[n_written..]);
            out.stalled = Some(Instant::now());
        } else if out.rest.len() + frame.len() <= MOST_REST {
            out.at = at;
            out.rest.extend_from_slice(frame);
        } else {
            // Everything before this message is written or in the rest.
            out.at = Offset(at.0 - 1);
            out.is_current = false;
        }
        false
    }

    /// Takes how the inbox is, once all messages up to there are taken. Returns whether there was room for it.
    pub(crate) fn offer_inbox(&self, news: InboxNews) -> bool {
        let mut out = self.out.lock();
        if !out.is_current || out.rest.len() > MOST_REST {
            return false;
        }
        out.at = out.at.max(news.at);
        let frame = frame::text(&InboxNews { at: out.at, ..news }.json());
        out.append(&frame);
        true
    }

    /// Adds frames that are about the connection itself. Returns whether there was room for them.
    pub(crate) fn send(&self, frames: &[u8]) -> bool {
        let mut out = self.out.lock();
        let has_room = out.rest.len() <= MOST_REST;
        if has_room {
            out.append(frames);
        }
        has_room
    }

    /// Adds the end of the connection, for which there is always room: nothing comes after it.
    pub(crate) fn send_last(&self, frames: &[u8]) {
        self.out.lock().append(frames);
    }

    /// Reads messages that did not fit from the backlog, once the rest is written. Returns those that have expired instead. `Err`
    /// if some of them are no longer there.
    pub(crate) fn refill(&self, backlog: &Backlog, ordinal: Ordinal, now: UtcMillis) -> Result<Vec<Offset>, End> {
        let (mut out, mut passed_over) = (self.out.lock(), Vec::new());
        if out.is_current || !out.rest.is_empty() {
            return Ok(passed_over);
        }
        if out.at < backlog.floor() {
            return Err(End::TooSlow);
        }
        for message in backlog.to(ordinal, out.at) {
            if out.rest.len() >= MOST_REST {
                return Ok(passed_over);
            }
            out.at = message.at;
            if message.is_expired(now) {
                passed_over.push(message.at);
            } else {
                out.append(&frame::text(&message.json()));
            }
        }
        out.is_current = true;
        Ok(passed_over)
    }

    pub(crate) fn has_rest(&self) -> bool {
        !self.out.lock().rest.is_empty() || self.stream.has_unsent()
    }

    pub(crate) fn is_behind(&self) -> bool {
        !self.out.lock().is_current
    }

    /// Writes as much of the rest as the socket takes.
    pub(crate) fn flush(&self) -> io::Result<()> {
        let mut out = self.out.lock();
        while !out.rest.is_empty() {
            match self.stream.try_write(&out.rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n_written) => {
                    out.rest.drain(..n_written);
                    out.stalled = Some(Instant::now());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        // An idle connection has no buffer.
        out.rest = Vec::new();
        self.stream.send_unsent()?;
        if !self.stream.has_unsent() {
            out.stalled = None;
        }
        Ok(())
    }

    pub(crate) fn note_heard(&self, now: Instant) {
        self.out.lock().heard = now;
    }

    /// Pings the device if it is time to, and tells whether it has been silent, or has taken nothing, for too long. With a ping, a
    /// device for which nothing came is told that it has everything up to the settled position.
    pub(crate) fn check(&self, now: Instant, settled: Option<Offset>) -> Result<(), End> {
        let mut out = self.out.lock();
        let is_silent = now.saturating_duration_since(out.heard) > self.ping * 2 + STALLED;
        let is_stalled = out.stalled.is_some_and(|since| now.saturating_duration_since(since) > STALLED);
        if is_silent || is_stalled {
            return Err(End::TooSlow);
        }
        if now.saturating_duration_since(out.pinged) >= self.ping && out.rest.is_empty() {
            out.pinged = now;
            let mut frames = Vec::new();
            // What comes is offered to a socket that is current, so that it has taken everything that was handed out.
            if let Some(at) = settled.filter(|at| out.is_current && *at > out.at) {
                out.at = at;
                frames = frame::text(&message::position(at));
            }
            frames.extend(frame::ping());
            let n_written = self.stream.try_write(&frames).unwrap_or(0);
            if n_written < frames.len() || self.stream.has_unsent() {
                out.rest.extend_from_slice(&frames[n_written..]);
                out.stalled = Some(now);
            }
        }
        Ok(())
    }
}

impl Out {
    fn append(&mut self, frames: &[u8]) {
        self.stalled.get_or_insert_with(Instant::now);
        self.rest.extend_from_slice(frames);
    }
}

#[cfg(test)]
mod tests {
    use model::ids::PushId;
    use roaring::RoaringBitmap;
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::message::Message;

    const N_MESSAGES: i64 = 5_000;

    /// A socket that is not read keeps a small rest, and gets everything in order once it is.
    #[tokio::test]
    async fn what_does_not_fit_is_read_from_the_backlog() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
        let (mut client, (stream, _)) = (client.unwrap(), accepted.unwrap());
        let socket = Socket::new(stream.into(), Vec::new(), Offset(0), Duration::from_secs(60));
        let (mut backlog, to) = (Backlog::after(Offset(0)), RoaringBitmap::from([7]));
        socket.stream.writable().await.unwrap();
        socket.refill(&backlog, Ordinal(7), UtcMillis(0)).unwrap();
        let (content, mut sent) = (format!("\"{}\"", "x".repeat(2_000)), Vec::new());
        for at in 1..=N_MESSAGES {
            let message = Message {
                at: Offset(at),
                occurred: UtcMillis(0),
                push: PushId::random(),
                expires: None,
                content: content.as_str().into(),
            };
            backlog.add(&message, &to);
            let frame = frame::text(&message.json());
            socket.offer(message.at, &frame);
            sent.extend(frame);
            assert!(socket.out.lock().rest.len() <= MOST_REST + 4096);
        }
        assert!(socket.is_behind(), "buffers hold less than ten megabytes");
        let mut received = vec![0; sent.len()];
        let reading = async { client.read_exact(&mut received).await.unwrap() };
        let writing = async {
            while socket.has_rest() || socket.is_behind() {
                socket.stream.writable().await.unwrap();
                socket.flush().unwrap();
                socket.refill(&backlog, Ordinal(7), UtcMillis(0)).unwrap();
            }
        };
        tokio::join!(reading, writing);
        assert!(received == sent, "in order, and each once");
        assert!(socket.offer(Offset(N_MESSAGES), b"again"), "what was written is not written again");
        backlog.forget_before(UtcMillis(1));
        socket.out.lock().is_current = false;
        assert_eq!(socket.refill(&backlog, Ordinal(7), UtcMillis(0)), Ok(Vec::new()), "nothing is missing");
        (socket.out.lock().is_current, socket.out.lock().at) = (false, Offset(1));
        assert_eq!(socket.refill(&backlog, Ordinal(7), UtcMillis(0)), Err(End::TooSlow), "its messages are forgotten");
    }
}
