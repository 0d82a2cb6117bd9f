//! The rooms of the service, put together: each has a handle, which the engine hands out, and none knows the ones above it. What
//! needs all of them is here: following the log, sweeping, retention, metrics, the key of the installation, and looking after the
//! database.

mod clock_doubt;
mod database_check;
mod ending_credentials;
mod follow;
mod health;
mod installation;
mod metrics;
mod nodes;
mod privacy;
mod retention;
mod search;
mod sweep;

use std::path::PathBuf;
use std::sync::Arc;

use accounts::Accounts;
use base::{Base, ClockWatch, SharedClock};
use boxed::boxed;
use campaigns::Campaigns;
use devices::{Devices, LocationSettings};
use events::Events;
use index::Indexes;
use jobs::{Jobs, Worker};
use live::Live;
use model::time::Clock;
use providers::Trust;
use providers::http::{AddressPolicy, Timeouts};
use providers::webpush::PushHosts;
use remote_data::RemoteData;
use sending::{Outside, Sending};
use store::Store;
use targeting::Targeting;
use tenancy::{SealKey, Tenancy};

pub use base::{Error, Findings, Found, FoundKind, GrowthLimits, Metrics, Quota, Result, SETTLES_IN, SearchText};
pub use campaigns::PipelineLimits;
pub use database_check::PageCheckTimes;
pub use health::{Health, WithoutCredentials};
pub use installation::{Lost, LostThing, WRONG_KEY, accept_key, has_key, is_open_to};
pub use metrics::MetricsForm;
pub use nodes::{Measured, NodeFacts, NodeView};
pub use privacy::{AskedPrivacy, PrivacyView, TableReceipt};
pub use retention::Retention;
pub use store::privacy::RequestKind as PrivacyKind;
pub use store::{Pages, Trouble};

/// Settings of the engine beyond its parts.
pub struct Settings {
    /// Seals everything secret that must be readable again. A database belongs to one key; with another the engine does not
    /// start.
    pub seal_key: SealKey,
    /// Lets webhooks, open platforms and provider endpoints point at private addresses.
    pub allow_private_addresses: bool,
    /// Where clients reach this service, without a slash at the end; for absolute links.
    pub public_url: String,
    /// Where snapshots of the audience indexes are kept; without a folder every start reads all channels.
    pub snapshot_folder: Option<PathBuf>,
    /// For how long the log and pushes are kept.
    pub retention: Retention,
    pub locations: LocationSettings,
    /// How many pipelines each app may have.
    pub pipelines: PipelineLimits,
    /// What devices may create.
    pub growth: GrowthLimits,
    /// Which certificates providers, open platforms and webhooks may have.
    pub trust: Trust,
    /// How long providers and open platforms may take to answer.
    pub timeouts: Timeouts,
    /// Where the push services of browsers are.
    pub push_hosts: PushHosts,
    pub page_checks: PageCheckTimes,
}

/// A handle on the running service; clones share everything.
#[derive(Clone)]
pub struct Engine {
    rooms: Arc<Rooms>,
    jobs: Jobs,
}

struct Rooms {
    store: Store,
    clock: Clock,
    clock_watch: ClockWatch,
    shared_clock: SharedClock,
    noted_doubt: clock_doubt::NotedDoubt,
    this_node: nodes::ThisNode,
    told_ends: ending_credentials::ToldPlatforms,
    told_certificate: ending_credentials::ToldCertificate,
    metrics: Metrics,
    exposition: metrics::Exposition,
    retention: Retention,
    page_checks: PageCheckTimes,
    tenancy: Tenancy,
    accounts: Accounts,
    index: Indexes,
    devices: Devices,
    targeting: Targeting,
    sending: Sending,
    live: Live,
    events: Events,
    campaigns: Campaigns,
    remote_data: RemoteData,
}

#[boxed]
impl Engine {
    /// Prepares the store for this process and builds the rooms around it. Nothing runs until a [`Worker`] does.
    pub async fn start(store: Store, clock: Clock, settings: Settings) -> Result<Self> {
        let base = Base::new(store, clock, settings.growth);
        base.shared_clock.compare(&base.store).await;
        let address_policy = AddressPolicy { allow_private: settings.allow_private_addresses };
        let tenancy = Tenancy::new(&base, settings.seal_key);
        let accounts = Accounts::new(&base, &tenancy);
        let index = Indexes::new(&base, &tenancy, settings.snapshot_folder);
        let devices = Devices::new(&base, &tenancy, &index, settings.locations);
        let targeting = Targeting::new(&base, &tenancy, &index, &devices);
        let Settings { trust, timeouts, push_hosts, public_url, .. } = settings;
        let outside = Outside { trust, address_policy, timeouts, push_hosts, public_url };
        let sending = Sending::new(&base, &tenancy, &index, &devices, &targeting, outside);
        let live = Live::new(&base, &tenancy, &index, &devices);
        let events = Events::new(&base, &tenancy, &index, &devices, &sending, settings.locations);
        let campaigns = Campaigns::new(&base, &tenancy, &index, &targeting, &sending, &events, settings.pipelines);
        let remote_data = RemoteData::new(&base, &tenancy, &targeting, &sending);
        let rooms = Arc::new(Rooms {
            exposition: metrics::Exposition::new(&base.metrics, base.store.durations()),
            retention: settings.retention,
            page_checks: settings.page_checks,
            tenancy,
            accounts,
            index,
            devices,
            targeting,
            sending,
            live,
            events,
            campaigns,
            remote_data,
            store: base.store.clone(),
            clock: base.clock.clone(),
            clock_watch: base.clock_watch.clone(),
            shared_clock: base.shared_clock.clone(),
            noted_doubt: clock_doubt::NotedDoubt::default(),
            this_node: nodes::ThisNode::default(),
            told_ends: ending_credentials::Told::default(),
            told_certificate: ending_credentials::Told::default(),
            metrics: base.metrics.clone(),
        });
        let jobs = Jobs::new(&base, rooms.all_jobs());
        let engine = Self { rooms, jobs };
        engine.claim_installation().await?;
        engine.resume_doubt().await?;
        engine.jobs.release_own_leases().await?;
        engine.rooms.ensure_sweep().await?;
        engine.try_disk().await?;
        Ok(engine)
    }

    /// Apps, their secrets and their callers.
    pub fn tenancy(&self) -> &Tenancy {
        &self.rooms.tenancy
    }

    /// The people who use the console.
    pub fn accounts(&self) -> &Accounts {
        &self.rooms.accounts
    }

    /// The audience indexes in memory.
    pub fn index(&self) -> &Indexes {
        &self.rooms.index
    }

    /// Channels, named users and contacts.
    pub fn devices(&self) -> &Devices {
        &self.rooms.devices
    }

    /// Audiences, segments and lists.
    pub fn targeting(&self) -> &Targeting {
        &self.rooms.targeting
    }

    /// Pushes, platforms and inboxes.
    pub fn sending(&self) -> &Sending {
        &self.rooms.sending
    }

    /// The live connections of devices to this node.
    pub fn live(&self) -> &Live {
        &self.rooms.live
    }

    /// Events in and out, webhooks and reports.
    pub fn events(&self) -> &Events {
        &self.rooms.events
    }

    /// Schedules, experiments, pipelines and templates.
    pub fn campaigns(&self) -> &Campaigns {
        &self.rooms.campaigns
    }

    /// In-app messages, preference forms, feature flags and configuration for devices.
    pub fn remote_data(&self) -> &RemoteData {
        &self.rooms.remote_data
    }

    pub fn store(&self) -> &Store {
        &self.rooms.store
    }

    pub fn clock(&self) -> &Clock {
        &self.rooms.clock
    }

    pub fn metrics(&self) -> &Metrics {
        &self.rooms.metrics
    }

    /// A worker that runs the jobs of all rooms.
    pub fn worker(&self) -> Worker {
        Worker::new(self.jobs.clone())
    }
}

impl Rooms {
    /// Every kind of job there is.
    fn all_jobs(self: &Arc<Self>) -> Vec<jobs::Kind> {
        let mut kinds = vec![jobs::Kind::of::<sweep::Sweep>(self)];
        kinds.extend(self.privacy_jobs());
        kinds.extend(self.tenancy.jobs());
        kinds.extend(self.devices.jobs());
        kinds.extend(self.targeting.jobs());
        kinds.extend(self.sending.jobs());
        kinds.extend(self.events.jobs());
        kinds.extend(self.campaigns.jobs());
        kinds
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use testkit::store::{Database, fresh};

    use super::*;

    pub(crate) fn settings() -> Settings {
        Settings {
            seal_key: SealKey::new(&[7; 32]),
            allow_private_addresses: false,
            trust: Trust::of_system(),
            public_url: "http://localhost".to_owned(),
            snapshot_folder: None,
            retention: Retention::default(),
            locations: LocationSettings::default(),
            pipelines: PipelineLimits::DEFAULT,
            growth: GrowthLimits::NONE,
            timeouts: testkit::client::PATIENCE,
            push_hosts: PushHosts::default(),
            page_checks: PageCheckTimes::default(),
        }
    }

    /// The names are stored with the jobs that wait: never change one. A job that no room hands over would never run.
    #[tokio::test]
    async fn every_kind_of_job_has_its_name() {
        let (store, _home) = fresh(Database::Sqlite).await;
        let engine = Engine::start(store, Clock::stepped(testkit::app::START), settings()).await.unwrap();
        let names: BTreeSet<_> = engine.rooms.all_jobs().iter().map(jobs::Kind::name).collect();
        let expected = [
            "apply_changes",
            "apply_list",
            "check_inactivity",
            "clear_waiting_list",
            "delete_messages",
            "deliver",
            "erase_app",
            "erase_person",
            "export_person",
            "fire_pipeline",
            "fire_schedule",
            "fire_variant",
            "follow_triggers",
            "forget_tag",
            "forward_events",
            "move_through_journeys",
            "note_section",
            "resolve",
            "sweep",
            "watch_experiments",
            "withhold_control_group",
        ];
        assert_eq!(names, BTreeSet::from(expected));
    }
}
