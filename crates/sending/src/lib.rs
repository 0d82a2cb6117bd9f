//! From an accepted push to every device it is for: checking, resolving and delivering it, the platforms that it goes through, and
//! the inboxes and pages that it fills.

mod account;
mod bulk;
pub mod causes;
mod content_templates;
mod deliver;
pub mod experiment_groups;
mod health;
mod inbox;
mod pages;
pub mod part;
mod personal;
mod platforms;
mod push;
mod reach;
mod recent;
mod resolve;
mod sandbox;
mod senders;
mod tests_of_pushes;

use std::sync::Arc;

use base::{Base, Metrics, SharedClock};
use devices::Devices;
use index::Indexes;
use model::ids::AppId;
use model::time::Clock;
use providers::http::{AddressPolicy, Client, Timeouts};
use providers::webpush::PushHosts;
use providers::{Network, Trust};
use store::Store;
use targeting::Targeting;
use tenancy::Tenancy;

pub use account::{
    Person, Recipient, RecipientsPage, RecipientsQuery, RecipientsStart, Response, Standing, Step, StepName,
    WantedRecipients, Why, WhyOfDevice, fold_responses, union_of_sets,
};
pub use bulk::BulkUpload;
pub use causes::Causes;
pub use content_templates::{ContentTemplateName, ContentTemplateView, all_content_templates, find_content_template};
pub use deliver::{Preview, PreviewFor, PreviewedMessage, Previews};
pub use health::{Hindrance, PlatformHealth};
pub use inbox::{
    CreatedInbox, GroupDeletion, Inbox, InboxCaller, InboxView, Mark, MessageBody, MessageView, Unread,
    messages_held_by, unread_of,
};
pub use platforms::{
    Configured, Lacking, PlatformFact, PlatformName, PlatformNotice, PlatformView, ProviderChange, ShownConfig, WebPush,
};
pub use push::{
    AcceptedPushes, ListedPush, LocalizedId, NewPush, OriginFilter, PlatformProgress, PushControl, PushFilter,
    PushOfApp, PushStatus, Registry, RequestPath, StateFilter, WithPushes, pushes_between,
    refuse_expiries_beyond_providers, refuse_unfit, refuse_unsupported, refuse_unsupported_in_group, stored_push,
};
pub use recent::{Deliveries, INFLUENCE, RECIPIENTS_KEPT_FOR, Recent, RecentPush};
pub use resolve::{ByDeviceType, Excluded, Sorted, recipients_among, sort_for, union, write_left_out};
pub use sandbox::{SandboxFeed, SandboxPush, SandboxQuery};
pub use store::pushes::{PushState, Which};
pub use store::sandbox::{Filter as SandboxFilter, SandboxDelivery};

/// Everything that sends; clones share everything.
#[derive(Clone)]
pub struct Sending(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    /// For when jobs are due, which other nodes may run.
    shared_clock: SharedClock,
    metrics: Metrics,
    tenancy: Tenancy,
    index: Indexes,
    devices: Devices,
    targeting: Targeting,
    http: Client,
    network: Network,
    address_policy: AddressPolicy,
    public_url: String,
    recent: recent::RecentDeliveries,
    senders: senders::Senders,
}

/// How the outside world is reached.
pub struct Outside {
    /// Which certificates they may have.
    pub trust: Trust,
    /// Which addresses providers and open platforms may have.
    pub address_policy: AddressPolicy,
    /// How long they may take to answer.
    pub timeouts: Timeouts,
    /// Where the push services of browsers are.
    pub push_hosts: PushHosts,
    /// Where clients reach this service, without a slash at the end; for absolute links.
    pub public_url: String,
}

impl Sending {
    pub fn new(
        base: &Base,
        tenancy: &Tenancy,
        index: &Indexes,
        devices: &Devices,
        targeting: &Targeting,
        outside: Outside,
    ) -> Self {
        let network = Network::trusting(outside.trust, outside.address_policy, outside.timeouts)
            .with_push_hosts(outside.push_hosts);
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            shared_clock: base.shared_clock.clone(),
            metrics: base.metrics.clone(),
            tenancy: tenancy.clone(),
            index: index.clone(),
            devices: devices.clone(),
            targeting: targeting.clone(),
            http: network.http().clone(),
            network: network.clone(),
            address_policy: outside.address_policy,
            public_url: outside.public_url,
            recent: recent::RecentDeliveries::default(),
            senders: senders::Senders::new(network),
        }))
    }

    /// How the outside world is reached.
    pub fn network(&self) -> &Network {
        &self.0.network
    }

    pub fn public_url(&self) -> &str {
        &self.0.public_url
    }

    /// The apps whose credentials and connections are in memory.
    pub fn apps(&self) -> Vec<AppId> {
        self.0.senders.apps()
    }

    /// Gives up the credentials and connections of a deleted app.
    pub fn forget_app(&self, app: AppId) {
        self.0.senders.forget_app(app);
    }

    /// Gives up the recent deliveries of deleted apps.
    pub fn retain_recent(&self, exists: impl Fn(AppId) -> bool) {
        self.0.recent.retain(exists);
    }

    /// The kinds of jobs of this room.
    pub fn jobs(&self) -> [jobs::Kind; 4] {
        [
            jobs::Kind::of::<resolve::Resolve>(self),
            jobs::Kind::of::<deliver::Deliver>(self),
            jobs::Kind::of::<inbox::DeleteMessages>(self),
            jobs::Kind::of::<experiment_groups::WatchExperiments>(self),
        ]
    }
}
