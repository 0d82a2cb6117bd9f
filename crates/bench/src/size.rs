//! How much to measure: everything, or so little that only the measurement itself is tried.

use std::path::Path;
use std::time::Duration;

use crate::sample::Effort;

/// With no more channels than this a run only shows that the measurements work. The tests do so with all of them.
pub(crate) const TRIAL: u32 = 2_000;
/// How long one round of a trial takes.
const TRIAL_TIME: Duration = Duration::from_millis(200);
/// How often a trial repeats what is done one at a time.
const TRIAL_TIMES: usize = 5;
/// Things that a trial makes or does with a request each.
const TRIAL_REQUESTS: u32 = 50;

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

    /// The same of what takes a request each.
    pub(crate) fn requests(self, n_wanted: u32) -> u32 {
        let n_requests = self.of(n_wanted);
        if self.is_trial() { n_requests.min(TRIAL_REQUESTS) } else { n_requests }
    }

    /// Whether the figures mean nothing.
    pub(crate) fn is_trial(self) -> bool {
        self.at_most <= TRIAL
    }

    /// How long a round takes.
    pub(crate) fn time(self, wanted: Duration) -> Duration {
        if self.is_trial() { wanted.min(TRIAL_TIME) } else { wanted }
    }

    /// How often something is done that is done one at a time.
    pub(crate) fn times(self, wanted: usize) -> usize {
        if self.is_trial() { wanted.min(TRIAL_TIMES) } else { wanted }
    }

    /// How often work is repeated: in a trial no more than is necessary.
    pub(crate) fn effort(self, wanted: &Effort) -> Effort {
        if self.is_trial() { Effort { time: Duration::ZERO, ..*wanted } } else { *wanted }
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
