//! When to try again: each event by itself, and a webhook that takes nothing at all as a whole, with one request at a time.
//!
//! Whether a webhook is away is judged by different events that fail one after the other. An event that fails again after another
//! was taken is at fault itself, and says nothing about the webhook. Only days in which nothing at all is taken show that a webhook
//! is of no use any more: however many events fail in a burst, anybody who can cause events may have caused them.

use std::time::Duration;

use base::doubled;
use model::ids::EventId;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};

/// This many failed events, with none taken in between, mean that the webhook is away.
const TOO_MANY: u32 = 5;
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(300);
/// After this time at most, a webhook that is away is tried with an event that was never tried: if it only refuses some events,
/// the others do not wait for these.
const LONGEST_FOR_NEW: Duration = Duration::from_secs(5);
/// A webhook that takes nothing for so long is of no use. The log keeps events for longer than that by default, so that it can go
/// on without a gap.
const USELESS: Duration = Duration::from_secs(5 * 24 * 60 * 60);
/// Failures further apart than this are not one stretch: in between there may have been nothing to take.
const SAME_STRETCH: Duration = Duration::from_secs(24 * 60 * 60);

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
    /// From then on an event that was never tried may be used. After a restart, new events wait like all others.
    #[serde(skip)]
    new_from: Option<UtcMillis>,
    /// The webhook itself asked to be left alone until then. Requests already under way say nothing about that; after a restart
    /// there are none.
    #[serde(skip)]
    is_asked: bool,
    pub(super) last_taken: Option<UtcMillis>,
    /// The stretch of failures in which nothing was taken: its first one and the last.
    fruitless: Option<(UtcMillis, UtcMillis)>,
}

/// An event that was not taken, through no fault of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failure {
    /// It is the first time since the webhook was known to be there, and the event may be fine.
    pub(super) counts: bool,
    pub(super) is_probe: bool,
    /// How long the webhook asks to be left alone.
    pub(super) asked: Option<Duration>,
}

impl Breaker {
    pub(super) fn open_until(&self) -> Option<UtcMillis> {
        self.open_until
    }

    /// When an event may be sent that was never tried, as long as the webhook is away.
    pub(super) fn new_from(&self) -> Option<UtcMillis> {
        self.new_from.or(self.open_until)
    }

    /// Ends a wait that was set by a clock which has been put right since.
    pub(super) fn end_stranded_wait(&mut self, now: UtcMillis) {
        for until in [&mut self.open_until, &mut self.new_from].into_iter().flatten() {
            *until = until.end_of_wait(now);
        }
    }

    /// The same for a webhook that is there.
    fn closed(&self) -> Self {
        Self { last_taken: self.last_taken, fruitless: self.fruitless, ..Self::default() }
    }

    /// The same without any failure.
    pub(super) fn forgiven(&self) -> Self {
        Self { last_taken: self.last_taken, ..Self::default() }
    }

    /// Since when every event fails, if any was tried.
    pub(super) fn fruitless_since(&self) -> Option<UtcMillis> {
        self.fruitless.map(|(since, _)| since)
    }

    /// Since when, if that is for so long that the webhook is of no use any more.
    pub(super) fn useless_since(&self, now: UtcMillis) -> Option<UtcMillis> {
        self.fruitless_since().filter(|since| now >= since.plus(USELESS))
    }

    /// An event was not taken, for whatever reason.
    pub(super) fn not_taken(&mut self, now: UtcMillis) {
        let since = self.fruitless.filter(|(_, last)| now < last.plus(SAME_STRETCH)).map_or(now, |(since, _)| since);
        self.fruitless = Some((since, now));
    }

    /// An event was taken. Returns since when the webhook was considered away, if it was until now.
    pub(super) fn taken(&mut self, is_probe: bool, now: UtcMillis) -> Option<UtcMillis> {
        self.last_taken = Some(now);
        self.n_failing = 0;
        self.fruitless = None;
        if self.is_asked && !is_probe { None } else { self.answered() }
    }

    /// The webhook is there. Returns since when it was considered away, if it was until now.
    pub(super) fn answered(&mut self) -> Option<UtcMillis> {
        let was_away = self.open_since;
        *self = self.closed();
        was_away
    }

    pub(super) fn failed(&mut self, event: EventId, failure: Failure, now: UtcMillis) {
        let Failure { counts, is_probe, asked } = failure;
        self.n_failing += u32::from(counts);
        let opens = self.open_until.is_none() && (self.n_failing >= TOO_MANY || asked.is_some());
        if opens || is_probe {
            self.n_tries += 1;
            self.open_since.get_or_insert(now);
            let pause = back_off(self.n_tries, event);
            self.open_until = Some(now.plus(pause));
            self.new_from = Some(now.plus(pause.min(LONGEST_FOR_NEW)));
            self.is_asked = false;
        }
        if let (Some(until), Some(asked)) = (self.open_until, asked) {
            let asked_until = now.plus(asked);
            self.open_until = Some(until.max(asked_until));
            self.new_from = self.new_from.map(|from| from.max(asked_until));
            self.is_asked = true;
        }
    }
}

/// Twice as long after every attempt, and up to half of it shorter, so that events that failed together do not come back
/// together.
pub(super) fn back_off(attempts: u32, event: EventId) -> Duration {
    let whole = doubled(SHORTEST, attempts, LONGEST);
    let mixed = (event.uuid().as_u128() ^ u128::from(attempts)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let part = u32::try_from(mixed >> 112).unwrap_or(0);
    whole - whole / 2 * part / (1 << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBE: Failure = Failure { counts: false, is_probe: true, asked: None };

    #[test]
    fn a_pause_that_a_wrong_clock_has_set_is_over_when_the_clock_is_right() {
        let (mut breaker, noon) = (Breaker::default(), UtcMillis(0));
        breaker.failed(EventId::random(), PROBE, noon.plus(Duration::from_secs(24 * 60 * 60)));
        breaker.end_stranded_wait(noon);
        assert_eq!((breaker.open_until(), breaker.new_from()), (Some(noon), Some(noon)));
        breaker.failed(EventId::random(), PROBE, noon);
        let until = breaker.open_until();
        breaker.end_stranded_wait(noon);
        assert!(until > Some(noon) && breaker.open_until() == until);
    }

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
            breaker.failed(event, Failure { counts: attempt == 0, ..Failure::default() }, now);
        }
        assert_eq!(breaker.open_until(), None);
        for _ in 1..TOO_MANY {
            breaker.failed(EventId::random(), Failure { counts: true, ..Failure::default() }, now);
        }
        let first = breaker.open_until().unwrap();
        breaker.failed(event, Failure::default(), now);
        assert_eq!(breaker.open_until(), Some(first), "what was under way already changes nothing");
        breaker.failed(event, PROBE, first);
        assert!(breaker.open_until().unwrap() > first);
        assert_eq!((breaker.taken(false, first), breaker.open_until()), (Some(now), None));
        assert_eq!(breaker.taken(false, first), None);
    }

    #[test]
    fn only_days_without_any_success_make_a_webhook_useless() {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (mut breaker, mut now) = (Breaker::default(), UtcMillis(0));
        for _ in 0..30_000 {
            breaker.not_taken(now);
        }
        assert_eq!((breaker.fruitless_since(), breaker.useless_since(now)), (Some(now), None), "a burst is no reason");
        let days = |breaker: &mut Breaker, now: &mut UtcMillis, n: u32| {
            for _ in 0..n * 24 {
                *now = now.plus(HOUR);
                breaker.not_taken(*now);
            }
        };
        days(&mut breaker, &mut now, 4);
        breaker.answered();
        assert_eq!(breaker.useless_since(now), None);
        days(&mut breaker, &mut now, 1);
        assert_eq!(breaker.useless_since(now), Some(UtcMillis(0)), "a refusal is no success");
        breaker.taken(false, now);
        assert_eq!(breaker.useless_since(now), None);
        days(&mut breaker, &mut now, 4);
        // Two events a week, both refused, say little about it.
        now = now.plus(SAME_STRETCH);
        breaker.not_taken(now);
        assert_eq!((breaker.fruitless_since(), breaker.useless_since(now)), (Some(now), None));
        assert_eq!(breaker.forgiven().fruitless_since(), None);
    }

    #[test]
    fn new_events_wait_less_long_unless_the_webhook_asks_for_it() {
        let (mut breaker, mut now) = (Breaker::default(), UtcMillis(0));
        assert_eq!(breaker.new_from(), None);
        for _ in 0..TOO_MANY {
            breaker.failed(EventId::random(), Failure { counts: true, ..Failure::default() }, now);
        }
        assert_eq!(breaker.new_from(), breaker.open_until(), "nobody waits long at first");
        for _ in 0..20 {
            now = breaker.open_until().unwrap();
            breaker.failed(EventId::random(), PROBE, now);
        }
        assert!(breaker.open_until().unwrap() >= now.plus(LONGEST / 2));
        assert_eq!(breaker.new_from(), Some(now.plus(LONGEST_FOR_NEW)));
        breaker.failed(EventId::random(), Failure { asked: Some(LONGEST), ..PROBE }, now);
        assert_eq!((breaker.new_from(), breaker.open_until()), (Some(now.plus(LONGEST)), Some(now.plus(LONGEST))));
    }

    #[test]
    fn a_webhook_that_asks_to_be_left_alone_is() {
        let (mut breaker, now) = (Breaker::default(), UtcMillis(0));
        let busy = |seconds| Failure { counts: true, asked: Some(Duration::from_secs(seconds)), ..Failure::default() };
        breaker.failed(EventId::random(), busy(60), now);
        breaker.failed(EventId::random(), busy(90), now);
        breaker.failed(EventId::random(), busy(30), now);
        let until = now.plus(Duration::from_secs(90));
        assert_eq!(
            (breaker.taken(false, now), breaker.open_until()),
            (None, Some(until)),
            "that was under way already"
        );
        breaker.failed(EventId::random(), Failure { is_probe: true, ..busy(0) }, until);
        assert!(breaker.open_until().unwrap() > until, "no time at all is not what it gets");
        breaker.failed(EventId::random(), PROBE, until);
        assert_eq!((breaker.taken(true, until), breaker.open_until()), (Some(now), None));
    }
}
