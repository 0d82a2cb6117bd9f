//! The books: what clients were told is done, to be compared with what the service says and what arrived.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// The books of one client, or of all.
#[derive(Default)]
pub(super) struct Book {
    /// By channel: the tags it was given and the events it told, in their order.
    pub(super) histories: BTreeMap<String, Vec<String>>,
    /// By the text of the push, which nobody else sends: when it was accepted.
    pub(super) pushes: HashMap<String, Instant>,
    /// Pushes to the whole crowd, and how long each took until its end.
    pub(super) broadcasts: Vec<(String, Duration)>,
    pub(super) n_calls: u64,
    /// Requests that went to another node.
    pub(super) n_retries: u64,
    pub(super) n_opens: u64,
    pub(super) n_custom_events: u64,
    /// Requests that were not answered with success in the end.
    pub(super) failures: Vec<String>,
    pub(super) slowest: Duration,
}

impl Book {
    pub(super) fn add(&mut self, other: Self) {
        self.histories.extend(other.histories);
        self.pushes.extend(other.pushes);
        self.broadcasts.extend(other.broadcasts);
        self.n_calls += other.n_calls;
        self.n_retries += other.n_retries;
        self.n_opens += other.n_opens;
        self.n_custom_events += other.n_custom_events;
        self.failures.extend(other.failures);
        self.slowest = self.slowest.max(other.slowest);
    }
}
