//! Repeats work and keeps how long it took.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Durations of the same work, sorted, and the CPU time of all runs together.
pub(crate) struct Sample {
    times: Vec<Duration>,
    cpu: Duration,
}

/// How often work is repeated: until the time is over, but within these bounds.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) time: Duration,
    pub(crate) at_least: usize,
    pub(crate) at_most: usize,
}

impl Sample {
    /// Repeats `work` after one run that does not count. `cpu` is a clock that counts only the work.
    pub(crate) fn take(
        effort: &Effort,
        mut cpu: impl FnMut() -> Result<Duration>,
        mut work: impl FnMut() -> Result<()>,
    ) -> Result<Self> {
        work()?;
        let (cpu_before, began) = (cpu()?, Instant::now());
        let mut times = Vec::new();
        while times.len() < effort.at_most && (began.elapsed() < effort.time || times.len() < effort.at_least) {
            let began = Instant::now();
            work()?;
            times.push(began.elapsed());
        }
        let cpu = cpu()?.saturating_sub(cpu_before);
        Ok(Self::of(times, cpu))
    }

    pub(crate) fn of(mut times: Vec<Duration>, cpu: Duration) -> Self {
        times.sort_unstable();
        Self { times, cpu }
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let position = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
        self.times.get(position).copied().unwrap_or_default()
    }

    /// CPU time of one run, on average.
    pub(crate) fn cpu(&self) -> Duration {
        self.cpu / u32::try_from(self.times.len().max(1)).unwrap_or(u32::MAX)
    }
}
