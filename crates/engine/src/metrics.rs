//! What the service counts about itself, for Prometheus. All names are here.

use std::fmt;

use model::platform::DeviceType;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::{Engine, PlatformFact, PlatformNotice, Result, Taken, WebhookLag};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeliveryLabels {
    platform: String,
    transport: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct JobLabels {
    kind: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PlatformLabels {
    app: String,
    platform: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WebhookLabels {
    app: String,
    webhook: String,
}

/// How the webhooks are doing, as the store knows it: the same on every node, but for what lies in memory.
#[derive(Default)]
struct WebhookGauges {
    records_behind: Family<WebhookLabels, Gauge>,
    seconds_behind: Family<WebhookLabels, Gauge>,
    failing: Family<WebhookLabels, Gauge>,
    disabled: Family<WebhookLabels, Gauge>,
    dead_letters: Family<WebhookLabels, Gauge>,
    given_up: Family<WebhookLabels, Gauge>,
    missed: Family<WebhookLabels, Gauge>,
    delivered: Family<WebhookLabels, Gauge>,
    failed: Family<WebhookLabels, Gauge>,
    /// Of all webhooks together.
    n_kept: Gauge,
}

pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    pushes: Counter,
    deliveries: Family<DeliveryLabels, Counter>,
    events: Family<EventLabels, Counter>,
    jobs: Family<JobLabels, Counter>,
    jobs_waiting: Gauge,
    jobs_running: Gauge,
    indexes: Gauge,
    commits: Counter,
    credentials_expire: Family<PlatformLabels, Gauge>,
    credentials_unreadable: Family<PlatformLabels, Gauge>,
    platforms_paused: Family<PlatformLabels, Gauge>,
    webhooks: WebhookGauges,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("aerogram");
        let metrics = (Family::default(), Counter::default(), Family::default(), Family::default());
        let (requests, pushes, deliveries, jobs) = metrics;
        let (jobs_waiting, jobs_running, indexes) = (Gauge::default(), Gauge::default(), Gauge::default());
        let commits = Counter::default();
        registry.register("http_requests", "Requests answered", Family::clone(&requests));
        registry.register("pushes_accepted", "Pushes accepted", Counter::clone(&pushes));
        registry.register("deliveries", "Deliveries by outcome", Family::clone(&deliveries));
        let events = Family::default();
        registry.register("device_events", "Events of devices by what became of them", Family::clone(&events));
        registry.register("jobs", "Jobs run by outcome", Family::clone(&jobs));
        registry.register("jobs_waiting", "Jobs that wait for their time or for a worker", Gauge::clone(&jobs_waiting));
        registry.register("jobs_running", "Jobs that some node is working on", Gauge::clone(&jobs_running));
        registry.register("audience_indexes", "Apps whose audience index is in memory", Gauge::clone(&indexes));
        registry.register("database_commits", "Write transactions committed by this process", commits.clone());
        let (credentials_expire, credentials_unreadable) = (Family::default(), Family::default());
        let text = "When the credentials for a platform of an app stop working, in seconds since 1970";
        registry.register("platform_credentials_expire_timestamp_seconds", text, Family::clone(&credentials_expire));
        let text = "1 when the credentials for a platform of an app cannot be decrypted";
        registry.register("platform_credentials_unreadable", text, Family::clone(&credentials_unreadable));
        let platforms_paused = Family::default();
        let text =
            "Since when nothing is sent to a platform of an app because its provider refuses us, in seconds since 1970";
        registry.register("platform_paused_since_timestamp_seconds", text, Family::clone(&platforms_paused));
        let webhooks = WebhookGauges::default();
        webhooks.register(&mut registry);
        Self {
            registry,
            requests,
            pushes,
            deliveries,
            events,
            jobs,
            jobs_waiting,
            jobs_running,
            indexes,
            commits,
            credentials_expire,
            credentials_unreadable,
            platforms_paused,
            webhooks,
        }
    }
}

impl Metrics {
    /// `route` is the pattern, never the path, so that ids do not become labels.
    pub fn request(&self, method: &str, route: &str, status: u16) {
        let labels = RequestLabels { method: method.to_owned(), route: route.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
    }

    pub(crate) fn pushes_accepted(&self, n_pushes: u64) {
        self.pushes.inc_by(n_pushes);
    }

    pub(crate) fn delivered(&self, device_type: &DeviceType, transport: &'static str, outcome: &'static str, n: u64) {
        if n > 0 {
            let labels = DeliveryLabels { platform: label(device_type), transport, outcome };
            self.deliveries.get_or_create(&labels).inc_by(n);
        }
    }

    pub(crate) fn events_came_in(&self, became: &Taken) {
        let Taken { taken, repeated, too_old, unreadable, of_nobody } = *became;
        let outcomes = [
            ("taken", taken),
            ("repeated", repeated),
            ("too_old", too_old),
            ("unreadable", unreadable),
            ("unknown_channel", of_nobody),
        ];
        for (outcome, n) in outcomes.into_iter().filter(|(_, n)| *n > 0) {
            self.events.get_or_create(&EventLabels { outcome }).inc_by(n);
        }
    }

    pub(crate) fn job_ran(&self, kind: &str, succeeded: bool) {
        let outcome = if succeeded { "succeeded" } else { "failed" };
        self.jobs.get_or_create(&JobLabels { kind: kind.to_owned(), outcome }).inc();
    }
}

impl Metrics {
    /// Takes the place of what was known: platforms that are gone are not shown any longer.
    fn platforms(&self, notices: Vec<PlatformNotice>) {
        self.credentials_expire.clear();
        self.credentials_unreadable.clear();
        self.platforms_paused.clear();
        for PlatformNotice { app, platform, fact } in notices {
            let labels = PlatformLabels { app: app.as_str().to_owned(), platform: platform.to_string() };
            match fact {
                PlatformFact::Expires(at) => self.credentials_expire.get_or_create(&labels).set(at.seconds()),
                PlatformFact::Paused { since, .. } => self.platforms_paused.get_or_create(&labels).set(since.seconds()),
                PlatformFact::Unreadable => self.credentials_unreadable.get_or_create(&labels).set(1),
            };
        }
    }
}

impl WebhookGauges {
    fn all(&self) -> [(&'static str, &'static str, &Family<WebhookLabels, Gauge>); 9] {
        [
            ("webhook_log_records_behind", "Log records that a webhook has not got past yet", &self.records_behind),
            (
                "webhook_seconds_behind",
                "Age of the oldest log record that a webhook has not got past",
                &self.seconds_behind,
            ),
            ("webhook_failing", "1 while a webhook does not take some event", &self.failing),
            ("webhook_disabled", "1 while a webhook is disabled by the service itself", &self.disabled),
            ("webhook_dead_letters", "Events that were given up and are kept", &self.dead_letters),
            ("webhook_events_given_up", "Events that became dead letters", &self.given_up),
            ("webhook_log_records_missed", "Log records that were deleted before they could be sent", &self.missed),
            ("webhook_events_delivered", "Events that a webhook has taken", &self.delivered),
            ("webhook_attempts_failed", "Requests that a webhook has not answered with success", &self.failed),
        ]
    }

    fn register(&self, registry: &mut Registry) {
        for (name, text, family) in self.all() {
            registry.register(name, text, family.clone());
        }
        let text = "Events that wait in the memory of this process until they are tried again";
        registry.register("webhook_events_in_memory", text, self.n_kept.clone());
    }

    /// Takes the place of what was known.
    fn set(&self, lags: Vec<WebhookLag>, n_kept: usize) {
        self.n_kept.set(i64::try_from(n_kept).unwrap_or(i64::MAX));
        for (_, _, family) in self.all() {
            family.clear();
        }
        for lag in lags {
            let labels = WebhookLabels { app: lag.app.as_str().to_owned(), webhook: lag.webhook.to_string() };
            self.records_behind.get_or_create(&labels).set(lag.records_behind);
            self.seconds_behind.get_or_create(&labels).set(lag.seconds_behind);
            self.failing.get_or_create(&labels).set(lag.is_failing.into());
            self.disabled.get_or_create(&labels).set(lag.is_disabled.into());
            self.dead_letters.get_or_create(&labels).set(lag.tally.n_dead);
            self.given_up.get_or_create(&labels).set(lag.tally.n_given_up);
            self.missed.get_or_create(&labels).set(lag.tally.n_missed);
            self.delivered.get_or_create(&labels).set(lag.tally.n_delivered);
            self.failed.get_or_create(&labels).set(lag.tally.n_failed);
        }
    }
}

/// Tenants name their open platforms as they like, and every label lasts as long as the process: those share one.
fn label(device_type: &DeviceType) -> String {
    match device_type {
        DeviceType::Open(_) => "open".to_owned(),
        DeviceType::Ios
        | DeviceType::Android
        | DeviceType::Amazon
        | DeviceType::Web
        | DeviceType::Wns
        | DeviceType::Sms
        | DeviceType::Mms
        | DeviceType::Email => device_type.to_string(),
    }
}

impl Engine {
    /// All metrics in the text form of Prometheus, with what has to be asked for asked now.
    pub async fn metrics_text(&self) -> Result<String> {
        let metrics = &self.0.metrics;
        let (jobs, leased) = self.0.store.read(store::jobs::depth).await?;
        metrics.jobs_waiting.set(jobs - leased);
        metrics.jobs_running.set(leased);
        metrics.indexes.set(i64::try_from(self.0.audiences.apps().len()).unwrap_or(i64::MAX));
        let commits = self.0.store.commits();
        metrics.commits.inc_by(commits.saturating_sub(metrics.commits.get()));
        metrics.platforms(self.platform_notices().await?);
        metrics.webhooks.set(self.webhook_lags().await?, self.0.webhooks.n_events());
        let mut text = String::new();
        encode(&mut text, &metrics.registry).map_err(|fmt::Error| crate::Error::internal("metrics do not encode"))?;
        Ok(text)
    }
}
