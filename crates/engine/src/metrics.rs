//! The metrics of the service, for Prometheus. All names are here and below; docs/operations.md explains each.

mod known;
mod platforms;
mod webhooks;

use std::fmt;
use std::time::Duration;

use model::device_type::DeviceType;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use store::jobs::Backlog;
use tokio::time;

use crate::{Engine, Result, Taken};
use known::KnownGauge;
use platforms::PlatformGauges;
use webhooks::WebhookGauges;

/// A larger backlog is no worse, and costs more to count.
const COUNTED_JOBS: u32 = 10_000;
/// Scrapers give up soon after.
const DATABASE_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeliveryLabels {
    device_type: String,
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

/// The durations of ordinary requests are in the middle.
const DURATIONS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

type Durations = Family<RouteLabels, Histogram, fn() -> Histogram>;

pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Durations,
    pushes: Counter,
    deliveries: Family<DeliveryLabels, Counter>,
    events: Family<EventLabels, Counter>,
    jobs: Family<JobLabels, Counter>,
    jobs_running: Gauge,
    jobs_overdue: KnownGauge,
    jobs_overdue_seconds: KnownGauge,
    indexes: Gauge,
    commits: Counter,
    database_up: Gauge,
    database_bytes: KnownGauge,
    platforms: PlatformGauges,
    webhooks: WebhookGauges,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("aerogram"),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(DURATIONS)),
            pushes: Counter::default(),
            deliveries: Family::default(),
            events: Family::default(),
            jobs: Family::default(),
            jobs_running: Gauge::default(),
            jobs_overdue: KnownGauge::default(),
            jobs_overdue_seconds: KnownGauge::default(),
            indexes: Gauge::default(),
            commits: Counter::default(),
            database_up: Gauge::default(),
            database_bytes: KnownGauge::default(),
            platforms: PlatformGauges::default(),
            webhooks: WebhookGauges::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("http_requests", "Requests answered", self.requests.clone());
        let text = "Time until the answer to a request began";
        registry.register("http_request_duration_seconds", text, self.durations.clone());
        registry.register("pushes_accepted", "Pushes accepted", self.pushes.clone());
        registry.register("deliveries", "Deliveries by outcome", self.deliveries.clone());
        registry.register("device_events", "Events of devices by what became of them", self.events.clone());
        registry.register("jobs", "Jobs run by outcome", self.jobs.clone());
        registry.register("jobs_running", "Jobs that this process is working on", self.jobs_running.clone());
        let text = "Jobs that are due and wait for a worker, counted up to 10000";
        registry.register("jobs_overdue", text, self.jobs_overdue.clone());
        let text = "For how long the first of the jobs has been due that wait for a worker";
        registry.register("jobs_overdue_seconds", text, self.jobs_overdue_seconds.clone());
        registry.register("audience_indexes", "Apps whose audience index is in memory", self.indexes.clone());
        registry.register("database_commits", "Write transactions committed by this process", self.commits.clone());
        let text = "1 while the database can be read and written, otherwise 0";
        registry.register("database_up", text, self.database_up.clone());
        registry.register("database_bytes", "Room that the database takes on its disk", self.database_bytes.clone());
        self.platforms.register(registry);
        self.webhooks.register(registry);
    }

    /// `route` is the pattern, never the path, so that ids do not become labels.
    pub fn request(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let labels = RouteLabels { method, route: route.to_owned() };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        let labels = RequestLabels { method, route: labels.route, status };
        self.requests.get_or_create(&labels).inc();
    }

    pub(crate) fn pushes_accepted(&self, n_pushes: u64) {
        self.pushes.inc_by(n_pushes);
    }

    pub(crate) fn delivered(&self, device_type: &DeviceType, transport: &'static str, outcome: &'static str, n: u64) {
        if n > 0 {
            let labels = DeliveryLabels { device_type: label(device_type), transport, outcome };
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

    pub(crate) fn job_begins(&self) {
        self.jobs_running.inc();
    }

    pub(crate) fn job_ends(&self) {
        self.jobs_running.dec();
    }

    pub(crate) fn job_succeeded(&self, kind: &str) {
        self.count_job(kind, "succeeded");
    }

    pub(crate) fn job_failed(&self, kind: &str) {
        self.count_job(kind, "failed");
    }

    fn count_job(&self, kind: &str, outcome: &'static str) {
        self.jobs.get_or_create(&JobLabels { kind: kind.to_owned(), outcome }).inc();
    }
}

/// Tenants choose the names of open platforms, and every label lasts as long as the process: so all of them share one.
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

impl Metrics {
    /// Figures from the database are not shown while it cannot be asked.
    fn forget_stored(&self) {
        for gauge in [&self.jobs_overdue, &self.jobs_overdue_seconds, &self.database_bytes] {
            gauge.set(None);
        }
        self.platforms.forget();
        self.webhooks.forget();
    }
}

impl Engine {
    /// All metrics in the text form of Prometheus, with current figures from the database. Their cost does not grow with the
    /// backlog. Without the database, only the counts of the process are left.
    pub async fn metrics_text(&self) -> Result<String> {
        let metrics = &self.0.metrics;
        metrics.indexes.set(i64::try_from(self.0.audiences.apps().len()).unwrap_or(i64::MAX));
        let commits = self.0.store.commits();
        metrics.commits.inc_by(commits.saturating_sub(metrics.commits.get()));
        let is_read = match time::timeout(DATABASE_PATIENCE, self.read_metrics()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) if !error.is_of_database() => return Err(error),
            Ok(Err(_)) | Err(_) => false,
        };
        if !is_read {
            metrics.forget_stored();
        }
        metrics.database_up.set(i64::from(is_read && self.0.store.trouble().is_none()));
        let mut text = String::new();
        encode(&mut text, &metrics.registry).map_err(|fmt::Error| crate::Error::internal("metrics do not encode"))?;
        Ok(text)
    }

    async fn read_metrics(&self) -> Result<()> {
        let (metrics, now) = (&self.0.metrics, self.0.clock.now());
        let read = move |tx: &mut store::Tx<'_>| {
            Ok::<_, store::Error>((store::jobs::backlog(tx, now, COUNTED_JOBS)?, tx.database_bytes()?))
        };
        let (Backlog { n_overdue, longest_due }, n_bytes) = self.0.store.read(read).await?;
        metrics.jobs_overdue.set(Some(n_overdue));
        let overdue_s = longest_due.map_or(0, |due| (now.0 - due.0) / 1000);
        metrics.jobs_overdue_seconds.set(Some(overdue_s));
        metrics.database_bytes.set(Some(n_bytes));
        if metrics.platforms.should_examine(now) {
            metrics.platforms.set_credentials(self.credential_notices().await?, now);
        }
        metrics.platforms.set_health(self.health_notices().await?);
        metrics.webhooks.set(self.webhook_lags().await?, self.0.webhooks.n_events());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hindrance, PlatformFact, PlatformHealth, PlatformName, PlatformNotice, WebhookLag};
    use model::app::AppKey;
    use model::ids::WebhookId;
    use model::time::UtcMillis;
    use std::collections::BTreeSet;

    /// Every metric with a value; without one it would not be shown.
    fn shown() -> BTreeSet<String> {
        let metrics = Metrics::default();
        metrics.request("GET", "/health", 200, Duration::from_millis(3));
        metrics.delivered(&DeviceType::Ios, "sandbox", "delivered", 1);
        metrics.events_came_in(&Taken { taken: 1, ..Taken::default() });
        metrics.job_begins();
        metrics.job_succeeded("sweep");
        for gauge in [&metrics.jobs_overdue, &metrics.jobs_overdue_seconds, &metrics.database_bytes] {
            gauge.set(Some(0));
        }
        let app = AppKey::new("aaaaaaaaaaaaaaaaaaaaaa").unwrap();
        let hindered = |hindrance| {
            let (since, probe_at) = (UtcMillis(0), UtcMillis(0));
            PlatformFact::Hindered(PlatformHealth { hindrance, reason: String::new(), since, probe_at })
        };
        let facts = [
            PlatformFact::Expires(UtcMillis(0)),
            hindered(Hindrance::Refused),
            hindered(Hindrance::Down),
            PlatformFact::Unreadable,
        ];
        let notice =
            |fact| PlatformNotice { app: app.clone(), platform: PlatformName::from_name("apns").unwrap(), fact };
        metrics.platforms.set_credentials(facts.into_iter().map(notice).collect(), UtcMillis(0));
        let lag = WebhookLag {
            app: app.clone(),
            webhook: WebhookId::at(UtcMillis(0)),
            records_behind: 0,
            seconds_behind: 0,
            is_failing: false,
            is_disabled: false,
            tally: Default::default(),
        };
        metrics.webhooks.set(vec![lag], 0);
        let mut text = String::new();
        encode(&mut text, &metrics.registry).unwrap();
        let described = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        described.map(|(name, kind)| format!("{name}{}", if kind == "counter" { "_total" } else { "" })).collect()
    }

    /// The table of docs/operations.md has every metric, and the document speaks of no other.
    #[test]
    fn the_documentation_explains_every_metric() {
        const DOCUMENT: &str = include_str!("../../../docs/operations.md");
        let words = DOCUMENT.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        let mentioned: BTreeSet<String> =
            words.filter(|word| word.starts_with("aerogram_")).map(str::to_owned).collect();
        let shown = shown();
        assert_eq!(mentioned, shown);
        let rows = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| `aerogram_"));
        assert_eq!(rows.count(), shown.len(), "each has a row of its own");
    }
}
