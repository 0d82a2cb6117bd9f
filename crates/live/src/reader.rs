//! A connection of a form that cannot be written to from outside: server-sent events, or a long poll.

use std::sync::Arc;

use model::ids::Offset;

use crate::hub::Hub;
use crate::line::Line;
use crate::message::{InboxNews, Told};
use crate::{End, Live};

/// Messages handed over at once.
const AT_ONCE: usize = 16;

pub struct Reader {
    live: Live,
    hub: Arc<Hub>,
    line: Arc<Line>,
    missed: Vec<Told>,
    /// The messages up to here are read.
    at: Offset,
    /// The position that the device was last told.
    told: Offset,
}

impl Reader {
    /// Goes on after the missed messages, with those after an offset. `told` is the position that the device begins with.
    pub(crate) fn new(
        live: Live,
        hub: Arc<Hub>,
        line: Arc<Line>,
        missed: Vec<Told>,
        (told, at): (Offset, Offset),
    ) -> Self {
        Self { live, hub, line, missed, at, told }
    }

    /// The next messages, waited for. `Err` when the connection ends.
    pub async fn next(&mut self) -> Result<Vec<Told>, End> {
        let told = self.wait().await?;
        self.told = told.last().map_or(self.told, Told::at);
        Ok(told)
    }

    /// How far the device has everything that is for it; `None` while there is something to tell it.
    pub fn position(&mut self) -> Result<Option<Offset>, End> {
        // Before anything is looked at that may come meanwhile.
        let settled = self.hub.inboxes.lock().settled();
        if self.missed.is_empty() {
            self.missed = self.look()?;
        }
        let has_all = self.missed.is_empty() && !self.line.has_inbox();
        let Some(settled) = settled.filter(|_| has_all) else { return Ok(None) };
        self.told = settled.min(self.at).max(self.told);
        Ok(Some(self.told))
    }

    async fn wait(&mut self) -> Result<Vec<Told>, End> {
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
            if let Some(news) = self.line.take_inbox() {
                let at = news.at.min(self.at).max(self.told);
                return Ok(vec![Told::Inbox(InboxNews { at, ..news })]);
            }
            self.line.wake.notified().await;
        }
    }

    fn look(&mut self) -> Result<Vec<Told>, End> {
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
            if message.is_expired(now) {
                self.hub.pass_over(self.line.ordinal, message.at);
            } else {
                found.push(Told::Push(message.clone()));
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
