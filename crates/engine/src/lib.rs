//! The behavior of the service. The only crate that joins the store, the audience index and the providers.

mod apps;
mod attributes;
mod audience;
mod back_off;
mod callers;
mod causes;
mod change_context;
mod channels;
mod contacts;
mod credentials;
mod database_check;
mod deliver;
mod device_tokens;
mod error;
mod evaluation;
mod events;
mod experiments;
mod explain;
mod feeds;
mod follow;
mod health;
mod holdings;
mod idempotency;
mod inbox;
mod installation;
mod intake;
mod job;
mod journal;
mod known;
mod legacy_tags;
mod lifecycle;
mod lists;
mod locations;
mod metrics;
mod named_users;
mod pages;
mod part;
mod pipelines;
mod plan;
mod platforms;
mod push;
mod reach;
mod recent;
mod reports;
mod resolve;
mod retention;
mod sandbox;
mod schedules;
mod seal;
mod segments;
mod senders;
mod signatures;
mod snapshots;
mod subscriptions;
mod sweep;
mod templates;
mod webhooks;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use model::time::Clock;
use providers::Network;
use providers::http::{AddressPolicy, Client, Timeouts};
use store::Store;

pub use crate::audience::build as build_audience_index;
pub use apps::{AppChange, CreatedApp, NewApp, RotatedSecrets, SecretChoice};
pub use attributes::Attributes;
pub use callers::{Caller, KnownBy, Rights};
pub use channels::{ChannelView, Registered, RegisteredOpen};
pub use contacts::Contact;
pub use device_tokens::DeviceToken;
pub use error::{Error, Result};
pub use events::{EventClause, EventFeed, EventFilter, EventPage, PublicEvent};
pub use experiments::{
    CreatedExperiment, ExperimentDeletion, ExperimentPage, ExperimentResults, ExperimentView, VariantResults,
};
pub use explain::{Clause, DeviceTypeCount, Effect, Explanation, Warning};
pub use health::{Hindrance, PlatformHealth};
pub use idempotency::IdempotencyKey;
pub use inbox::{CreatedInbox, GroupDeletion, Inbox, InboxCaller, InboxView, Mark, MessageBody, MessageView};
pub use installation::{Lost, LostThing, WRONG_KEY, accept_key, has_key, is_open_to};
pub use intake::{Taken, Upload};
pub use lists::{BadRow, ListContent, ListStatus, ListUpload, ListView};
pub use locations::{LocationSettings, MOST_KEPT_DAYS};
pub use metrics::Metrics;
pub use named_users::NamedUserView;
pub use pipelines::{CreatedPipelines, DeletedPipeline, PipelineCounts, PipelinePage, PipelineView};
pub use platforms::{
    Configured, OpenPlatformChange, PlatformFact, PlatformName, PlatformNotice, PlatformView, ProviderChange,
    ShownConfig,
};
pub use push::{AcceptedPushes, LocalizedId, PlatformProgress, PushControl, PushOfApp, PushStatus};
pub use reports::{Buckets, Counts, DeviceCounts, Devices, EventTotals, GroupReport, PushReport, Series};
pub use retention::Retention;
pub use sandbox::SandboxFeed;
pub use schedules::{CreatedSchedules, NamedSchedule, SchedulePage, ScheduleView};
pub use seal::SealKey;
pub use segments::{CreatedSegment, SegmentView};
pub use signatures::{Bearer, Refusal};
pub use subscriptions::SubscriptionListView;
pub use templates::{
    CreatedTemplate, CreatedTemplateSchedules, SentTemplates, TemplatePage, TemplateSort, TemplateView,
};
pub use webhooks::{
    CreatedWebhook, Redelivered, ReplayFrom, WebhookLag, WebhookProof, WebhookStart, WebhookState, WebhookView,
};
pub use worker::Worker;

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
    /// How long providers and open platforms may take to answer.
    pub timeouts: Timeouts,
}

/// A handle on the running service; clones share everything.
#[derive(Clone)]
pub struct Engine(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    http: Client,
    address_policy: AddressPolicy,
    public_url: String,
    snapshots: snapshots::Snapshots,
    retention: Retention,
    seal_key: SealKey,
    apps: callers::KnownApps,
    contact_keys: contacts::ContactKeys,
    audiences: audience::Audiences,
    recent: recent::RecentDeliveries,
    upload_rate: intake::UploadRate,
    explaining: explain::Turns,
    evaluations: evaluation::Evaluations,
    locations: LocationSettings,
    senders: senders::Senders,
    watches: pipelines::Watches,
    webhooks: webhooks::Webhooks,
    running: worker::Running,
    /// Held by the worker that wakes those who follow the log.
    waking: tokio::sync::Mutex<()>,
    metrics: Metrics,
    /// Said once: after the key was lost there may be many of them.
    unreadable_answers: std::sync::Once,
}

impl Engine {
    /// Prepares the store for this process and builds the engine around it. Nothing runs until a [`Worker`] does.
    pub async fn start(store: Store, clock: Clock, settings: Settings) -> Result<Self> {
        let address_policy = AddressPolicy { allow_private: settings.allow_private_addresses };
        let network = Network::with_timeouts(address_policy, settings.timeouts);
        let engine = Self(Arc::new(Parts {
            http: network.http().clone(),
            senders: senders::Senders::new(network),
            webhooks: webhooks::Webhooks::default(),
            running: worker::Running::default(),
            waking: tokio::sync::Mutex::default(),
            address_policy,
            public_url: settings.public_url,
            snapshots: snapshots::Snapshots(settings.snapshot_folder),
            retention: settings.retention,
            seal_key: settings.seal_key,
            apps: callers::KnownApps::default(),
            contact_keys: contacts::ContactKeys::default(),
            audiences: audience::Audiences::default(),
            watches: pipelines::Watches::default(),
            recent: recent::RecentDeliveries::default(),
            upload_rate: intake::UploadRate::default(),
            explaining: explain::Turns::default(),
            evaluations: evaluation::Evaluations::default(),
            locations: settings.locations,
            metrics: Metrics::default(),
            unreadable_answers: std::sync::Once::new(),
            store,
            clock,
        }));
        engine.claim_installation().await?;
        engine.release_own_leases().await?;
        engine.ensure_sweep().await?;
        Ok(engine)
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub fn public_url(&self) -> &str {
        &self.0.public_url
    }

    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }
}
