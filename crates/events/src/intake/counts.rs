//! The counts that events raise.

use base::Result;
use model::device_type::DeviceType;
use model::event::InAppEvent;
use model::ids::{AppId, PushId};
use model::time::UtcMillis;
use store::Tx;
use store::counters::{self, Metric};
use store::event_counters::{self, Conversion, Counted, Sum};

use super::attribution::Due;

pub(super) struct Counts {
    app: AppId,
    device_type: DeviceType,
}

/// An in-app message that the app keeps, or the push that one came with, and since when there is one.
#[derive(Clone, Copy)]
pub(super) struct CountedFor {
    pub(super) id: PushId,
    pub(super) since: UtcMillis,
}

impl Counts {
    pub(super) fn new(app: AppId, device_type: DeviceType) -> Self {
        Self { app, device_type }
    }

    pub(super) fn add(&self, tx: &mut Tx<'_>, metric: Metric, at: UtcMillis, n: u64) -> Result<()> {
        Ok(counters::add(tx, self.app, metric, at, &self.device_type, n)?)
    }

    /// Counts for the push and for the app.
    pub(super) fn add_response(&self, tx: &mut Tx<'_>, push: PushId, metric: Metric, at: UtcMillis) -> Result<()> {
        self.add(tx, metric, at, 1)?;
        Ok(counters::add_of_push(tx, self.app, push, metric, at, &self.device_type, 1)?)
    }

    /// Counts for the app, and for the in-app message or the push that it came with. The device says when it was, and every hour
    /// that is counted in is a row.
    pub(super) fn add_in_app(
        &self,
        tx: &mut Tx<'_>,
        counted_for: Option<CountedFor>,
        metric: Metric,
        at: UtcMillis,
    ) -> Result<()> {
        match counted_for {
            Some(CountedFor { id, since }) => self.add_response(tx, id, metric, at.max(since)),
            None => self.add(tx, metric, at, 1),
        }
    }
}

/// What is counted of what somebody does with an in-app message. Swipes and summaries tell of pages that
/// are counted, and experiences of what other events count.
pub(super) const fn of_interaction(event: InAppEvent) -> Option<Metric> {
    match event {
        InAppEvent::ButtonTap => Some(Metric::InAppTaps),
        InAppEvent::PageView => Some(Metric::InAppPages),
        InAppEvent::PagerCompleted => Some(Metric::InAppScenesCompleted),
        InAppEvent::FormDisplay => Some(Metric::InAppForms),
        InAppEvent::FormResult => Some(Metric::InAppFormsSent),
        InAppEvent::Control => Some(Metric::InAppHoldouts),
        InAppEvent::Exclusion => Some(Metric::InAppExclusions),
        InAppEvent::PageSwipe | InAppEvent::PagerSummary | InAppEvent::Experience => None,
    }
}

/// Custom events are counted by name and by the push they are due to, whatever they come from.
pub(super) fn count_custom(
    tx: &mut Tx<'_>,
    app: AppId,
    name: &str,
    at: UtcMillis,
    due: &Due,
    value: Option<f64>,
) -> Result<()> {
    let (conversion, push) = match (due.direct(), due.indirect()) {
        (Some(push), _) => (Conversion::Direct, Some(push)),
        (None, Some(push)) => (Conversion::Indirect, Some(push)),
        (None, None) => (Conversion::Unattributed, None),
    };
    let millionths = (value.unwrap_or(0.0) * 1_000_000.0).round();
    let counted = Counted::at(at, name, conversion, push);
    Ok(event_counters::add(tx, app, counted, Sum { n: 1, millionths })?)
}
