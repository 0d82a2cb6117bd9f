//! What events add to counters.

use model::ids::{AppId, PushId};
use model::time::UtcMillis;
use store::Tx;
use store::counters::{self, Metric};
use store::event_counters::{self, Conversion, Counted, Sum};

use crate::Result;

pub(super) struct Counts {
    app: AppId,
    platform: String,
}

impl Counts {
    pub(super) fn new(app: AppId, platform: String) -> Self {
        Self { app, platform }
    }

    pub(super) fn add(&self, tx: &mut Tx<'_>, metric: Metric, at: UtcMillis, n: u64) -> Result<()> {
        Ok(counters::add(tx, self.app, metric, at, &self.platform, n)?)
    }

    /// Counts for the push and for the app.
    pub(super) fn add_response(&self, tx: &mut Tx<'_>, push: PushId, metric: Metric, at: UtcMillis) -> Result<()> {
        self.add(tx, metric, at, 1)?;
        Ok(counters::add_of_push(tx, self.app, push, metric, at, &self.platform, 1)?)
    }

    pub(super) fn add_custom(
        &self,
        tx: &mut Tx<'_>,
        name: &str,
        at: UtcMillis,
        direct: Option<PushId>,
        indirect: Option<PushId>,
        value: Option<f64>,
    ) -> Result<()> {
        let (conversion, push) = match (direct, indirect) {
            (Some(push), _) => (Conversion::Direct, Some(push)),
            (None, Some(push)) => (Conversion::Indirect, Some(push)),
            (None, None) => (Conversion::Unattributed, None),
        };
        let millionths = (value.unwrap_or(0.0) * 1_000_000.0).round();
        let counted = Counted::at(at, name, conversion, push);
        Ok(event_counters::add(tx, self.app, counted, Sum { n: 1, millionths })?)
    }
}
