//! Compares the clock of this node with that of the database, by which the nodes of an installation agree on what is due and whose
//! lease has run out. A node whose clock is wrong would take work away from nodes that live, and fire schedules early. With a node
//! that is alone nobody has to agree: it goes on by its own clock.

use std::sync::Arc;
use std::time::Duration;

use model::time::{Clock, Moment, UtcMillis};
use parking_lot::Mutex;
use store::apps::OPERATOR;
use store::documents::{self, DocumentKind};
use store::{Store, Tx, nodes};

use crate::{Error, Result};

/// The clocks may differ by this much. Of a lease of 15 seconds that is renewed every 5 by a node that is so much behind, one that
/// is so much ahead always sees 4 left.
const MOST_APART: Duration = Duration::from_secs(3);

/// For so long a node whose clock is wrong waits for another one that it has seen: connections to a server that has failed over are
/// made anew one after the other.
const ALONE_AFTER: Duration = Duration::from_secs(45);

/// A node that starts expects others, too, if any have noted themselves in this time and have not ended in order: all of them may
/// be starting, after an outage of some hours as well, and the one whose clock is wrong be the first. It may have been that node
/// itself. Expecting them costs little: only a node whose clock is wrong waits.
const EXPECTED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

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
    /// Whether another node was ever seen, or was there before the start.
    knows_others: bool,
    /// Since when every comparison has found no other node.
    alone_since: Option<Moment>,
    /// What the log has told last.
    told: Standing,
}

impl Seen {
    fn note(&mut self, reading: Reading, are_others: bool) {
        self.reading = Some(reading);
        self.knows_others |= are_others;
        self.alone_since = (!are_others).then(|| self.alone_since.unwrap_or(reading.at));
    }

    /// A database that was away tells of other nodes only when they have come back as well.
    fn is_alone(&self, reading: Reading) -> bool {
        let waits = |since: Moment| self.knows_others && reading.at.since(since) < ALONE_AFTER;
        self.alone_since.is_some_and(|since| !waits(since))
    }
}

/// What a node may do by its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    #[default]
    Agrees,
    /// It is wrong, and no other node is there.
    Alone,
    /// It is wrong.
    Stopped,
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
        let (clock, seen, own_node) = (self.clock.clone(), Arc::clone(&self.seen), store.node());
        let read = move |tx: &mut Tx<'_>| {
            let asked = clock.moment();
            if let Some(told) = tx.database_time()? {
                let (at, own) = (clock.moment(), clock.now());
                let reading = Reading::new(told, asked, at, own);
                let are_others = nodes::are_others(tx, own_node)?;
                let is_first = seen.lock().reading.is_none();
                let of_database = UtcMillis(own.0.saturating_sub(ahead(&clock, reading, at, own)));
                let were_others = is_first && were_nodes(tx, of_database)?;
                let mut seen = seen.lock();
                seen.knows_others |= were_others;
                seen.note(reading, are_others);
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
        self.look().ahead_ms
    }

    /// As [`SharedClock::ahead_by`], if that is too much.
    pub fn wrong_by(&self) -> Option<i64> {
        self.ahead_by().filter(|millis| are_apart(*millis))
    }

    /// Whether the clock is wrong and is gone by all the same, so that another node has to be looked for before work is taken up.
    pub fn is_wrong_and_alone(&self) -> bool {
        self.look().standing == Standing::Alone
    }

    /// The time for what other nodes compare with theirs: that of the own clock, or of the database while that clock is wrong and
    /// this node is not alone.
    pub fn now(&self) -> UtcMillis {
        let Look { own, ahead_ms, standing } = self.look();
        match standing {
            Standing::Agrees | Standing::Alone => own,
            Standing::Stopped => UtcMillis(own.0.saturating_sub(ahead_ms.unwrap_or(0))),
        }
    }

    /// The time from which a lease lasts. It has not run out for a node that comes while this one is alone, whatever is wrong.
    pub fn lease_begin(&self) -> UtcMillis {
        let Look { own, ahead_ms, standing } = self.look();
        let of_database = UtcMillis(own.0.saturating_sub(ahead_ms.unwrap_or(0)));
        match standing {
            Standing::Agrees => own,
            Standing::Alone => own.max(of_database),
            Standing::Stopped => of_database,
        }
    }

    /// The time of the own clock, unless that is wrong and there are other nodes.
    pub fn trusted_now(&self) -> Option<UtcMillis> {
        let Look { own, standing, .. } = self.look();
        (standing != Standing::Stopped).then_some(own)
    }

    /// Looks at the own clock. A change of what the node may do by it is logged.
    fn look(&self) -> Look {
        let mut seen = self.seen.lock();
        let (moment, own) = (self.clock.moment(), self.clock.now());
        let Some(reading) = seen.reading else { return Look { own, ahead_ms: None, standing: Standing::Agrees } };
        let ahead_ms = ahead(&self.clock, reading, moment, own);
        let standing = match are_apart(ahead_ms) {
            false => Standing::Agrees,
            true if seen.is_alone(reading) => Standing::Alone,
            true => Standing::Stopped,
        };
        if standing != std::mem::replace(&mut seen.told, standing) {
            tell(standing, ahead_ms, own);
        }
        Look { own, ahead_ms: Some(ahead_ms), standing }
    }
}

/// By how many milliseconds the clock is ahead of the database's. A stepped one says so itself.
fn ahead(clock: &Clock, reading: Reading, moment: Moment, own: UtcMillis) -> i64 {
    clock.set_apart_by().unwrap_or_else(|| reading.ahead(moment, own))
}

/// Whether nodes were there moments ago that have not ended in order.
fn were_nodes(tx: &mut Tx<'_>, now: UtcMillis) -> Result<bool> {
    let noted = documents::heads(tx, OPERATOR, DocumentKind::Node)?;
    Ok(noted.iter().any(|node| node.modified > now.minus(EXPECTED_FOR)))
}

/// What a look at the own clock has found.
struct Look {
    own: UtcMillis,
    ahead_ms: Option<i64>,
    standing: Standing,
}

fn tell(standing: Standing, ahead_ms: i64, own: UtcMillis) {
    let now = own.to_iso();
    match standing {
        Standing::Stopped => tracing::error!(
            event = "clock.differs",
            ahead_ms,
            now,
            "THE CLOCK DIFFERS FROM THAT OF THE DATABASE: this node runs no jobs, and fires no schedules, until they agree"
        ),
        Standing::Alone => tracing::warn!(
            event = "clock.differs",
            ahead_ms,
            now,
            "the clock differs from that of the database; this node goes by it until there is another node"
        ),
        Standing::Agrees => {
            tracing::info!(event = "clock.agrees", ahead_ms, now, "the clock agrees with that of the database again")
        }
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
            shared.seen.lock().note(Reading { time, at: clock.moment() }, false);
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
        see(&shared, &clock, true);
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

    /// As comparing does.
    fn see(shared: &SharedClock, clock: &Clock, are_others: bool) {
        shared.seen.lock().note(Reading { time: clock.now(), at: clock.moment() }, are_others);
    }

    #[test]
    fn a_node_that_expects_others_waits_for_them_once() {
        let clock = Clock::stepped(UtcMillis(2 * HOUR));
        let shared = SharedClock::new(&clock);
        clock.set_apart(HOUR);
        shared.seen.lock().knows_others = true;
        see(&shared, &clock, false);
        clock.step(ALONE_AFTER / 2);
        see(&shared, &clock, false);
        assert_eq!(shared.trusted_now(), None);
        clock.step(ALONE_AFTER / 2);
        see(&shared, &clock, false);
        assert_eq!(shared.trusted_now(), Some(clock.now()));
        clock.set_apart(HOUR);
        assert_eq!(shared.trusted_now(), Some(clock.now()), "it knows by now that it is alone");
    }

    #[test]
    fn a_node_that_is_alone_goes_by_its_own_clock() {
        for apart in [HOUR, -HOUR] {
            let clock = Clock::stepped(UtcMillis(2 * HOUR));
            let shared = SharedClock::new(&clock);
            see(&shared, &clock, false);
            assert!(!shared.is_wrong_and_alone());
            clock.set_apart(apart);
            let own = clock.now();
            assert_eq!((shared.trusted_now(), shared.now(), shared.wrong_by()), (Some(own), own, Some(apart)));
            assert!(shared.is_wrong_and_alone());
            assert_eq!(shared.lease_begin(), own.max(UtcMillis(2 * HOUR)), "neither clock shows that it has run out");

            see(&shared, &clock, true);
            assert_eq!((shared.trusted_now(), shared.now()), (None, UtcMillis(2 * HOUR)));
            assert_eq!(shared.lease_begin(), UtcMillis(2 * HOUR));
            clock.step(ALONE_AFTER * 2);
            assert_eq!(shared.trusted_now(), None, "it was not looked for again");
            see(&shared, &clock, false);
            clock.step(ALONE_AFTER / 2);
            see(&shared, &clock, false);
            assert_eq!(shared.trusted_now(), None, "the other may only have lost its connection");
            clock.step(ALONE_AFTER / 2);
            see(&shared, &clock, false);
            assert_eq!(shared.trusted_now(), Some(clock.now()));
        }
    }
}
