//! The events of one webhook that have been read and are not all delivered yet. Events of a channel go out one after the other,
//! in their order; those of different channels do not wait for each other, and those about no channel are in order among themselves.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use model::event::EventOffset;
use model::ids::Ordinal;
use model::time::UtcMillis;
use store::webhooks::DeadLetter;

use super::breaker::{Breaker, back_off};
use super::progress::{Progress, Remembered, Trouble};
use crate::PublicEvent;

/// How many events may lie between the first that is not delivered and the last that is.
pub(super) const WIDTH: usize = 4096;
/// So many are read at once.
const PAGE: usize = 1000;
/// More are read when no more than so many can be sent.
const FEW: usize = 250;
/// A webhook that takes nothing at all has so many times as long as a single event before events are given up.
const PATIENCE: u32 = 7;

#[derive(Debug)]
pub(super) struct Window {
    /// How far the log has been read.
    read: EventOffset,
    /// The number of the first slot. Slots are numbered one after the other.
    first: u64,
    slots: VecDeque<Slot>,
    /// The last slot of every channel that has any.
    tails: HashMap<Option<Ordinal>, u64>,
    ready: VecDeque<u64>,
    /// Those that failed, by when they are tried again.
    waiting: BTreeSet<(UtcMillis, u64)>,
    n_flying: usize,
    /// The one that is under way while the webhook is considered away.
    probe: Option<u64>,
    /// Raised whenever an event is taken.
    n_taken: u64,
    breaker: Breaker,
    remembered: Remembered,
    /// What the last failure was.
    reason: Option<String>,
}

#[derive(Debug)]
struct Slot {
    event: PublicEvent,
    /// The next of the same channel.
    next: Option<u64>,
    is_done: bool,
    trouble: Option<Trouble>,
    /// How many events had been taken when it failed last.
    failed_at: Option<u64>,
}

/// An event to send.
pub(super) struct Parcel {
    pub(super) number: u64,
    pub(super) json: Bytes,
}

/// Who was sent, for the history.
pub(super) struct Sent {
    pub(super) event: PublicEvent,
    pub(super) attempt: u32,
}

impl Window {
    pub(super) fn new(done: EventOffset, progress: &Progress, reason: Option<String>) -> Self {
        Self {
            read: done,
            first: 0,
            slots: VecDeque::new(),
            tails: HashMap::new(),
            ready: VecDeque::new(),
            waiting: BTreeSet::new(),
            n_flying: 0,
            probe: None,
            n_taken: 0,
            breaker: progress.breaker.clone(),
            remembered: progress.remembered(done),
            reason,
        }
    }

    /// Everything up to here is delivered.
    pub(super) fn done(&self) -> EventOffset {
        let before = |slot: &Slot| EventOffset::from_number(slot.event.offset.number() - 1);
        self.slots.front().map_or(self.read, before)
    }

    pub(super) fn read(&self) -> EventOffset {
        self.read
    }

    /// How many events to read next; 0 while there is enough to do.
    pub(super) fn wanted(&self) -> usize {
        let is_away = self.breaker.open_until().is_some() && !self.slots.is_empty();
        if is_away || self.ready.len() > FEW { 0 } else { PAGE.min(WIDTH - self.slots.len().min(WIDTH)) }
    }

    pub(super) fn is_full(&self) -> bool {
        self.slots.len() >= WIDTH
    }

    pub(super) fn take_in(&mut self, events: Vec<PublicEvent>, looked: EventOffset) {
        for event in events {
            self.add(event);
        }
        self.read = looked;
        self.shrink();
    }

    fn add(&mut self, event: PublicEvent) {
        let number = self.first + self.slots.len() as u64;
        let is_done = self.remembered.ahead.remove(&event.offset);
        let trouble = self.remembered.troubles.remove(&event.offset);
        let channel = event.ordinal;
        self.slots.push_back(Slot { event, next: None, is_done, trouble, failed_at: None });
        if is_done {
            return;
        }
        match self.tails.insert(channel, number) {
            Some(tail) => self.slot(tail).next = Some(number),
            None => self.release(number),
        }
    }

    /// Lets the first event of a channel go.
    fn release(&mut self, number: u64) {
        match self.slot(number).trouble {
            Some(trouble) => drop(self.waiting.insert((trouble.retry_at, number))),
            None => self.ready.push_back(number),
        }
    }

    /// The next event to send, if there is one for now.
    pub(super) fn next(&mut self, now: UtcMillis) -> Option<Parcel> {
        let number = match self.breaker.open_until() {
            Some(until) if until > now || self.n_flying > 0 => return None,
            Some(_) => {
                // Those that were never tried first, so that one bad event cannot speak for the webhook.
                let number = self.ready.pop_front().or_else(|| self.waiting.pop_first().map(|(_, number)| number))?;
                self.probe = Some(number);
                number
            }
            None if self.waiting.first().is_some_and(|(retry_at, _)| *retry_at <= now) => self.waiting.pop_first()?.1,
            None => self.ready.pop_front()?,
        };
        self.n_flying += 1;
        Some(Parcel { number, json: self.slot(number).event.json.clone() })
    }

    /// When there is something to send next, provided that nothing is now.
    pub(super) fn next_due(&self) -> Option<UtcMillis> {
        let first_waiting = self.waiting.first().map(|(retry_at, _)| *retry_at);
        self.breaker.open_until().filter(|_| !self.slots.is_empty()).or(first_waiting)
    }

    pub(super) fn is_away(&self) -> bool {
        self.breaker.open_until().is_some()
    }

    pub(super) fn is_flying(&self) -> bool {
        self.n_flying > 0
    }

    /// An event was taken.
    pub(super) fn taken(&mut self, number: u64, now: UtcMillis) -> Sent {
        self.landed(number);
        self.n_taken += 1;
        if self.breaker.taken(now) {
            self.come_back(now);
        }
        self.finish(number)
    }

    /// An event was not taken. Answers what to keep of it if that went on for too long.
    pub(super) fn failed(
        &mut self,
        number: u64,
        reason: &str,
        after: Option<Duration>,
        limit: Duration,
        now: UtcMillis,
    ) -> (Sent, Option<DeadLetter>) {
        let is_probe = self.landed(number);
        let n_taken = self.n_taken;
        let slot = self.slot(number);
        let is_first = slot.failed_at.replace(n_taken) != Some(n_taken);
        let (since, attempts) = slot.trouble.map_or((now, 1), |before| (before.since, before.attempts + 1));
        let event = slot.event.clone();
        let pause = back_off(attempts, event.id).max(after.unwrap_or_default());
        let trouble = Trouble { since, attempts, retry_at: now.plus(pause) };
        slot.trouble = Some(trouble);
        self.breaker.failed(event.id, is_first, is_probe, now);
        self.reason = Some(reason.to_owned());
        let sent = Sent { event: event.clone(), attempt: attempts };
        if !self.is_too_long(&trouble, limit, now) {
            self.waiting.insert((trouble.retry_at, number));
            return (sent, None);
        }
        self.finish(number);
        let letter = DeadLetter {
            offset: event.offset,
            event: event.id,
            kind: event.kind,
            at: now,
            attempts,
            reason: reason.to_owned(),
            body: event.json.to_vec(),
        };
        (sent, Some(letter))
    }

    /// As long as a webhook takes nothing at all, it is not the event's fault.
    fn is_too_long(&self, trouble: &Trouble, limit: Duration, now: UtcMillis) -> bool {
        let others_are_taken = self.breaker.last_taken.is_some_and(|taken| taken > trouble.since);
        let limit = if others_are_taken { limit } else { limit.saturating_mul(PATIENCE) };
        now >= trouble.since.plus(limit)
    }

    /// After the webhook was away, everybody gets a fair chance.
    fn come_back(&mut self, now: UtcMillis) {
        for (_, number) in std::mem::take(&mut self.waiting) {
            if let Some(trouble) = &mut self.slot(number).trouble {
                *trouble = Trouble { since: now, retry_at: now, ..*trouble };
            }
            self.waiting.insert((now, number));
        }
    }

    /// Whether it was the probe.
    fn landed(&mut self, number: u64) -> bool {
        self.n_flying -= 1;
        self.probe.take_if(|probe| *probe == number).is_some()
    }

    fn finish(&mut self, number: u64) -> Sent {
        let slot = self.slot(number);
        slot.is_done = true;
        let (next, channel) = (slot.next, slot.event.ordinal);
        let attempt = slot.trouble.take().map_or(1, |trouble| trouble.attempts + 1);
        // What is behind a channel that is stuck must not keep the events of others in memory.
        let sent = Sent { event: slot.event.clone(), attempt };
        slot.event.json = Bytes::new();
        match next {
            Some(next) => self.release(next),
            None => drop(self.tails.remove(&channel)),
        }
        self.shrink();
        sent
    }

    fn shrink(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.is_done) {
            self.slots.pop_front();
            self.first += 1;
        }
        if self.waiting.is_empty() && self.slots.is_empty() {
            self.reason = None;
        }
    }

    /// Since when, and why, not everything is taken.
    pub(super) fn failing(&self) -> Option<(UtcMillis, String)> {
        let since = self.waiting.iter().filter_map(|(_, number)| self.at(*number).trouble).map(|t| t.since).min()?;
        Some((since, self.reason.clone().unwrap_or_default()))
    }

    pub(super) fn progress(&self) -> Progress {
        let ahead = self.slots.iter().filter(|slot| slot.is_done).map(|slot| slot.event.offset);
        let troubles = self.slots.iter().filter_map(|slot| Some((slot.event.offset, slot.trouble?)));
        // What was remembered and has not been read again yet is still true.
        let (more_ahead, more_troubles) = self.remembered.after(self.read);
        let (ahead, troubles) = (ahead.chain(more_ahead), troubles.chain(more_troubles));
        Progress::new(self.done(), ahead, troubles, self.breaker.clone())
    }

    fn at(&self, number: u64) -> &Slot {
        &self.slots[usize::try_from(number - self.first).unwrap_or(usize::MAX)]
    }

    fn slot(&mut self, number: u64) -> &mut Slot {
        &mut self.slots[usize::try_from(number - self.first).unwrap_or(usize::MAX)]
    }
}

#[cfg(test)]
mod tests;
