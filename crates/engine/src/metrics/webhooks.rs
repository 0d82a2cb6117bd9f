//! Metrics of every webhook.

use events::WebhookLag;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WebhookLabels {
    app: String,
    webhook: String,
}

/// The state of the webhooks according to the store: the same on every node, except for events in memory.
#[derive(Default)]
pub(super) struct WebhookGauges {
    records_behind: Family<WebhookLabels, Gauge>,
    seconds_behind: Family<WebhookLabels, Gauge>,
    failing: Family<WebhookLabels, Gauge>,
    disabled: Family<WebhookLabels, Gauge>,
    dead_letters: Family<WebhookLabels, Gauge>,
    given_up: Family<WebhookLabels, Counter>,
    missed: Family<WebhookLabels, Counter>,
    delivered: Family<WebhookLabels, Counter>,
    failed: Family<WebhookLabels, Counter>,
    /// Of all webhooks together.
    n_kept: Gauge,
}

impl WebhookGauges {
    fn gauges(&self) -> [(&'static str, &'static str, &Family<WebhookLabels, Gauge>); 5] {
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
        ]
    }

    fn counters(&self) -> [(&'static str, &'static str, &Family<WebhookLabels, Counter>); 4] {
        [
            ("webhook_events_given_up", "Events that became dead letters", &self.given_up),
            ("webhook_log_records_missed", "Log records that were deleted before they could be sent", &self.missed),
            ("webhook_events_delivered", "Events that a webhook has taken", &self.delivered),
            ("webhook_attempts_failed", "Requests that a webhook has not answered with success", &self.failed),
        ]
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        for (name, text, family) in self.gauges() {
            registry.register(name, text, family.clone());
        }
        for (name, text, family) in self.counters() {
            registry.register(name, text, family.clone());
        }
        let text = "Events that wait in the memory of this process until they are tried again";
        registry.register("webhook_events_in_memory", text, self.n_kept.clone());
    }

    /// Drops all webhook series until the next update.
    pub(super) fn forget(&self) {
        for (_, _, family) in self.gauges() {
            family.clear();
        }
        for (_, _, family) in self.counters() {
            family.clear();
        }
    }

    /// Replaces all series.
    pub(super) fn set(&self, lags: Vec<WebhookLag>, n_kept: usize) {
        self.n_kept.set(i64::try_from(n_kept).unwrap_or(i64::MAX));
        self.forget();
        for lag in lags {
            let labels = WebhookLabels { app: lag.app.as_str().to_owned(), webhook: lag.webhook.to_string() };
            for (family, value) in [
                (&self.records_behind, lag.records_behind),
                (&self.seconds_behind, lag.seconds_behind),
                (&self.failing, lag.is_failing.into()),
                (&self.disabled, lag.is_disabled.into()),
                (&self.dead_letters, lag.tally.n_dead),
            ] {
                family.get_or_create(&labels).set(value);
            }
            for (family, n) in [
                (&self.given_up, lag.tally.n_given_up),
                (&self.missed, lag.tally.n_missed),
                (&self.delivered, lag.tally.n_delivered),
                (&self.failed, lag.tally.n_failed),
            ] {
                family.get_or_create(&labels).inc_by(u64::try_from(n).unwrap_or(0));
            }
        }
    }
}
