//! Live connections of devices: who is connected to this node, what they are sent as it comes into the log of their app, what they
//! missed, and what they have acknowledged.
//!
//! The log is the queue. A message for live channels is one record of a block; every node that has connections of an app follows
//! the log of that app, and a device that comes back says how far it has got. No node knows of the connections of another.

mod acks;
mod backlog;
mod end;
mod fan_out;
mod following;
mod hub;
mod inboxes;
mod line;
mod message;
mod opening;
mod places;
mod positions;
mod presence;
mod reader;
mod received;
mod records;
mod refusing;
mod socket;
mod socket_run;
mod stream;
mod sweep;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{Base, Metrics, PassedOver};
use devices::Devices;
use index::Indexes;
use model::ids::AppId;
use model::time::Clock;
use parking_lot::Mutex;
use store::Store;
use tenancy::Tenancy;

pub use end::End;
pub use message::Told;
pub use opening::{Opened, Opening, Refused};
pub use presence::Presence;
pub use reader::Reader;
pub use received::{foresee_receipt, mark_receipt};
pub use refusing::refuse;
pub use socket_run::Connection;
pub use stream::Stream;
pub use websocket::accept_key;

use hub::Hub;

/// The shortest and the longest time between two pings that a client may ask for, and the usual one, in seconds.
pub const PINGS: std::ops::RangeInclusive<u32> = 25..=600;
pub const USUAL_PING: u32 = 45;

/// The live connections of this node; clones share everything.
#[derive(Clone)]
pub struct Live(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    metrics: Metrics,
    tenancy: Tenancy,
    index: Indexes,
    devices: Devices,
    /// The apps that have connections, or had some lately.
    hubs: Mutex<HashMap<AppId, Arc<Hub>>>,
    /// Whether the node is stopping, and takes no more connections.
    is_stopping: AtomicBool,
    passed_over: PassedOver,
}

impl Live {
    pub fn new(base: &Base, tenancy: &Tenancy, index: &Indexes, devices: &Devices) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            metrics: base.metrics.clone(),
            tenancy: tenancy.clone(),
            index: index.clone(),
            devices: devices.clone(),
            hubs: Mutex::default(),
            is_stopping: AtomicBool::new(false),
            passed_over: PassedOver::default(),
        }))
    }

    /// How many connections are open on this node.
    pub fn n_connected(&self) -> usize {
        self.0.hubs.lock().values().map(|hub| hub.n_lines()).sum()
    }
}

#[cfg(test)]
mod tests;
