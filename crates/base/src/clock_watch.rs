//! Notices when somebody sets the clock of the system by more than an hour: a wrong date, a mistaken administrator. Work that the
//! calendar decides about then waits, instead of sending a year of schedules at once or deleting what is not old.

use std::sync::Arc;
use std::time::Duration;

use model::time::{Clock, Moment, UtcMillis};
use parking_lot::Mutex;

/// The clock and the time that has passed may differ by this much between two looks. Summer time does not count: it is not a change
/// of UTC.
const JUMP: Duration = Duration::from_secs(60 * 60);
/// For how long timed work waits after a jump, unless the clock goes back to where it was. Enough for a time server to put a clock
/// right, or for a person who is told.
pub const SETTLES_IN: Duration = Duration::from_secs(10 * 60);

/// Clones share everything.
#[derive(Clone)]
pub struct ClockWatch(Arc<Parts>);

struct Parts {
    clock: Clock,
    last: Mutex<Look>,
}

/// What was seen at the last look.
struct Look {
    wall: UtcMillis,
    moment: Moment,
    /// The sum of the jumps since the clock was last trusted, in milliseconds.
    off_by: i64,
    /// The last jump, while the clock is in doubt.
    jumped: Option<Moment>,
    /// Whether the clock was set back, so that waits may last until times that were set by a wrong clock.
    may_strand: bool,
}

impl ClockWatch {
    /// Trusts the clock as it is. That it was not set back since the last run is not known.
    pub fn new(clock: &Clock) -> Self {
        let look = Look { wall: clock.now(), moment: clock.moment(), off_by: 0, jumped: None, may_strand: true };
        Self(Arc::new(Parts { clock: clock.clone(), last: Mutex::new(look) }))
    }

    /// Looks at the clock, and returns whether timed work may be done by it. A change is logged.
    pub fn is_settled(&self) -> bool {
        let mut last = self.0.last.lock();
        let (wall, moment) = (self.0.clock.now(), self.0.clock.moment());
        let passed = millis(moment.since(last.moment));
        let jump = wall.0.saturating_sub(last.wall.0).saturating_sub(passed);
        (last.wall, last.moment) = (wall, moment);
        if jump.unsigned_abs() > millis(JUMP).unsigned_abs() {
            last.off_by = last.off_by.saturating_add(jump);
            last.jumped = Some(moment);
            last.may_strand |= jump < 0;
            let (by_s, now) = (jump / 1000, wall.to_iso());
            tracing::error!(
                by_s,
                now,
                wait_s = SETTLES_IN.as_secs(),
                "THE CLOCK HAS JUMPED: schedules, automation and the deletion of old data wait until it has settled"
            );
        }
        let Some(jumped) = last.jumped else { return true };
        let is_back = last.off_by.unsigned_abs() <= millis(JUMP).unsigned_abs();
        if !is_back && moment.since(jumped) < SETTLES_IN {
            return false;
        }
        (last.off_by, last.jumped) = (0, None);
        tracing::warn!(is_back, now = wall.to_iso(), "the clock has settled; schedules and other timed work go on");
        true
    }
}

impl ClockWatch {
    /// Looks at the clock, and returns by how many milliseconds it has jumped while it is in doubt.
    pub fn doubt(&self) -> Option<i64> {
        if self.is_settled() { None } else { Some(self.0.last.lock().off_by) }
    }

    /// Goes on doubting a clock that was in doubt when the process before ended, for as long as after a jump.
    pub fn go_on_doubting(&self, off_by: i64) {
        let mut last = self.0.last.lock();
        (last.off_by, last.jumped) = (off_by, Some(self.0.clock.moment()));
        tracing::error!(
            off_by_s = off_by / 1000,
            now = last.wall.to_iso(),
            wait_s = SETTLES_IN.as_secs(),
            "THE CLOCK HAD JUMPED when the service ended: schedules, automation and the deletion of old data wait until it \
             has settled"
        );
    }

    /// Looks at the clock, and returns whether it was set back since the last call: there may be waits until times that were set by
    /// a wrong clock. So it is at the start.
    pub fn take_setback(&self) -> bool {
        self.is_settled();
        std::mem::take(&mut self.0.last.lock().may_strand)
    }

    /// What followed from [`ClockWatch::take_setback`] has failed, and has to be done again.
    pub fn give_setback_back(&self) {
        self.0.last.lock().may_strand = true;
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * 60 * 1000;
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn watched() -> (Clock, ClockWatch) {
        let clock = Clock::stepped(UtcMillis(0));
        (clock.clone(), ClockWatch::new(&clock))
    }

    #[test]
    fn time_that_passes_and_small_corrections_are_no_jump() {
        let (clock, watch) = watched();
        clock.step(365 * DAY);
        assert!(watch.is_settled());
        for _ in 0..10 {
            clock.set_forward(HOUR);
            assert!(watch.is_settled());
            clock.set_forward(-HOUR);
            assert!(watch.is_settled());
        }
    }

    #[test]
    fn a_jump_in_either_direction_is_waited_out() {
        for by in [HOUR + 1, -HOUR - 1, 365 * 24 * HOUR] {
            let (clock, watch) = watched();
            clock.set_forward(by);
            assert!(!watch.is_settled());
            clock.step(SETTLES_IN - Duration::from_millis(1));
            assert!(!watch.is_settled());
            // Another jump, and the wait begins again.
            clock.set_forward(by);
            assert!(!watch.is_settled());
            clock.step(SETTLES_IN - Duration::from_millis(1));
            assert!(!watch.is_settled());
            clock.step(Duration::from_millis(1));
            assert!(watch.is_settled());
        }
    }

    #[test]
    fn a_clock_that_is_set_back_strands_waits_and_one_that_is_set_forward_does_not() {
        let (clock, watch) = watched();
        assert!(watch.take_setback(), "what was before the start is not known");
        assert!(!watch.take_setback());
        clock.set_forward(24 * HOUR);
        assert!(!watch.take_setback());
        clock.set_forward(-24 * HOUR);
        // Whoever notices it first.
        watch.is_settled();
        assert!(watch.take_setback());
        watch.give_setback_back();
        assert!(watch.take_setback() && !watch.take_setback());
    }

    #[test]
    fn a_clock_that_is_put_right_is_trusted_at_once() {
        let (clock, watch) = watched();
        clock.set_forward(24 * HOUR);
        assert!(!watch.is_settled());
        clock.step(Duration::from_secs(60));
        clock.set_forward(-24 * HOUR);
        assert!(watch.is_settled());
    }
}
