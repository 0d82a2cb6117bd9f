//! The metrics of the service as text for Prometheus: the counters that the rooms raise, and figures from the database. All names
//! are here, below and in `base::Metrics`; docs/operations.md explains each.

mod known;
mod platforms;
mod webhooks;

use std::fmt;
use std::time::Duration;

use base::{Error, Metrics, Result};
use boxed::boxed;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use store::Trouble;
use tokio::time;

use crate::Engine;
use known::KnownGauge;
use platforms::PlatformGauges;
use webhooks::WebhookGauges;

/// A larger backlog is no worse, and costs more to count.
const COUNTED_JOBS: u32 = 10_000;
/// Scrapers give up soon after.
const DATABASE_PATIENCE: Duration = Duration::from_secs(5);

/// What waits, and how large the database is.
pub(crate) struct Backlog {
    /// Counted up to [`COUNTED_JOBS`].
    pub(crate) n_overdue: i64,
    /// For how long the first of them is due.
    pub(crate) overdue_seconds: i64,
    pub(crate) database_bytes: i64,
}

/// Everything that is shown.
pub(crate) struct Exposition {
    registry: Registry,
    jobs_overdue: KnownGauge,
    jobs_overdue_seconds: KnownGauge,
    indexes: Gauge,
    commits: Counter,
    log_reads: Counter,
    log_reads_spared: Counter,
    database_up: Gauge,
    database_bytes: KnownGauge,
    database_damaged: Gauge,
    database_records_missing: Gauge,
    clock_in_doubt: Gauge,
    platforms: PlatformGauges,
    webhooks: WebhookGauges,
}

impl Exposition {
    pub(crate) fn new(metrics: &Metrics) -> Self {
        let mut all = Self {
            registry: Registry::with_prefix("aerogram"),
            jobs_overdue: KnownGauge::default(),
            jobs_overdue_seconds: KnownGauge::default(),
            indexes: Gauge::default(),
            commits: Counter::default(),
            log_reads: Counter::default(),
            log_reads_spared: Counter::default(),
            database_up: Gauge::default(),
            database_bytes: KnownGauge::default(),
            database_damaged: Gauge::default(),
            database_records_missing: Gauge::default(),
            clock_in_doubt: Gauge::default(),
            platforms: PlatformGauges::default(),
            webhooks: WebhookGauges::default(),
        };
        metrics.register(&mut all.registry);
        all.register();
        all
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
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
        let text = "1 while the database can be read and written, otherwise 0";
        registry.register("database_up", text, self.database_up.clone());
        registry.register("database_bytes", "Room that the database takes on its disk", self.database_bytes.clone());
        let text = "1 while damaged pages are known in the database file, otherwise 0";
        registry.register("database_damaged", text, self.database_damaged.clone());
        let text = "Log records that were missing when the database file was opened";
        registry.register("database_records_missing", text, self.database_records_missing.clone());
        let text = "1 while timed work waits because the clock of the system has jumped, otherwise 0";
        registry.register("clock_in_doubt", text, self.clock_in_doubt.clone());
        self.platforms.register(registry);
        self.webhooks.register(registry);
    }
}

impl Exposition {
    /// Figures from the database are not shown while it cannot be asked.
    fn forget_stored(&self) {
        for gauge in [&self.jobs_overdue, &self.jobs_overdue_seconds, &self.database_bytes] {
            gauge.set(None);
        }
        self.platforms.forget();
        self.webhooks.forget();
    }
}

#[boxed]
impl Engine {
    /// All metrics in the text form of Prometheus, with current figures from the database. Their cost does not grow with the
    /// backlog. Without the database, only the counts of the process are left.
    pub async fn metrics_text(&self) -> Result<String> {
        let metrics = &self.rooms.exposition;
        metrics.indexes.set(i64::try_from(self.rooms.index.apps().len()).unwrap_or(i64::MAX));
        let commits = self.rooms.store.commits();
        metrics.commits.inc_by(commits.saturating_sub(metrics.commits.get()));
        let reads = self.rooms.store.log_reads();
        metrics.log_reads.inc_by(reads.from_database.saturating_sub(metrics.log_reads.get()));
        metrics.log_reads_spared.inc_by(reads.from_memory.saturating_sub(metrics.log_reads_spared.get()));
        let is_read = match time::timeout(DATABASE_PATIENCE, self.read_metrics()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) if !error.is_of_database() => return Err(error),
            Ok(Err(_)) | Err(_) => false,
        };
        if !is_read {
            metrics.forget_stored();
        }
        let is_up = matches!(self.rooms.store.trouble(), None | Some(Trouble::Damaged));
        metrics.database_up.set(i64::from(is_read && is_up));
        metrics.database_damaged.set(i64::from(self.rooms.store.is_damaged()));
        metrics.database_records_missing.set(self.rooms.store.n_missing_records());
        metrics.clock_in_doubt.set(i64::from(!self.rooms.clock_watch.is_settled()));
        let mut text = String::new();
        encode(&mut text, &metrics.registry).map_err(|fmt::Error| Error::internal("metrics do not encode"))?;
        Ok(text)
    }

    /// The jobs that wait for a worker, and the room that the database takes.
    pub(crate) async fn backlog(&self) -> Result<Backlog> {
        let now = self.rooms.clock.now();
        let read = move |tx: &mut store::Tx<'_>, part: &store::Part| {
            Ok::<_, store::Error>(vec![(store::jobs::backlog(tx, part, now, COUNTED_JOBS)?, tx.database_bytes()?)])
        };
        let (mut n_overdue, mut longest_due, mut database_bytes) = (0, None, 0);
        for (of_part, bytes) in self.rooms.store.read_all(read).await? {
            n_overdue += of_part.n_overdue;
            longest_due = longest_due.into_iter().chain(of_part.longest_due).min();
            database_bytes = bytes;
        }
        let overdue_seconds = longest_due.map_or(0, |due| (now.0 - due.0) / 1000);
        Ok(Backlog { n_overdue, overdue_seconds, database_bytes })
    }

    async fn read_metrics(&self) -> Result<()> {
        let (metrics, now) = (&self.rooms.exposition, self.rooms.clock.now());
        let Backlog { n_overdue, overdue_seconds, database_bytes } = self.backlog().await?;
        metrics.jobs_overdue.set(Some(n_overdue));
        metrics.jobs_overdue_seconds.set(Some(overdue_seconds));
        metrics.database_bytes.set(Some(database_bytes));
        if metrics.platforms.should_examine(now) {
            metrics.platforms.set_credentials(self.rooms.sending.credential_notices().await?, now);
        }
        metrics.platforms.set_health(self.rooms.sending.health_notices().await?);
        metrics.webhooks.set(self.rooms.events.webhook_lags().await?, self.rooms.events.n_events_in_memory());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::WebhookLag;
    use model::app::AppKey;
    use model::device_type::DeviceType;
    use model::ids::WebhookId;
    use model::time::UtcMillis;
    use sending::{Hindrance, PlatformFact, PlatformHealth, PlatformName, PlatformNotice};
    use std::collections::BTreeSet;

    /// Every metric with a value; without one it would not be shown.
    fn shown() -> BTreeSet<String> {
        let counters = Metrics::default();
        let metrics = Exposition::new(&counters);
        counters.request("GET", "/health", 200, Duration::from_millis(3));
        counters.delivered(&DeviceType::Ios, "sandbox", "delivered", 1);
        counters.events_came_in("taken", 1);
        counters.growth_refused("tags", "total");
        counters.job_begins();
        counters.job_succeeded("sweep");
        for gauge in [&metrics.jobs_overdue, &metrics.jobs_overdue_seconds, &metrics.database_bytes] {
            gauge.set(Some(0));
        }
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
