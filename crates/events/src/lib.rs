//! What happened: events taken in from devices, read by customers as a stream or sent to their webhooks, and counted in reports.

mod intake;
mod reports;
mod stream;
mod timeline;
mod webhooks;

use std::sync::Arc;

use base::{Base, Growth, Metrics, SharedClock};
use devices::{Devices, LocationSettings};
use index::Indexes;
use model::ids::AppId;
use model::time::Clock;
use providers::Network;
use sending::Sending;
use store::Store;
use tenancy::Tenancy;

pub use intake::{Chosen, Taken, Upload, WithEvents};
pub use reports::DevicesReport;
pub use reports::{
    Buckets, Counts, DeviceCounts, EventTotals, Figure, GroupReport, InAppReport, Line, Lines, LinesRequest,
    PushReport, Series,
};
pub use store::counters::{Metric, Opted, Pushes};
pub use store::event_counters::{EventTotal, Sum};
pub use store::webhooks::{Attempt, DeadLetter, Entry, EntryKind};
pub use stream::{EventClause, EventFeed, EventFilter, EventPage, NewestEvents, NewestRequest, PublicEvent};
pub use timeline::{TimelinePage, TimelineRequest};
pub use webhooks::{
    CreatedWebhook, Redelivered, WebhookLag, WebhookProof, WebhookState, WebhookView, purpose as webhook_purpose,
    remove_webhook,
};

/// The events of the apps; clones share everything.
#[derive(Clone)]
pub struct Events(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    /// For leases of jobs, which other nodes judge.
    shared_clock: SharedClock,
    metrics: Metrics,
    tenancy: Tenancy,
    index: Indexes,
    devices: Devices,
    sending: Sending,
    /// How webhooks are reached.
    network: Network,
    locations: LocationSettings,
    upload_rate: intake::UploadRate,
    former_ids: intake::FormerIds,
    growth: Growth,
    webhooks: webhooks::Webhooks,
}

impl Events {
    pub fn new(
        base: &Base,
        tenancy: &Tenancy,
        index: &Indexes,
        devices: &Devices,
        sending: &Sending,
        locations: LocationSettings,
    ) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            shared_clock: base.shared_clock.clone(),
            metrics: base.metrics.clone(),
            tenancy: tenancy.clone(),
            index: index.clone(),
            devices: devices.clone(),
            sending: sending.clone(),
            network: sending.network().clone(),
            locations,
            upload_rate: intake::UploadRate::default(),
            former_ids: intake::FormerIds::default(),
            growth: base.growth.clone(),
            webhooks: webhooks::Webhooks::default(),
        }))
    }

    /// The apps whose webhooks have connections or events in memory.
    pub fn apps(&self) -> Vec<AppId> {
        self.0.webhooks.apps()
    }

    /// Gives up the connections to the webhooks of a deleted app, and what is in memory of it.
    pub fn forget_app(&self, app: AppId) {
        self.0.former_ids.forget_app(app);
        self.0.webhooks.forget_app(app);
    }

    /// Gives up the state of webhooks that another node forwards to by now.
    pub fn forget_unused_webhooks(&self) {
        self.0.webhooks.forget_unused(self.0.clock.now());
    }

    /// Events of webhooks that wait in the memory of this process.
    pub fn n_events_in_memory(&self) -> usize {
        self.0.webhooks.n_events()
    }

    /// The kinds of jobs of this room.
    pub fn jobs(&self) -> [jobs::Kind; 2] {
        [jobs::Kind::of::<webhooks::ForwardEvents>(self), jobs::Kind::of::<timeline::NoteSection>(self)]
    }
}
