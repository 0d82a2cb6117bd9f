//! One event of a window, and what became of its attempts.

use bytes::Bytes;
use model::time::UtcMillis;
use store::webhooks::DeadLetter;

use super::{CHANCES, Sent};
use crate::PublicEvent;
use crate::webhooks::breaker::back_off;
use crate::webhooks::cursor::Trouble;

#[derive(Debug)]
pub(super) struct HeldEvent {
    pub(super) event: PublicEvent,
    /// The next of the same channel.
    pub(super) next: Option<usize>,
    /// Whether it is under way behind an earlier one of its channel, in the same request.
    pub(super) is_flying_behind: bool,
    /// How many events at most may be in a request with it: fewer, each time that one with it has failed.
    pub(super) most_together: usize,
    pub(super) trouble: Option<Trouble>,
    /// Its last failure, unless only another process knows it.
    pub(super) reason: Option<Box<str>>,
    /// The era in which it failed last, and in how many it did.
    pub(super) failed_in: Option<u64>,
    pub(super) n_eras: u32,
    /// Since when earlier events of its channel have been refused, if they were given up because there was no room to keep them.
    pub(super) blamed: Option<UtcMillis>,
}

impl HeldEvent {
    pub(super) fn new(event: PublicEvent, trouble: Option<Trouble>) -> Self {
        Self {
            event,
            next: None,
            is_flying_behind: false,
            most_together: usize::MAX,
            trouble,
            reason: None,
            failed_in: None,
            n_eras: 0,
            blamed: None,
        }
    }

    /// Takes the event out of the memory that it shares with its page, because it may stay long.
    pub(super) fn leave_page(&mut self) {
        self.event.json = Bytes::copy_from_slice(&self.event.json);
    }

    /// Does not hold against it that the webhook was away; unless the webhook was there and refused it. Has it tried again soon,
    /// unless something was taken before, but after it had failed: then it is a bad one.
    pub(super) fn forgive(&mut self, away_since: UtcMillis, taken_before: Option<UtcMillis>, now: UtcMillis) {
        if let Some(trouble) = self.trouble.as_mut().filter(|trouble| !trouble.is_refused) {
            if taken_before <= Some(trouble.since) && self.n_eras < CHANCES {
                trouble.retry_at = trouble.retry_at.min(now.plus(back_off(1, self.event.id)));
            }
            let n_away = now.0 - trouble.since.max(away_since).0;
            trouble.since = UtcMillis(trouble.since.0 + n_away.max(0));
        }
    }

    /// Since when it, or an event before it, is refused.
    pub(super) fn blamed_since(&self) -> Option<UtcMillis> {
        self.blamed.or(self.trouble.map(|trouble| trouble.since))
    }

    pub(super) fn sent(&self, attempt: u32) -> Sent {
        let PublicEvent { id, kind, offset, .. } = self.event;
        Sent { event: id, kind, offset, attempt }
    }

    pub(super) fn into_letter(self, attempts: u32, reason: String, now: UtcMillis) -> DeadLetter {
        let PublicEvent { offset, kind, id, json, .. } = self.event;
        DeadLetter { offset, event: id, kind, at: now, attempts, reason, body: json.to_vec() }
    }
}
