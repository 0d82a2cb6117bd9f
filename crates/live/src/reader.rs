//! A connection of a form that cannot be written to from outside: server-sent events, or a long poll.

use std::sync::Arc;

use model::ids::Offset;

use crate::hub::Hub;
use crate::line::Line;
use crate::message::Message;
use crate::{End, Live};

/// Messages handed over at once.
const AT_ONCE: usize = 16;

pub struct Reader {
    live: Live,
    hub: Arc<Hub>,
    line: Arc<Line>,
    missed: Vec<Message>,
    at: Offset,
}

impl Reader {
    pub(crate) fn new(live: Live, hub: Arc<Hub>, line: Arc<Line>, missed: Vec<Message>, at: Offset) -> Self {
        Self { live, hub, line, missed, at }
    }

    /// The next messages, waited for. `Err` when the connection ends.
    pub async fn next(&mut self) -> Result<Vec<Message>, End> {
        loop {
            if let Some(end) = self.line.ended() {
                return Err(end);
            }
            if !self.missed.is_empty() {
                return Ok(std::mem::take(&mut self.missed));
            }
            let found = self.look()?;
            if !found.is_empty() {
                return Ok(found);
            }
            self.line.wake.notified().await;
        }
    }

    fn look(&mut self) -> Result<Vec<Message>, End> {
        let now = self.live.0.clock.now();
        let backlog = self.hub.backlog.read();
        if self.at < backlog.floor() {
            // Some of its messages may be forgotten: a client that comes back is told them from the log.
            return Err(End::TooSlow);
        }
        let mut found = Vec::new();
        for message in backlog.to(self.line.ordinal, self.at) {
            if found.len() >= AT_ONCE {
                return Ok(found);
            }
            self.at = message.at;
            if !message.is_expired(now) {
                found.push(message.clone());
            }
        }
        self.at = self.at.max(backlog.seen());
        Ok(found)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.hub.remove(&self.line);
    }
}
