//! Custom events, counted by name and by their relation to a push.

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::report::Period;
use store::counters::Pushes;
use store::event_counters::{self, EventTotal, Sum};

use super::pushes::begun;
use crate::Events;

/// Counts of custom events, and their totals.
#[derive(Clone, Debug)]
pub struct EventTotals {
    pub total: Sum,
    /// In the order of their names.
    pub events: Vec<EventTotal>,
}

#[boxed]
impl Events {
    pub async fn event_totals(&self, app: AppId, period: Period) -> Result<EventTotals> {
        let events = self.0.store.read(move |tx| event_counters::totals(tx, app, &period.hours())).await?;
        Ok(EventTotals::of(events))
    }

    /// Counts attributed to pushes, over all time.
    pub async fn event_totals_of(&self, app: AppId, pushes: Pushes) -> Result<EventTotals> {
        let events = self.0.store.read(move |tx| {
            begun(tx, app, pushes)?;
            Ok::<_, Error>(event_counters::totals_of_pushes(tx, app, pushes)?)
        });
        Ok(EventTotals::of(events.await?))
    }
}

impl EventTotals {
    fn of(events: Vec<EventTotal>) -> Self {
        let mut total = Sum::default();
        for event in &events {
            total.add(event.sum);
        }
        Self { total, events }
    }
}
