//! Counters of what this process does, for Prometheus. The rooms raise them; the engine registers them beside the figures that it
//! reads from the database. docs/operations.md explains each.

use std::time::Duration;

use model::device_type::DeviceType;
use model::event::RejectionStatus;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

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
struct FailureLabels {
    device_type: String,
    transport: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GrowthLabels {
    what: &'static str,
    limit: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct JobLabels {
    kind: String,
    outcome: &'static str,
}

/// The durations of ordinary requests are in the middle.
const DURATIONS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

type Durations = Family<RouteLabels, Histogram, fn() -> Histogram>;

/// Clones count together.
#[derive(Clone)]
pub struct Metrics {
    requests: Family<RequestLabels, Counter>,
    durations: Durations,
    pushes: Counter,
    deliveries: Family<DeliveryLabels, Counter>,
    failures: Family<FailureLabels, Counter>,
    events: Family<EventLabels, Counter>,
    records_unreadable: Counter,
    jobs: Family<JobLabels, Counter>,
    jobs_running: Gauge,
    connections: Gauge,
    connections_refused: Counter,
    live_connections: Gauge,
    live_connections_lacking: Gauge,
    growth_refused: Family<GrowthLabels, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(DURATIONS)),
            pushes: Counter::default(),
            deliveries: Family::default(),
            failures: Family::default(),
            events: Family::default(),
            records_unreadable: Counter::default(),
            jobs: Family::default(),
            jobs_running: Gauge::default(),
            connections: Gauge::default(),
            connections_refused: Counter::default(),
            live_connections: Gauge::default(),
            live_connections_lacking: Gauge::default(),
            growth_refused: Family::default(),
        }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("http_requests", "Requests answered", self.requests.clone());
        let text = "Time until the answer to a request began";
        registry.register("http_request_duration_seconds", text, self.durations.clone());
        registry.register("pushes_accepted", "Pushes accepted", self.pushes.clone());
        registry.register("deliveries", "Deliveries by outcome", self.deliveries.clone());
        let text = "Deliveries that failed, by the reason";
        registry.register("deliveries_failed", text, self.failures.clone());
        registry.register("device_events", "Events of devices by what became of them", self.events.clone());
        let text = "Times that a record of the log could not be read and was passed over";
        registry.register("log_records_unreadable", text, self.records_unreadable.clone());
        registry.register("jobs", "Jobs run by outcome", self.jobs.clone());
        registry.register("jobs_running", "Jobs that this process is working on", self.jobs_running.clone());
        registry.register("http_connections", "Open connections of callers", self.connections.clone());
        let text = "Connections of callers that were closed at once because their address or all have too many";
        registry.register("http_connections_refused", text, self.connections_refused.clone());
        registry.register("live_connections", "Open live connections of devices", self.live_connections.clone());
        let text = "Live connections that the settings allow and the limit of open files does not";
        registry.register("live_connections_lacking", text, self.live_connections_lacking.clone());
        let text = "Times that devices were refused to create more";
        registry.register("growth_refused", text, self.growth_refused.clone());
    }

    /// `route` is the pattern, never the path, so that ids do not become labels.
    pub fn request(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let labels = RouteLabels { method, route: route.to_owned() };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        let labels = RequestLabels { method, route: labels.route, status };
        self.requests.get_or_create(&labels).inc();
    }

    pub fn pushes_accepted(&self, n_pushes: u64) {
        self.pushes.inc_by(n_pushes);
    }

    pub fn delivered(&self, device_type: &DeviceType, transport: &'static str, outcome: &'static str, n: u64) {
        if n > 0 {
            let labels = DeliveryLabels { device_type: label(device_type), transport, outcome };
            self.deliveries.get_or_create(&labels).inc_by(n);
        }
    }

    /// Some of the deliveries that came to nothing, by what the provider found wrong.
    pub fn failed(&self, device_type: &DeviceType, transport: &'static str, status: RejectionStatus, n: u64) {
        if n > 0 {
            let labels = FailureLabels { device_type: label(device_type), transport, reason: reason(status) };
            self.failures.get_or_create(&labels).inc_by(n);
        }
    }

    /// Events of devices that came to one end, such as `taken` or `too_old`.
    pub fn events_came_in(&self, outcome: &'static str, n: u64) {
        if n > 0 {
            self.events.get_or_create(&EventLabels { outcome }).inc_by(n);
        }
    }

    pub fn records_unreadable(&self, n: u64) {
        self.records_unreadable.inc_by(n);
    }

    pub fn connection_begins(&self) {
        self.connections.inc();
    }

    pub fn connection_ends(&self) {
        self.connections.dec();
    }

    pub fn live_connection_begins(&self) {
        self.live_connections.inc();
    }

    pub fn live_connections_lack(&self, n_connections: usize) {
        self.live_connections_lacking.set(i64::try_from(n_connections).unwrap_or(i64::MAX));
    }

    pub fn live_connection_ends(&self) {
        self.live_connections.dec();
    }

    pub fn connection_refused(&self) {
        self.connections_refused.inc();
    }

    /// `limit` is the one that was reached: of a `minute` or in `total`.
    pub fn growth_refused(&self, what: &'static str, limit: &'static str) {
        self.growth_refused.get_or_create(&GrowthLabels { what, limit }).inc();
    }

    pub fn job_begins(&self) {
        self.jobs_running.inc();
    }

    pub fn job_ends(&self) {
        self.jobs_running.dec();
    }

    pub fn job_succeeded(&self, kind: &str) {
        self.count_job(kind, "succeeded");
    }

    pub fn job_failed(&self, kind: &str) {
        self.count_job(kind, "failed");
    }

    fn count_job(&self, kind: &str, outcome: &'static str) {
        self.jobs.get_or_create(&JobLabels { kind: kind.to_owned(), outcome }).inc();
    }
}

/// A label of its own: the names of public events are in capitals.
const fn reason(status: RejectionStatus) -> &'static str {
    match status {
        RejectionStatus::BadDeviceToken => "bad_device_token",
        RejectionStatus::Unauthorized => "unauthorized",
        RejectionStatus::InvalidParameters => "invalid_parameters",
        RejectionStatus::MessageTooBig => "message_too_big",
        RejectionStatus::Unavailable => "unavailable",
        RejectionStatus::Uninstalled => "uninstalled",
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
