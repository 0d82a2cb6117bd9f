//! The events of one webhook that have been read and are not delivered yet. Events of a channel go out one after the other, or in
//! one request in their order; events of different channels do not wait for each other, and events about no channel are in order
//! among themselves.

mod batch;
mod held;
mod held_event;
mod room;
mod stranded;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use model::event::{EventOffset, RecordKind};
use model::ids::{EventId, Ordinal};
use model::time::UtcMillis;
use store::webhooks::DeadLetter;

use super::breaker::{Breaker, Failure, back_off};
use super::cursor::{Remembered, Trouble, WebhookCursor};
use crate::PublicEvent;
pub(super) use batch::Batch;
use held::HeldEvents;
use held_event::HeldEvent;

/// How many events may be read and not delivered, and their size.
const WIDTH: usize = 4096;
const MOST_BYTES: usize = 16 << 20;
/// This many are read at once, and no fewer are worth a read.
const PAGE: usize = 1000;
const LEAST_PAGE: usize = 256;
/// More are read when no more than this many can be sent.
const FEW: usize = 250;
/// A webhook that takes nothing at all has this many times as long as a single event before events are given up.
const PATIENCE: u32 = 7;
/// An event that failed this often although another was taken in between is bad itself, even if the clock has not moved.
const CHANCES: u32 = 2;

#[derive(Debug)]
pub(super) struct Window {
    /// How far the log has been read.
    read: EventOffset,
    /// The last event that was tried, whether it was taken or not.
    furthest: EventOffset,
    held: HeldEvents,
    /// The last event of every channel that has any.
    tails: HashMap<Option<Ordinal>, usize>,
    ready: VecDeque<usize>,
    /// Failed events, by when they are tried again.
    waiting: BTreeSet<(UtcMillis, usize)>,
    n_flying: usize,
    /// The event under way while the webhook is considered away.
    probe: Option<usize>,
    /// Raised whenever the webhook shows that it is there, upon which failures are counted anew.
    era: u64,
    breaker: Breaker,
    remembered: Remembered,
    /// The last failure.
    reason: Option<String>,
}

/// An event to send.
struct OutgoingEvent {
    number: usize,
    json: Bytes,
}

/// Why an event was not taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedAttempt<'a> {
    pub(super) reason: &'a str,
    /// How long to wait before it is tried again.
    pub(super) pause: Option<Duration>,
    /// The webhook wants to be left alone for that long, not only by this event.
    pub(super) is_busy: bool,
    /// The webhook is there, and does not want this very event.
    pub(super) is_refusal: bool,
}

/// The attempt, for the history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) event: EventId,
    pub(super) kind: RecordKind,
    pub(super) offset: EventOffset,
    pub(super) attempt: u32,
}

impl Window {
    pub(super) fn new(done: EventOffset, cursor: &WebhookCursor, reason: Option<String>) -> Self {
        let remembered = cursor.remembered(done);
        Self {
            read: remembered.next_after(done),
            furthest: remembered.until,
            held: HeldEvents::default(),
            tails: HashMap::new(),
            ready: VecDeque::new(),
            waiting: BTreeSet::new(),
            n_flying: 0,
            probe: None,
            era: 0,
            breaker: cursor.breaker.clone(),
            remembered,
            reason,
        }
    }

    /// Everything up to here is delivered.
    pub(super) fn done(&self) -> EventOffset {
        let first_remembered = self.remembered.held.first_key_value().map(|(offset, _)| *offset);
        let first = self.held.first_offset().into_iter().chain(first_remembered).min();
        first.map_or(self.read, |first| EventOffset::from_number(first.number() - 1))
    }

    pub(super) fn read(&self) -> EventOffset {
        self.read
    }

    /// How many events it holds.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// How many events to read next; 0 while there is enough to do.
    pub(super) fn wanted(&self) -> usize {
        // A webhook that is away is tried with an event that may be fine, as long as there is room for any.
        if self.has_enough() || self.ready.len() > FEW {
            return 0;
        }
        // Events that are read once more lie far apart.
        let n_again = self.remembered.held.len();
        if n_again > 0 { PAGE.min(n_again) } else { PAGE.min(WIDTH - self.held.len()) }
    }

    /// Adds the events that were read, before which some records may have been deleted. Returns how many records were missed.
    pub(super) fn take_in(&mut self, events: Vec<PublicEvent>, looked: EventOffset, n_deleted: u64) -> u64 {
        let n_missed = if n_deleted > 0 { self.remembered.n_missed(self.read, n_deleted) } else { 0 };
        for event in events {
            if event.offset > self.remembered.until {
                self.add(event, None);
            } else if let Some(trouble) = self.remembered.held.remove(&event.offset) {
                self.add(event, trouble);
            }
        }
        self.remembered.forget_until(looked);
        self.read = self.remembered.next_after(looked);
        n_missed
    }

    fn add(&mut self, event: PublicEvent, trouble: Option<Trouble>) {
        let channel = event.ordinal;
        let number = self.held.insert(HeldEvent::new(event, trouble));
        match self.tails.insert(channel, number) {
            Some(tail) => {
                self.held.at_mut(tail).next = Some(number);
                self.held.at_mut(number).leave_page();
            }
            None => self.release(number),
        }
    }

    /// Lets the first event of a channel go.
    fn release(&mut self, number: usize) {
        match self.held.at(number).trouble {
            Some(trouble) => drop(self.waiting.insert((trouble.retry_at, number))),
            None => self.ready.push_back(number),
        }
    }

    /// The next event to send, if there is one for now.
    fn next(&mut self, now: UtcMillis) -> Option<OutgoingEvent> {
        let number = match self.breaker.open_until() {
            Some(_) if self.n_flying > 0 => return None,
            Some(until) => {
                // Untried events come first, so that one bad event cannot speak for the webhook.
                let is_new_due = self.breaker.new_from().is_none_or(|from| from <= now);
                let new = if is_new_due { self.ready.pop_front() } else { None };
                let number = match new {
                    Some(new) => new,
                    None if until <= now => self.waiting.pop_first()?.1,
                    None => return None,
                };
                self.probe = Some(number);
                number
            }
            None if self.waiting.first().is_some_and(|(retry_at, _)| *retry_at <= now) => self.waiting.pop_first()?.1,
            None => self.ready.pop_front()?,
        };
        self.n_flying += 1;
        Some(OutgoingEvent { number, json: self.held.at(number).event.json.clone() })
    }

    /// When there is something to send next, if there is nothing now.
    pub(super) fn next_due(&self) -> Option<UtcMillis> {
        let first_waiting = self.waiting.first().map(|(retry_at, _)| *retry_at);
        let again = if self.ready.is_empty() { self.breaker.open_until() } else { self.breaker.new_from() };
        again.filter(|_| self.held.len() > 0).or(first_waiting)
    }

    /// Whether more events would not change what is sent next: there is no room for them, or the webhook is away and
    /// there is one to try it with.
    pub(super) fn has_enough(&self) -> bool {
        self.is_full() || self.is_away() && !self.ready.is_empty()
    }

    pub(super) fn is_away(&self) -> bool {
        self.breaker.open_until().is_some()
    }

    /// Since when nothing at all is taken, if that is reason enough to disable the webhook.
    pub(super) fn useless_since(&self, now: UtcMillis) -> Option<UtcMillis> {
        self.breaker.useless_since(now)
    }

    /// How many events are under way.
    pub(super) fn n_flying(&self) -> usize {
        self.n_flying
    }

    /// An event was taken.
    fn taken(&mut self, number: usize, now: UtcMillis) -> Sent {
        let is_probe = self.answered(number);
        self.era += 1;
        let taken_before = self.breaker.last_taken;
        if let Some(since) = self.breaker.taken(is_probe, now) {
            self.come_back(since, taken_before, now);
        }
        let held = self.finish(number);
        held.sent(held.trouble.map_or(1, |trouble| trouble.attempts + 1))
    }

    /// An event was not taken. Returns the dead letter if that lasted for too long.
    fn failed(
        &mut self,
        number: usize,
        setback: FailedAttempt<'_>,
        limit: Duration,
        now: UtcMillis,
    ) -> (Sent, Option<DeadLetter>) {
        let is_probe = self.answered(number);
        self.breaker.not_taken(now);
        // A receiver that refuses an event is there.
        if is_probe && setback.is_refusal {
            self.era += 1;
            if let Some(since) = self.breaker.answered() {
                self.held.at_mut(number).forgive(since, self.breaker.last_taken, now);
                self.come_back(since, self.breaker.last_taken, now);
            }
        }
        let is_known = self.held.at(number).trouble.is_some_and(|before| self.is_to_blame(&before, Some(before.since)));
        let held = self.held.at_mut(number);
        let (since, attempts) = held.trouble.map_or((now, 1), |before| (before.since, before.attempts + 1));
        let pause = back_off(attempts, held.event.id).max(setback.pause.unwrap_or_default());
        let trouble = Trouble { since, attempts, retry_at: now.plus(pause), is_refused: setback.is_refusal };
        if held.trouble.replace(trouble).is_none() {
            held.leave_page();
        }
        held.reason = Some(setback.reason.into());
        let sent = held.sent(attempts);
        self.furthest = self.furthest.max(sent.offset);
        if !setback.is_refusal {
            let is_first = held.failed_in.replace(self.era) != Some(self.era);
            let counts = is_first && !is_known && held.n_eras < CHANCES;
            held.n_eras += u32::from(is_first);
            let asked = setback.pause.filter(|_| setback.is_busy);
            self.breaker.failed(sent.event, Failure { counts, is_probe, asked }, now);
        }
        self.reason = Some(setback.reason.to_owned());
        if !self.is_too_long(&trouble, limit, now) {
            self.waiting.insert((trouble.retry_at, number));
            return (sent, None);
        }
        (sent, Some(self.finish(number).into_letter(attempts, setback.reason.to_owned(), now)))
    }

    fn is_too_long(&self, trouble: &Trouble, limit: Duration, now: UtcMillis) -> bool {
        let is_to_blame = self.is_to_blame(trouble, Some(trouble.since));
        let limit = if is_to_blame { limit } else { limit.saturating_mul(PATIENCE) };
        now >= trouble.since.plus(limit)
    }

    /// As long as a webhook takes nothing at all and does not say that it is about the event, it is not the event's fault.
    fn is_to_blame(&self, trouble: &Trouble, since: Option<UtcMillis>) -> bool {
        trouble.is_refused || self.breaker.last_taken > since
    }

    /// After the webhook was away, every event gets a fair chance, and the time is not held against it.
    fn come_back(&mut self, away_since: UtcMillis, taken_before: Option<UtcMillis>, now: UtcMillis) {
        for (_, number) in std::mem::take(&mut self.waiting) {
            self.held.at_mut(number).forgive(away_since, taken_before, now);
            self.release(number);
        }
    }

    /// Whether it was the probe.
    fn answered(&mut self, number: usize) -> bool {
        self.n_flying -= 1;
        self.probe.take_if(|probe| *probe == number).is_some()
    }

    /// The first event of a channel is done with, and the next may go.
    fn finish(&mut self, number: usize) -> HeldEvent {
        let held = self.remove(number);
        if let Some(next) = held.next.filter(|next| !self.held.at(*next).is_flying_behind) {
            self.release(next);
        }
        held
    }

    fn remove(&mut self, number: usize) -> HeldEvent {
        let held = self.held.remove(number);
        self.furthest = self.furthest.max(held.event.offset);
        if held.next.is_none() {
            self.tails.remove(&held.event.ordinal);
        }
        held
    }

    /// Since when and why some events are not taken.
    pub(super) fn failing(&self) -> Option<(UtcMillis, String)> {
        let since = self.held.iter().filter_map(|held| held.trouble).map(|trouble| trouble.since).min()?;
        Some((since, self.reason.clone().unwrap_or_default()))
    }

    pub(super) fn cursor(&self) -> WebhookCursor {
        let held = self.held.iter().map(|held| (held.event.offset, held.trouble));
        let (mut held, unsent): (Vec<_>, Vec<_>) = held.partition(|(offset, _)| *offset <= self.furthest);
        // Events beyond the last sent one are read again.
        let first_unsent = unsent.iter().map(|(offset, _)| EventOffset::from_number(offset.number() - 1)).min();
        let until = first_unsent.unwrap_or(self.read).max(self.furthest);
        held.extend(self.remembered.held.iter().map(|(offset, trouble)| (*offset, *trouble)));
        held.sort_unstable_by_key(|(offset, _)| *offset);
        WebhookCursor::new(self.done(), until, held.into_iter(), self.breaker.clone())
    }
}

#[cfg(test)]
mod tests;
