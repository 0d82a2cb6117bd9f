//! How long a writer waits for more commands to share a commit.
//!
//! A transaction on PostgreSQL costs the service and the server several hundred microseconds, however few commands are in it. Where
//! both, and the callers, share the cores, the writer is the first to run again after a commit, and would begin the next
//! transaction for the one command that happened to be quick. So under load it waits a moment for half of the callers it has just
//! answered, who are likely to ask again. A command that comes alone does not wait.

use std::time::{Duration, Instant};

/// The longest wait, and the longest between two looks at the queue.
const LONGEST: Duration = Duration::from_millis(4);
const LOOK: Duration = Duration::from_micros(250);

#[derive(Default)]
pub(super) struct Pace {
    /// Commands that shared the last transaction, and commands that came meanwhile.
    n_answered: usize,
    n_waiting: usize,
    took: Duration,
}

impl Pace {
    /// Waits for more commands. The function tells how many there are.
    pub(super) fn wait(&self, n_commands: impl Fn() -> usize) {
        let (expected, patience, began) = (self.expected(), self.patience(), Instant::now());
        while n_commands() < expected {
            let Some(left) = patience.checked_sub(began.elapsed()) else { break };
            std::thread::park_timeout(left.min(LOOK));
        }
    }

    pub(super) fn note(&mut self, n_answered: usize, n_waiting: usize, took: Duration) {
        *self = Self { n_answered, n_waiting, took };
    }

    /// Half of the commands that there are when all callers of the last transaction have come back. The others come while those are
    /// written: if the writer waited for all, it would have nothing to do for the callers meanwhile, nor they for it.
    fn expected(&self) -> usize {
        (self.n_answered + self.n_waiting).div_ceil(2)
    }

    fn patience(&self) -> Duration {
        (self.took / 2).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const LONG: Duration = Duration::from_secs(3600);

    fn after(n_answered: usize, n_waiting: usize, took: Duration) -> Pace {
        let mut pace = Pace::default();
        pace.note(n_answered, n_waiting, took);
        pace
    }

    #[test]
    fn a_command_that_comes_alone_does_not_wait() {
        for pace in [Pace::default(), after(1, 0, LONG), after(1, 1, LONG)] {
            let looks = Cell::new(0);
            pace.wait(|| looks.replace(looks.get() + 1) + 1);
            assert_eq!(looks.get(), 1);
        }
    }

    #[test]
    fn half_of_the_callers_of_the_last_transaction_are_waited_for_and_not_for_long() {
        let pace = after(2, 1, LONG);
        assert_eq!((pace.expected(), pace.patience()), (2, LONGEST));
        let pace = after(64, 0, Duration::from_millis(3));
        assert_eq!((pace.expected(), pace.patience()), (32, Duration::from_micros(1500)));
        // Nobody comes.
        pace.wait(|| 1);
    }
}
