//! Metrics of the platforms of every app: credentials that expire or cannot be read, and pauses.

use std::time::Duration;

use model::time::UtcMillis;
use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use sending::{Hindrance, PlatformFact, PlatformNotice};

/// All credentials have to be decrypted to see when they expire, and that hardly changes.
const EXAMINE_EVERY: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PlatformLabels {
    app: String,
    platform: String,
}

#[derive(Default)]
pub(super) struct PlatformGauges {
    expire: Family<PlatformLabels, Gauge>,
    unreadable: Family<PlatformLabels, Gauge>,
    paused: Family<PlatformLabels, Gauge>,
    waiting: Family<PlatformLabels, Gauge>,
    /// When the credentials were last checked.
    examined: Mutex<Option<UtcMillis>>,
}

impl PlatformGauges {
    pub(super) fn register(&self, registry: &mut Registry) {
        let text = "When the credentials for a platform of an app stop working, in seconds since 1970";
        registry.register("platform_credentials_expire_timestamp_seconds", text, self.expire.clone());
        let text = "1 when the credentials for a platform of an app cannot be decrypted";
        registry.register("platform_credentials_unreadable", text, self.unreadable.clone());
        let text = "Since when nothing is sent to a platform of an app because its provider refuses us or the operator \
                    paused it, in seconds since 1970";
        registry.register("platform_paused_since_timestamp_seconds", text, self.paused.clone());
        let text = "Since when a platform of an app has taken nothing that was sent to it, in seconds since 1970";
        registry.register("platform_waiting_since_timestamp_seconds", text, self.waiting.clone());
    }

    pub(super) fn should_examine(&self, now: UtcMillis) -> bool {
        let examined = *self.examined.lock();
        examined.is_none_or(|at| now >= at.plus(EXAMINE_EVERY) || now < at)
    }

    /// Replaces the series about credentials: deleted platforms are no longer shown.
    pub(super) fn set_credentials(&self, notices: Vec<PlatformNotice>, now: UtcMillis) {
        self.expire.clear();
        self.unreadable.clear();
        self.show(notices);
        *self.examined.lock() = Some(now);
    }

    /// The same for pauses and outages.
    pub(super) fn set_health(&self, notices: Vec<PlatformNotice>) {
        self.paused.clear();
        self.waiting.clear();
        self.show(notices);
    }

    /// Shows nothing until the next look.
    pub(super) fn forget(&self) {
        for gauges in [&self.expire, &self.unreadable, &self.paused, &self.waiting] {
            gauges.clear();
        }
        *self.examined.lock() = None;
    }

    fn show(&self, notices: Vec<PlatformNotice>) {
        for PlatformNotice { app, platform, fact } in notices {
            let labels = PlatformLabels { app: app.as_str().to_owned(), platform: platform.to_string() };
            match fact {
                PlatformFact::Expires(at) => self.expire.get_or_create(&labels).set(at.seconds()),
                PlatformFact::Hindered(health) => {
                    let gauges = match health.hindrance {
                        Hindrance::Refused | Hindrance::Held => &self.paused,
                        Hindrance::Down => &self.waiting,
                    };
                    gauges.get_or_create(&labels).set(health.since.seconds())
                }
                PlatformFact::Unreadable => self.unreadable.get_or_create(&labels).set(1),
            };
        }
    }
}
