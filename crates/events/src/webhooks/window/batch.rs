//! Events that go out in one request. Several of a channel may be among them, in their order. When the request fails, they go into
//! requests of half as many, until a bad one is alone.

use std::time::Duration;

use bytes::Bytes;
use model::time::UtcMillis;
use store::webhooks::DeadLetter;

use super::{FailedAttempt, Sent, Window};

/// A request that has this many bytes gets no further event.
const MOST_BYTES: usize = 512 * 1024;

/// The events of one request.
pub(in crate::webhooks) struct Batch {
    /// Those that are behind another of their channel come after it.
    numbers: Vec<usize>,
    pub(in crate::webhooks) events: Vec<Bytes>,
}

impl Window {
    /// The next events to send in one request, if there are any for now.
    pub(in crate::webhooks) fn next_batch(&mut self, most: usize, now: UtcMillis) -> Option<Batch> {
        let first = self.next(now)?;
        // The event that shows whether the webhook is there goes alone.
        let mut room = if self.is_away() { 1 } else { most.min(self.most_together(first.number)) };
        let mut batch = Batch { numbers: vec![first.number], events: vec![first.json] };
        let (mut n_bytes, mut last) = (batch.events[0].len(), first.number);
        while batch.numbers.len() < room && n_bytes < MOST_BYTES {
            let behind = self.held.at(last).next;
            let Some(number) = behind.or_else(|| self.ready.front().copied()) else { break };
            room = room.min(self.most_together(number));
            if batch.numbers.len() >= room {
                break;
            }
            match behind {
                Some(_) => self.held.at_mut(number).is_flying_behind = true,
                None => drop(self.ready.pop_front()),
            }
            let json = self.held.at(number).event.json.clone();
            n_bytes += json.len();
            batch.numbers.push(number);
            batch.events.push(json);
            self.n_flying += 1;
            last = number;
        }
        Some(batch)
    }

    /// An event that failed before, or that has one attempt only, speaks for itself alone.
    fn most_together(&self, number: usize) -> usize {
        let held = self.held.at(number);
        if held.trouble.is_some() || held.blamed.is_some() { 1 } else { held.most_together }
    }

    /// A request was taken, and all its events with it.
    pub(in crate::webhooks) fn batch_taken(&mut self, batch: Batch, now: UtcMillis) -> Vec<Sent> {
        batch.numbers.into_iter().map(|number| self.taken(number, now)).collect()
    }

    /// A request was not taken: a failure of its first event, unless some event of several is refused, which may be any of them.
    /// The others go out again, fewer at a time. Returns the failed attempt.
    pub(in crate::webhooks) fn batch_failed(
        &mut self,
        batch: Batch,
        setback: FailedAttempt<'_>,
        limit: Duration,
        now: UtcMillis,
    ) -> (Sent, Option<DeadLetter>) {
        let first = batch.numbers[0];
        let most_together = batch.numbers.len() / 2;
        let is_any = setback.is_refusal && most_together > 0;
        for number in batch.numbers.into_iter().rev().filter(|number| is_any || *number != first) {
            let held = self.held.at_mut(number);
            held.most_together = most_together;
            self.n_flying -= 1;
            if !std::mem::take(&mut held.is_flying_behind) {
                self.ready.push_front(number);
            }
        }
        if is_any {
            self.breaker.not_taken(now);
            return (self.held.at(first).sent(1), None);
        }
        self.failed(first, setback, limit, now)
    }
}
