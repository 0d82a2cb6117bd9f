//! Counts that a transaction has raised, written once at its end: the commands of a batch raise the same few
//! over and over.

use std::collections::BTreeMap;

use model::device_type::DeviceType;
use model::ids::{AppId, PushId};

use super::Metric;
use super::groups::{self, Groups, OfPushes};
use crate::event_counters::{self, Counted};
use crate::{Result, Tx, Value};

/// Ordered, so that all nodes take hold of the rows in the same sequence.
#[derive(Default)]
pub(crate) struct PendingCounts {
    of_apps: BTreeMap<(AppId, Metric, i64, DeviceType), i64>,
    of_pushes: OfPushes,
    of_events: BTreeMap<(AppId, Counted), event_counters::Sum>,
}

impl PendingCounts {
    pub(super) fn add(&mut self, app: AppId, metric: Metric, hour: i64, device_type: &DeviceType, n: u64) {
        raise(self.of_apps.entry((app, metric, hour, device_type.clone())).or_default(), n);
    }

    pub(super) fn add_of_push(
        &mut self,
        app: AppId,
        push: PushId,
        metric: Metric,
        hour: i64,
        device_type: &DeviceType,
        n: u64,
    ) {
        raise(self.of_pushes.entry((app, push, metric, hour, device_type.clone())).or_default(), n);
    }

    pub(crate) fn add_event(&mut self, app: AppId, counted: Counted, sum: event_counters::Sum) {
        self.of_events.entry((app, counted)).or_default().add(sum);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let Self { of_apps, of_pushes, of_events } = other;
        for (key, n) in of_apps {
            let count = self.of_apps.entry(key).or_default();
            *count = count.saturating_add(n);
        }
        for (key, n) in of_pushes {
            let count = self.of_pushes.entry(key).or_default();
            *count = count.saturating_add(n);
        }
        for (key, sum) in of_events {
            self.of_events.entry(key).or_default().add(sum);
        }
    }

    fn pushes(&self) -> impl Iterator<Item = (AppId, PushId)> {
        let counted = self.of_pushes.keys().map(|(app, push, ..)| (*app, *push));
        counted.chain(self.of_events.keys().filter_map(|(app, counted)| Some((*app, counted.push?))))
    }

    pub(crate) fn write(self, tx: &mut Tx<'_>) -> Result<()> {
        let groups = Groups::find(tx, self.pushes())?;
        event_counters::write(tx, &self.of_events, &groups)?;
        let mut of_days: BTreeMap<_, i64> = BTreeMap::new();
        for ((app, metric, hour, device_type), n) in &self.of_apps {
            let day = of_days.entry((*app, *metric, hour.div_euclid(24), device_type)).or_default();
            *day = day.saturating_add(*n);
        }
        let in_days =
            of_days.iter().map(|((app, metric, day, device_type), n)| row(*app, *metric, *day, device_type, *n));
        let in_days: Vec<_> = in_days.collect();
        if in_days.is_empty() && self.of_pushes.is_empty() {
            return Ok(());
        }
        let in_hours = self.of_apps.iter();
        tx.write_many(
            "insert into counter (app, metric, hour, platform, n) values ($1, $2, $3, $4, $5)
             on conflict (app, metric, hour, platform) do update set n = counter.n + excluded.n",
            in_hours.map(|((app, metric, hour, device_type), n)| row(*app, *metric, *hour, device_type, *n)),
        )?;
        tx.write_many(
            "insert into counter_day (app, metric, day, platform, n) values ($1, $2, $3, $4, $5)
             on conflict (app, metric, day, platform) do update set n = counter_day.n + excluded.n",
            in_days,
        )?;
        groups::write(tx, &self.of_pushes, &groups)?;
        tx.write_many(
            "insert into push_counter (app, push, metric, hour, platform, n) values ($1, $2, $3, $4, $5, $6)
             on conflict (app, push, metric, hour, platform) do update set n = push_counter.n + excluded.n",
            self.of_pushes.into_iter().map(|((app, push, metric, hour, device_type), n)| {
                [app.into(), push.into(), metric.name().into(), hour.into(), (&device_type).into(), Value::from(n)]
            }),
        )?;
        Ok(())
    }
}

fn raise(count: &mut i64, n: u64) {
    *count = count.saturating_add(i64::try_from(n).unwrap_or(i64::MAX));
}

fn row(app: AppId, metric: Metric, slot: i64, device_type: &DeviceType, n: i64) -> [Value; 5] {
    [app.into(), metric.name().into(), slot.into(), device_type.into(), n.into()]
}
