//! The metrics of the service as text for Prometheus: the counters that the rooms raise, and figures from the database. All names
//! are here, below and in `base::Metrics`; docs/operations.md explains each.

mod known;
mod platforms;
mod process;
mod readers;
mod stored;
mod text;
mod webhooks;

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use base::{Error, Metrics, Result};
use boxed::boxed;
use model::time::UtcMillis;
use parking_lot::Mutex;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use store::{Durations, Trouble};
use tokio::time;

use crate::Engine;
use known::KnownGauge;
use platforms::PlatformGauges;
use process::Process;
use readers::ReaderGauges;
pub(crate) use stored::Backlog;
use webhooks::WebhookGauges;

/// Scrapers give up soon after.
const DATABASE_PATIENCE: Duration = Duration::from_secs(5);

/// In which form metrics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsForm {
    OpenMetrics,
    /// The older form of Prometheus.
    Classic,
}

/// Everything that is shown.
pub(crate) struct Exposition {
    /// Held while series are replaced and written: of two scrapes at once, both would add to what one has emptied.
    scraping: Mutex<()>,
    registry: Registry,
    /// About the process, under names without our prefix.
    of_process: Registry,
    jobs_overdue: KnownGauge,
    jobs_overdue_seconds: KnownGauge,
    indexes: Gauge,
    commits: Counter,
    log_reads: Counter,
    log_reads_spared: Counter,
    database_writes_waiting: Gauge,
    database_reads_waiting: Gauge,
    database_up: Gauge,
    database_bytes: KnownGauge,
    database_damaged: Gauge,
    database_records_missing: Gauge,
    clock_in_doubt: Gauge,
    /// 0 where no server has a clock.
    clock_ahead: Gauge<f64, AtomicU64>,
    /// Known where the server has a certificate of its own.
    own_certificate: KnownGauge,
    readers: ReaderGauges,
    platforms: PlatformGauges,
    webhooks: WebhookGauges,
}

impl Exposition {
    pub(crate) fn new(metrics: &Metrics, durations: &Durations) -> Self {
        let mut all = Self {
            scraping: Mutex::default(),
            registry: Registry::with_prefix("aerogram"),
            of_process: Registry::default(),
            jobs_overdue: KnownGauge::default(),
            jobs_overdue_seconds: KnownGauge::default(),
            indexes: Gauge::default(),
            commits: Counter::default(),
            log_reads: Counter::default(),
            log_reads_spared: Counter::default(),
            database_writes_waiting: Gauge::default(),
            database_reads_waiting: Gauge::default(),
            database_up: Gauge::default(),
            database_bytes: KnownGauge::default(),
            database_damaged: Gauge::default(),
            database_records_missing: Gauge::default(),
            clock_in_doubt: Gauge::default(),
            clock_ahead: Gauge::default(),
            own_certificate: KnownGauge::default(),
            readers: ReaderGauges::default(),
            platforms: PlatformGauges::default(),
            webhooks: WebhookGauges::default(),
        };
        metrics.register(&mut all.registry);
        all.register(durations);
        all.of_process.register_collector(Box::new(Process));
        all
    }

    fn register(&mut self, durations: &Durations) {
        let registry = &mut self.registry;
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program that is running", version);
        let text = "Jobs that are due and wait for a worker, counted up to 10000";
        registry.register("jobs_overdue", text, self.jobs_overdue.clone());
        let text = "For how long the first of the jobs has been due that wait for a worker";
        registry.register("jobs_overdue_seconds", text, self.jobs_overdue_seconds.clone());
        registry.register("audience_indexes", "Apps whose audience index is in memory", self.indexes.clone());
        registry.register("database_commits", "Write transactions committed by this process", self.commits.clone());
        let text = "Statements by which this process has read records of logs";
        registry.register("log_reads", text, self.log_reads.clone());
        let text = "Times that records of logs were found in memory instead";
        registry.register("log_reads_spared", text, self.log_reads_spared.clone());
        let text = "Time that write transactions took, from their beginning to the end of their commit";
        registry.register("database_commit_duration_seconds", text, durations.commits.clone());
        let text = "Time that read transactions took";
        registry.register("database_read_duration_seconds", text, durations.reads.clone());
        let text = "Changes that wait for a connection to the database";
        registry.register("database_writes_waiting", text, self.database_writes_waiting.clone());
        let text = "Reads that wait for a connection to the database";
        registry.register("database_reads_waiting", text, self.database_reads_waiting.clone());
        let text = "1 while the database can be read and written, otherwise 0";
        registry.register("database_up", text, self.database_up.clone());
        registry.register("database_bytes", "Room that the database takes on its disk", self.database_bytes.clone());
        let text = "1 while damaged pages are known in the database file, otherwise 0";
        registry.register("database_damaged", text, self.database_damaged.clone());
        let text = "Log records that were missing when the database file was opened";
        registry.register("database_records_missing", text, self.database_records_missing.clone());
        let text = "1 while timed work waits because the clock of the system has jumped, otherwise 0";
        registry.register("clock_in_doubt", text, self.clock_in_doubt.clone());
        let text =
            "By how much the clock of the system is ahead of that of the database's server, or behind it if negative";
        registry.register("clock_ahead_seconds", text, self.clock_ahead.clone());
        let text = "When the certificate that the server shows to callers ends, in seconds since 1970";
        registry.register("tls_certificate_expire_timestamp_seconds", text, self.own_certificate.clone());
        self.readers.register(registry);
        self.platforms.register(registry);
        self.webhooks.register(registry);
    }
}

impl Exposition {
    /// Brings everything up to date and writes it, with nothing in between.
    fn scrape(&self, form: MetricsForm, update: impl FnOnce(&Self)) -> Result<String, fmt::Error> {
        let _turn = self.scraping.lock();
        update(self);
        self.text(form)
    }

    /// The gauges of what the database says.
    fn stored(&self) -> [&KnownGauge; 3] {
        [&self.jobs_overdue, &self.jobs_overdue_seconds, &self.database_bytes]
    }

    pub(crate) fn show_own_certificate(&self, ends: UtcMillis) {
        self.own_certificate.set(Some(ends.0 / 1000));
    }

    fn text(&self, form: MetricsForm) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        encode_registry(&mut text, &self.of_process)?;
        encode_eof(&mut text)?;
        Ok(match form {
            MetricsForm::OpenMetrics => text,
            MetricsForm::Classic => text::classic(&text),
        })
    }
}

#[boxed]
impl Engine {
    /// All metrics as text for Prometheus, with current figures from the database. Their cost does not grow with the
    /// backlog. Without the database, only the counts of the process are left.
    pub async fn metrics_text(&self, form: MetricsForm) -> Result<String> {
        let stored = match time::timeout(DATABASE_PATIENCE, self.read_stored()).await {
            Ok(Ok(stored)) => Some(stored),
            Ok(Err(error)) if !error.is_of_database() => return Err(error),
            Ok(Err(_)) | Err(_) => None,
        };
        let rooms = &self.rooms;
        let text = rooms.exposition.scrape(form, |metrics| {
            metrics.indexes.set(i64::try_from(rooms.index.apps().len()).unwrap_or(i64::MAX));
            let commits = rooms.store.commits();
            metrics.commits.inc_by(commits.saturating_sub(metrics.commits.get()));
            let reads = rooms.store.log_reads();
            metrics.log_reads.inc_by(reads.from_database.saturating_sub(metrics.log_reads.get()));
            metrics.log_reads_spared.inc_by(reads.from_memory.saturating_sub(metrics.log_reads_spared.get()));
            let waiting = rooms.store.waiting();
            metrics.database_writes_waiting.set(i64::try_from(waiting.n_writes).unwrap_or(i64::MAX));
            metrics.database_reads_waiting.set(i64::try_from(waiting.n_reads).unwrap_or(i64::MAX));
            let is_up = matches!(rooms.store.trouble(), None | Some(Trouble::Damaged));
            metrics.database_up.set(i64::from(stored.is_some() && is_up));
            metrics.database_damaged.set(i64::from(rooms.store.is_damaged()));
            metrics.database_records_missing.set(rooms.store.n_missing_records());
            metrics.clock_in_doubt.set(i64::from(!rooms.clock_watch.is_settled()));
            metrics.clock_ahead.set(rooms.shared_clock.ahead_by().unwrap_or(0) as f64 / 1000.0);
            metrics.show_stored(stored);
        });
        text.map_err(|fmt::Error| Error::internal("metrics do not encode"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::WebhookLag;
    use model::app::AppKey;
    use model::device_type::DeviceType;
    use model::event::RejectionStatus;
    use model::ids::{AppId, WebhookId};
    use sending::{Hindrance, PlatformFact, PlatformHealth, PlatformName, PlatformNotice};
    use std::collections::{BTreeSet, HashMap};
    use store::followers::Lag;
    use store::webhooks::Tally;

    /// Every metric with a value; without one it would not be shown.
    fn shown() -> BTreeSet<String> {
        let counters = Metrics::default();
        let metrics = Exposition::new(&counters, &Durations::default());
        counters.request("GET", "/health", 200, Duration::from_millis(3));
        counters.delivered(&DeviceType::Ios, "sandbox", "delivered", 1);
        counters.failed(&DeviceType::Ios, "apns", RejectionStatus::BadDeviceToken, 1);
        counters.events_came_in("taken", 1);
        counters.growth_refused("tags", "total");
        counters.job_begins();
        counters.job_succeeded("sweep");
        for gauge in metrics.stored() {
            gauge.set(Some(0));
        }
        metrics.show_own_certificate(UtcMillis(0));
        let app = AppKey::new("aaaaaaaaaaaaaaaaaaaaaa").unwrap();
        let hindered = |hindrance| {
            let (since, probe_at) = (UtcMillis(0), None);
            PlatformFact::Hindered(PlatformHealth {
                hindrance,
                reason: String::new(),
                since,
                probe_at,
                refuses_addresses: false,
            })
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
        metrics.webhooks.set(vec![webhook_of(&app)], 0);
        let behind = Lag { app: AppId(1), kind: "forward_events".to_owned(), n_records: 0 };
        metrics.readers.set(&HashMap::from([(AppId(1), app)]), vec![behind], vec![(AppId(1), 0)]);
        let text = metrics.text(MetricsForm::Classic).unwrap();
        let described = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        described.map(|(name, _)| name.to_owned()).collect()
    }

    fn webhook_of(app: &AppKey) -> WebhookLag {
        WebhookLag {
            app: app.clone(),
            webhook: WebhookId::at(UtcMillis(0)),
            records_behind: 0,
            seconds_behind: 0,
            is_failing: false,
            is_disabled: false,
            tally: Tally { n_missed: 7, ..Tally::default() },
        }
    }

    /// Otherwise one would count twice what the other has counted, and an alert would tell of events that nobody missed.
    #[test]
    fn of_scrapes_at_once_none_sees_the_half_of_another() {
        let metrics = Exposition::new(&Metrics::default(), &Durations::default());
        let (app, other) = ("a".repeat(22), "b".repeat(22));
        let webhooks = [&app, &other].map(|app| webhook_of(&AppKey::new(app).unwrap()));
        let counts = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.starts_with("aerogram_webhook_log_records_missed_total{"));
            lines.filter_map(|line| line.rsplit(' ').next()).map(str::to_owned).collect()
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let update = |metrics: &Exposition| metrics.webhooks.set(webhooks.to_vec(), 0);
                        let text = metrics.scrape(MetricsForm::Classic, update).unwrap();
                        assert_eq!(counts(&text), ["7", "7"], "{text}");
                    }
                });
            }
        });
    }

    fn is_ours(name: &str) -> bool {
        ["aerogram_", "process_"].iter().any(|prefix| name.starts_with(prefix))
    }

    const RULES: &str = include_str!("../../../packaging/prometheus/aerogram.rules.yml");
    const SITUATIONS: &str = include_str!("../../../packaging/prometheus/aerogram.rules.test.yml");

    /// `scripts/peers` has Prometheus' own tool try the situations.
    #[test]
    fn every_alert_has_a_situation_in_which_it_is_raised_and_one_in_which_it_is_not() {
        let alerts: Vec<&str> = RULES.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
        assert!(alerts.len() >= 21, "{alerts:?}");
        for alert in alerts {
            for line in [format!("alertname: {alert}\n        exp_alerts:"), format!("alertname: {alert}}}\n")] {
                assert!(SITUATIONS.contains(&line), "there is no {line:?}");
            }
        }
    }

    /// Alert rules and the dashboard ask for nothing that there is not.
    #[test]
    fn rules_and_dashboard_know_the_metrics() {
        const DASHBOARD: &str = include_str!("../../../packaging/grafana/aerogram.json");
        let shown = shown();
        for (file, n_least) in [(RULES, 23), (SITUATIONS, 23), (DASHBOARD, 30)] {
            let words = file.split(|c: char| !c.is_ascii_lowercase() && c != '_');
            let asked: BTreeSet<&str> = words.filter(|word| is_ours(word)).collect();
            let unknown: Vec<&&str> =
                asked.iter().filter(|name| !shown.contains(name.strip_suffix("_bucket").unwrap_or(name))).collect();
            assert!(unknown.is_empty(), "{unknown:?}");
            assert!(asked.len() >= n_least, "{asked:?}");
        }
    }

    /// The table of docs/operations.md has every metric, and the document speaks of no other.
    #[test]
    fn the_documentation_explains_every_metric() {
        const DOCUMENT: &str = include_str!("../../../docs/operations.md");
        let words = DOCUMENT.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        let mentioned: BTreeSet<String> = words.filter(|word| is_ours(word)).map(str::to_owned).collect();
        let shown = shown();
        assert_eq!(mentioned, shown);
        let rows = DOCUMENT.lines().filter(|line| line.strip_prefix("| `").is_some_and(is_ours));
        assert_eq!(rows.count(), shown.len(), "each has a row of its own");
    }
}
