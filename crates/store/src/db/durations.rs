//! How long transactions take, and how many callers wait for one: figures for whoever operates the service.

use prometheus_client::metrics::histogram::Histogram;

/// In seconds. A commit on a fast disk takes a fraction of a millisecond.
const BOUNDS: [f64; 13] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0];

/// Clones count together.
#[derive(Clone, Debug)]
pub struct Durations {
    /// Of transactions that write, from their beginning to the end of their commit. Many changes share one.
    pub commits: Histogram,
    /// Of transactions that read.
    pub reads: Histogram,
}

/// Callers that wait for a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub n_writes: usize,
    pub n_reads: usize,
}

impl Default for Durations {
    fn default() -> Self {
        Self { commits: Histogram::new(BOUNDS), reads: Histogram::new(BOUNDS) }
    }
}
