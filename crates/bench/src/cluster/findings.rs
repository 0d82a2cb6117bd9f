//! What is promised, and whether it holds.

use anyhow::{Result, ensure};

use crate::report::{self, number};

/// Prints lines with goals and counts those that are missed.
#[derive(Default)]
pub(super) struct Findings {
    n_missed: u32,
}

impl Findings {
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
