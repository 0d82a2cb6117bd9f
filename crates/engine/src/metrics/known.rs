//! A gauge that is left out while its value is not known.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;

/// Clones show the same value.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownGauge(Arc<Mutex<Option<i64>>>);

impl KnownGauge {
    pub(super) fn set(&self, value: Option<i64>) {
        *self.0.lock() = value;
    }

    fn get(&self) -> Option<i64> {
        *self.0.lock()
    }
}

impl EncodeMetric for KnownGauge {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        self.get().map_or(Ok(()), |value| encoder.encode_gauge(&value))
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }

    fn is_empty(&self) -> bool {
        self.get().is_none()
    }
}
