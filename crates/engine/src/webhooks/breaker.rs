//! When to try again: each event by itself, and a webhook that takes nothing at all as a whole, with one request at a time.

use std::time::Duration;

use model::ids::EventId;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};

/// So many events that fail, with none taken in between, are enough to say that the webhook is away.
const TOO_MANY: u32 = 5;
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(300);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Breaker {
    /// Different events that failed since one was taken.
    n_failing: u32,
    /// Failed tries since the webhook is considered away.
    n_tries: u32,
    /// Since when the webhook is considered away.
    open_since: Option<UtcMillis>,
    /// The webhook is away, and is tried again then.
    open_until: Option<UtcMillis>,
    pub(super) last_taken: Option<UtcMillis>,
}

impl Breaker {
    pub(super) fn open_until(&self) -> Option<UtcMillis> {
        self.open_until
    }

    /// The same without any failure.
    pub(super) fn closed(&self) -> Self {
        Self { last_taken: self.last_taken, ..Self::default() }
    }

    /// An event was taken. Since when the webhook was considered away, if it was until now.
    pub(super) fn taken(&mut self, now: UtcMillis) -> Option<UtcMillis> {
        let was_away = self.open_since;
        *self = Self { last_taken: Some(now), ..Self::default() };
        was_away
    }

    /// An event failed, for the first time since one was taken or not.
    pub(super) fn failed(&mut self, event: EventId, is_first: bool, is_probe: bool, now: UtcMillis) {
        self.n_failing += u32::from(is_first);
        let opens = self.open_until.is_none() && self.n_failing >= TOO_MANY;
        if opens || is_probe {
            self.n_tries += 1;
            self.open_since.get_or_insert(now);
            self.open_until = Some(now.plus(back_off(self.n_tries, event)));
        }
    }
}

/// Twice as long after every attempt, and up to half of it shorter, so that what failed together does not come back together.
pub(super) fn back_off(attempts: u32, event: EventId) -> Duration {
    let whole = SHORTEST.saturating_mul(1 << attempts.saturating_sub(1).min(16)).min(LONGEST);
    let mixed = (event.uuid().as_u128() ^ u128::from(attempts)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let part = u32::try_from(mixed >> 112).unwrap_or(0);
    whole - whole / 2 * part / (1 << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_differ_from_event_to_event() {
        let events: Vec<EventId> = (0..100).map(|_| EventId::random()).collect();
        for (attempts, most) in [(1, 1), (2, 2), (5, 16), (9, 256), (10, 300), (40, 300)] {
            let pauses: Vec<Duration> = events.iter().map(|event| back_off(attempts, *event)).collect();
            let (least, most) = (Duration::from_secs(most) / 2, Duration::from_secs(most));
            assert!(pauses.iter().all(|pause| (least..=most).contains(pause)), "{attempts}: {pauses:?}");
            assert!(pauses.iter().any(|pause| *pause != pauses[0]));
        }
    }

    #[test]
    fn one_event_that_keeps_failing_is_not_the_webhook_being_away() {
        let (mut breaker, event, now) = (Breaker::default(), EventId::random(), UtcMillis(0));
        for attempt in 0..100 {
            breaker.failed(event, attempt == 0, false, now);
        }
        assert_eq!(breaker.open_until(), None);
        for _ in 1..TOO_MANY {
            breaker.failed(EventId::random(), true, false, now);
        }
        let first = breaker.open_until().unwrap();
        breaker.failed(event, false, false, now);
        assert_eq!(breaker.open_until(), Some(first), "what was under way already changes nothing");
        breaker.failed(event, false, true, first);
        assert!(breaker.open_until().unwrap() > first);
        assert_eq!((breaker.taken(first), breaker.open_until()), (Some(now), None));
        assert_eq!(breaker.taken(first), None);
    }
}
