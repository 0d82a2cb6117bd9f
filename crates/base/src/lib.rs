//! The ground floor of the engine's rooms: the store with the clock and the counters, the errors, the limits of growth, whether the
//! clock can be trusted and agrees with the database's, how a stored document, a record of the log or a repeated failure is
//! treated, and what a search is. Knows no room.

mod back_off;
mod clock_watch;
mod documents;
mod error;
mod growth;
mod metrics;
mod records;
mod search;
mod shared_clock;

use model::time::Clock;
use store::Store;

pub use back_off::doubled;
pub use clock_watch::{ClockWatch, SETTLES_IN};
pub use documents::{readable, stored_body};
pub use error::{Error, Result};
pub use growth::{Claim, Growing, Growth, GrowthLimits, Quota};
pub use metrics::Metrics;
pub use records::{PassedOver, UnreadableRecord};
pub use search::{Findings, Found, FoundKind, SearchText, search_documents};
pub use shared_clock::{SharedClock, are_apart};

/// What every room is built on; clones share everything.
#[derive(Clone)]
pub struct Base {
    pub store: Store,
    pub clock: Clock,
    pub clock_watch: ClockWatch,
    pub shared_clock: SharedClock,
    pub metrics: Metrics,
    pub growth: Growth,
}

impl Base {
    pub fn new(store: Store, clock: Clock, limits: GrowthLimits) -> Self {
        let metrics = Metrics::default();
        Self {
            store,
            clock_watch: ClockWatch::new(&clock),
            shared_clock: SharedClock::new(&clock),
            clock,
            growth: Growth::new(limits, metrics.clone()),
            metrics,
        }
    }
}
