//! The ground floor of the engine's rooms: the store with the clock and the counters, the errors, and how a stored document or a
//! repeated failure is treated. Knows no room.

mod back_off;
mod documents;
mod error;
mod metrics;

use model::time::Clock;
use store::Store;

pub use back_off::doubled;
pub use documents::{readable, stored_body};
pub use error::{Error, Result};
pub use metrics::Metrics;

/// What every room is built on; clones share everything.
#[derive(Clone)]
pub struct Base {
    pub store: Store,
    pub clock: Clock,
    pub metrics: Metrics,
}

impl Base {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock, metrics: Metrics::default() }
    }
}
