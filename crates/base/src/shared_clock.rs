//! Compares the clock of this node with that of the database, by which the nodes of an installation agree on what is due and whose
//! lease has run out. A node whose clock is wrong would take work away from nodes that live, and fire schedules early.

use std::sync::Arc;
use std::time::Duration;

use model::time::{Clock, Moment, UtcMillis};
use parking_lot::Mutex;
use store::{Store, Tx};

use crate::Error;

/// The clocks may differ by this much. Of a lease of 15 seconds that is renewed every 5 by a node that is so much behind, one that
/// is so much ahead always sees 4 left.
const MOST_APART: Duration = Duration::from_secs(3);

/// Clones share everything.
#[derive(Clone)]
pub struct SharedClock {
    clock: Clock,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// Nothing where no server has a clock.
    reading: Option<Reading>,
    /// Whether the log has told that the clocks differ.
    is_told: bool,
}

/// What the clock of the database showed at a moment.
#[derive(Clone, Copy)]
struct Reading {
    time: UtcMillis,
    at: Moment,
}

impl Reading {
    /// The database told a time after `asked` and before `at`, when the own clock showed `own`. As long as the answer took is no
    /// difference.
    fn new(told: UtcMillis, asked: Moment, at: Moment, own: UtcMillis) -> Self {
        Self { time: own.clamp(told, told.plus(at.since(asked))), at }
    }

    /// What it shows later.
    fn shown_at(self, moment: Moment) -> UtcMillis {
        self.time.plus(moment.since(self.at))
    }

    /// By how many milliseconds a clock is ahead of it that shows `own` at a moment; behind it if negative.
    fn ahead(self, moment: Moment, own: UtcMillis) -> i64 {
        own.0.saturating_sub(self.shown_at(moment).0)
    }
}

/// Whether clocks that are so many milliseconds apart differ too much.
pub fn are_apart(millis: i64) -> bool {
    u128::from(millis.unsigned_abs()) > MOST_APART.as_millis()
}

impl SharedClock {
    /// Trusts the clock until it is compared.
    pub fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), seen: Arc::default() }
    }

    /// Reads the clock of the database. To be done at the start and every few seconds: in between it is known by the time that has
    /// passed, so that a clock that is set is noticed at once, and also while the database is away.
    pub async fn compare(&self, store: &Store) {
        if store.is_single_process() {
            return;
        }
        let (clock, seen) = (self.clock.clone(), Arc::clone(&self.seen));
        let read = move |tx: &mut Tx<'_>| {
            let asked = clock.moment();
            if let Some(told) = tx.database_time()? {
                let (at, own) = (clock.moment(), clock.now());
                seen.lock().reading = Some(Reading::new(told, asked, at, own));
            }
            Ok::<_, Error>(())
        };
        if let Err(error) = store.read(read).await
            && !error.is_of_database()
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "the clock of the database cannot be read");
        }
        // So that the log tells of a change.
        self.look();
    }

    /// By how many milliseconds the clock is ahead of the database's; behind it if negative. `None` where no server has a clock.
    pub fn ahead_by(&self) -> Option<i64> {
        self.look().1
    }

    /// As [`SharedClock::ahead_by`], if that is too much.
    pub fn wrong_by(&self) -> Option<i64> {
        self.ahead_by().filter(|millis| are_apart(*millis))
    }

    /// The time for what other nodes compare with theirs: that of the own clock, or of the database while that clock is wrong.
    pub fn now(&self) -> UtcMillis {
        let (own, ahead) = self.look();
        UtcMillis(own.0.saturating_sub(ahead.filter(|millis| are_apart(*millis)).unwrap_or(0)))
    }

    /// The time of the own clock, unless that is wrong.
    pub fn trusted_now(&self) -> Option<UtcMillis> {
        let (own, ahead) = self.look();
        (!ahead.is_some_and(are_apart)).then_some(own)
    }

    /// What the own clock shows, and by how much it is ahead. A change of whether that is too much is logged.
    fn look(&self) -> (UtcMillis, Option<i64>) {
        let mut seen = self.seen.lock();
        let (moment, own) = (self.clock.moment(), self.clock.now());
        let Some(reading) = seen.reading else { return (own, None) };
        let ahead_ms = self.clock.is_set_apart_by().unwrap_or_else(|| reading.ahead(moment, own));
        let is_apart = are_apart(ahead_ms);
        if is_apart != std::mem::replace(&mut seen.is_told, is_apart) {
            let now = own.to_iso();
            match is_apart {
                true => tracing::error!(
                    event = "clock.differs",
                    ahead_ms,
                    now,
                    "THE CLOCK DIFFERS FROM THAT OF THE DATABASE: this node runs no jobs, and fires no schedules, until they agree"
                ),
                false => tracing::info!(
                    event = "clock.agrees",
                    ahead_ms,
                    now,
                    "the clock agrees with that of the database; jobs are run again"
                ),
            }
        }
        (own, Some(ahead_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * 60 * 1000;

    #[test]
    fn the_time_that_an_answer_took_is_no_difference() {
        let (asked, at) = (Moment::Stepped(1000), Moment::Stepped(9000));
        for (own, expected) in [
            (99_000, 100_000),
            (100_000, 100_000),
            (103_000, 103_000),
            (108_000, 108_000),
            (109_000, 108_000),
            (100_000 + HOUR, 108_000),
        ] {
            let reading = Reading::new(UtcMillis(100_000), asked, at, UtcMillis(own));
            assert_eq!(reading.shown_at(at), UtcMillis(expected), "{own}");
            assert_eq!(reading.shown_at(Moment::Stepped(10_000)), UtcMillis(expected + 1000), "{own}");
        }
    }

    #[test]
    fn a_clock_is_ahead_by_what_it_shows_more_than_the_database_does_by_then() {
        let reading = Reading { time: UtcMillis(HOUR), at: Moment::Stepped(5000) };
        for (moment, own, expected) in [
            (5000, HOUR, 0),
            (5000, HOUR + 7, 7),
            (5000, HOUR - 7, -7),
            (65_000, HOUR + 60_000, 0),
            (65_000, HOUR, -60_000),
            (65_000, 2 * HOUR, HOUR - 60_000),
            (65_000, 0, -HOUR - 60_000),
            (5000, i64::MIN, i64::MIN),
        ] {
            assert_eq!(reading.ahead(Moment::Stepped(moment), UtcMillis(own)), expected, "{own} at {moment}");
        }
    }

    #[test]
    fn the_clock_of_the_system_is_compared() {
        let clock = Clock::System;
        let shared = SharedClock::new(&clock);
        for (by, side) in [(HOUR, 1), (-HOUR, -1)] {
            let time = UtcMillis(clock.now().0 - by);
            shared.seen.lock().reading = Some(Reading { time, at: clock.moment() });
            assert_eq!(shared.wrong_by().map(i64::signum), Some(side));
        }
    }

    #[test]
    fn a_clock_is_wrong_while_it_differs_by_seconds() {
        let clock = Clock::stepped(UtcMillis(HOUR));
        let shared = SharedClock::new(&clock);
        clock.set_apart(HOUR);
        assert_eq!((shared.trusted_now(), shared.ahead_by()), (Some(UtcMillis(2 * HOUR)), None), "it was not compared");
        clock.set_apart(-HOUR);
        shared.seen.lock().reading = Some(Reading { time: clock.now(), at: clock.moment() });
        for (apart, is_wrong) in [(0, false), (3000, false), (-3000, false), (3001, true), (-3001, true), (HOUR, true)]
        {
            clock.set_apart(apart);
            let own = clock.now();
            assert_eq!(shared.ahead_by(), Some(apart));
            assert_eq!(shared.wrong_by(), is_wrong.then_some(apart));
            assert_eq!(shared.trusted_now(), (!is_wrong).then_some(own));
            assert_eq!(shared.now(), if is_wrong { UtcMillis(HOUR) } else { own });
            clock.set_apart(-apart);
        }
    }
}
