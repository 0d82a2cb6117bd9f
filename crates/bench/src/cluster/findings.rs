//! What is promised, and whether it holds.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::report::{self, duration, number};

/// Prints lines with goals and counts those that are missed.
pub(super) struct Findings {
    n_missed: u32,
    /// Whether times count. They do not in a trial, whose machine may be as slow as it is.
    counts_times: bool,
}

impl Findings {
    pub(super) const fn new(counts_times: bool) -> Self {
        Self { n_missed: 0, counts_times }
    }

    /// How long something takes at most.
    pub(super) fn time(&mut self, name: &str, time: Duration, most: Duration) -> Result<()> {
        self.n_missed += u32::from(self.counts_times && time > most);
        report::goal(name, &duration(time), &format!("at most {}", duration(most)), time <= most)
    }

    pub(super) fn goal(&mut self, name: &str, value: &str, goal: &str, is_met: bool) -> Result<()> {
        self.n_missed += u32::from(!is_met);
        report::goal(name, value, goal, is_met)
    }

    /// A count that has to be exactly this.
    pub(super) fn equal(&mut self, name: &str, value: u64, wanted: u64) -> Result<()> {
        self.goal(name, &number(value as f64), &number(wanted as f64), value == wanted)
    }

    pub(super) fn at_most(&mut self, name: &str, value: u64, most: u64) -> Result<()> {
        self.goal(name, &number(value as f64), &format!("at most {}", number(most as f64)), value <= most)
    }

    pub(super) fn judge(&self) -> Result<()> {
        ensure!(self.n_missed == 0, "{} of the promises above do not hold.", self.n_missed);
        Ok(())
    }
}
