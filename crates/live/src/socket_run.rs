//! The task of one WebSocket: reads what the device says, and writes what did not fit when it came.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use model::live::LiveSaid;
use tenancy::Rights;
use tokio::time::timeout;
use websocket::frame::{self, Frame};

use crate::hub::Hub;
use crate::line::Line;
use crate::message::PONG;
use crate::socket::Socket;
use crate::{End, Live};

/// What a device may send within a second.
const MOST_FRAMES: u32 = 10;
const SECOND: Duration = Duration::from_secs(1);
/// For the device to take the end of the connection, and to close it.
const GOODBYE: Duration = Duration::from_secs(5);

/// A WebSocket that is open.
pub struct Connection {
    live: Live,
    hub: Arc<Hub>,
    line: Arc<Line>,
}

/// How much a device has sent lately.
struct Pace {
    since: Instant,
    n_frames: u32,
}

impl Connection {
    pub(crate) fn new(live: Live, hub: Arc<Hub>, line: Arc<Line>) -> Self {
        Self { live, hub, line }
    }

    /// Serves the connection until it ends. `first` are bytes of the device that came with its request. The socket is closed when
    /// the connection is dropped.
    pub async fn run(&self, first: Bytes) {
        let Some(socket) = &self.line.socket else { return };
        let mut input = BytesMut::from(&first[..]);
        // It is a part of the buffer that the request was read into, and would keep all of that.
        drop(first);
        let end = self.serve(socket, &mut input).await;
        self.hub.remove(&self.line);
        // A device that has closed, or whose connection broke, is told nothing.
        if end != End::Left {
            drop(timeout(GOODBYE, say_goodbye(socket, end)).await);
        }
    }

    async fn serve(&self, socket: &Socket, input: &mut BytesMut) -> End {
        let mut pace = Pace { since: Instant::now(), n_frames: 0 };
        loop {
            if let Err(end) = self.take(socket, input, &mut pace).await {
                return end;
            }
            if let Some(end) = self.line.ended() {
                return end;
            }
            if socket.is_behind() {
                let refilled = socket.refill(&self.hub.backlog.read(), self.line.ordinal, self.live.0.clock.now());
                match refilled {
                    Ok(passed_over) => passed_over.into_iter().for_each(|at| self.hub.pass_over(self.line.ordinal, at)),
                    Err(end) => return end,
                }
            }
            self.line.offer_inbox(socket);
            tokio::select! {
                ready = socket.stream.readable() => {
                    if ready.and_then(|()| read_some(socket, input)).is_err() {
                        return End::Left;
                    }
                }
                ready = socket.stream.writable(), if socket.has_rest() => {
                    if ready.and_then(|()| socket.flush()).is_err() {
                        return End::Left;
                    }
                }
                () = self.line.wake.notified() => {}
            }
        }
    }

    /// Takes the frames that have arrived.
    async fn take(&self, socket: &Socket, input: &mut BytesMut, pace: &mut Pace) -> Result<(), End> {
        while let Some(frame) = Frame::read(input).map_err(|fault| End::Fault(fault.0))? {
            if !pace.admits() {
                return Err(End::TooMany);
            }
            match frame {
                Frame::Text(text) => self.hear(&text).await?,
                Frame::Ping(payload) if !socket.send(&frame::pong(&payload)) => return Err(End::TooSlow),
                Frame::Ping(_) | Frame::Pong => {}
                Frame::Close(code) => {
                    socket.send(&frame::close(code.unwrap_or(1000), ""));
                    // What fits is written; the device does not wait for more.
                    let _ = socket.flush();
                    return Err(End::Left);
                }
            }
        }
        if input.is_empty() {
            // An idle connection has no buffer.
            *input = BytesMut::new();
        }
        Ok(())
    }

    async fn hear(&self, text: &str) -> Result<(), End> {
        let said = LiveSaid::read(text).ok_or(End::Fault(1007))?;
        if said.is_empty() && !self.answer() {
            return Err(End::TooSlow);
        }
        if let Some(at) = said.ack {
            self.hub.acknowledge(self.line.ordinal, at, self.live.0.clock.now());
        }
        if let Some(token) = said.token {
            self.renew(&token).await?;
        }
        Ok(())
    }

    /// Shows the device that the connection works. Returns whether there was room for it.
    fn answer(&self) -> bool {
        self.line.socket.as_ref().is_some_and(|socket| socket.send(&frame::text(PONG)))
    }

    async fn renew(&self, token: &str) -> Result<(), End> {
        let known = self.live.0.tenancy.caller_by_token(token).await.ok().flatten();
        let own = known.filter(|(caller, _)| {
            caller.rights == Rights::Channel(self.line.channel) && caller.app().id == self.hub.app
        });
        let (caller, expires) = own.ok_or(End::Credentials)?;
        self.line.renew(caller, expires);
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.hub.remove(&self.line);
    }
}

impl Pace {
    fn admits(&mut self) -> bool {
        if self.since.elapsed() >= SECOND {
            *self = Self { since: Instant::now(), n_frames: 0 };
        }
        self.n_frames += 1;
        self.n_frames <= MOST_FRAMES
    }
}

/// Reads what has arrived.
fn read_some(socket: &Socket, input: &mut BytesMut) -> io::Result<()> {
    if socket.stream.read_some(input)? {
        socket.note_heard(Instant::now());
    }
    Ok(())
}

/// Writes the end, and waits for the device to close: a connection with unread bytes would be reset, and the end be lost with it.
async fn say_goodbye(socket: &Socket, end: End) -> io::Result<()> {
    socket.send_last(&end.frames());
    while socket.has_rest() {
        socket.stream.writable().await?;
        socket.flush()?;
    }
    let mut input = BytesMut::new();
    loop {
        socket.stream.readable().await?;
        read_some(socket, &mut input)?;
        if frame::is_over(&mut input) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn size<F: Future>(_: fn(&'static Connection, Bytes) -> F) -> usize {
        size_of::<F>()
    }

    /// What an idle connection takes is its task and its line. An opening needs more, and gives it back.
    #[test]
    fn an_idle_connection_is_small() {
        let (task, line) = (size(Connection::run), size_of::<Line>());
        assert!(task <= 1_200 && line <= 1_200, "{task} {line}");
    }
}
