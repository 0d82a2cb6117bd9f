//! How much to measure: everything, or so little that only the measurement itself is tried.

use std::path::Path;
use std::time::Duration;

use crate::sample::Effort;

/// With no more channels than this a run only shows that the measurements work. A test on demand does so with all of them.
pub(crate) const TRIAL: u32 = 2_000;
/// How long one round of a trial takes.
const TRIAL_TIME: Duration = Duration::from_millis(200);

#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) at_most: u32,
    /// For how long to disturb a cluster or to soak; `None` for their own time.
    pub(crate) seconds: Option<u64>,
    /// The disturbances follow from it.
    pub(crate) seed: Option<u64>,
    /// How often sides take turns; `None` for the measurement's own number.
    pub(crate) rounds: Option<usize>,
    /// The server that `compare` compares with.
    pub(crate) against: Option<&'static Path>,
    /// Where Parse Server is installed, for `peers`.
    pub(crate) parse_server: Option<&'static Path>,
    /// Whether `databases` and `nodes` print what PostgreSQL was asked.
    pub(crate) statements: bool,
}

impl Size {
    /// The wanted number, or fewer if the command line asks for fewer.
    pub(crate) fn of(self, n_wanted: u32) -> u32 {
        n_wanted.min(self.at_most)
    }

    /// Whether the figures mean nothing.
    pub(crate) fn is_trial(self) -> bool {
        self.at_most <= TRIAL
    }

    /// How long a round takes.
    pub(crate) fn time(self, wanted: Duration) -> Duration {
        if self.is_trial() { wanted.min(TRIAL_TIME) } else { wanted }
    }

    pub(crate) fn effort(self, wanted: &Effort) -> Effort {
        Effort { time: self.time(wanted.time), ..*wanted }
    }

    pub(crate) fn rounds(self, wanted: usize) -> usize {
        self.rounds.unwrap_or(if self.is_trial() { 1 } else { wanted })
    }

    /// For how long something goes on that has a time of its own.
    pub(crate) fn duration(self, wanted: Duration) -> Duration {
        self.seconds
            .map_or_else(|| if self.is_trial() { wanted.min(TRIAL_TIME * 10) } else { wanted }, Duration::from_secs)
    }
}
