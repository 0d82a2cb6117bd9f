//! How many devices an app had at the end of a day, and how many used it in a month.

use std::collections::BTreeMap;

use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::lifecycle::OPEN_DAYS_KEPT;
use model::report::{Period, Precision};
use model::term::{DayKind, DayTerm, Term};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::channels;
use store::counters::{self, Metric};
use targeting::Planner;

use super::Counts;
use crate::Events;

pub(super) const STATE: [Metric; 4] = [Metric::Created, Metric::Uninstalled, Metric::OptedIn, Metric::OptedOut];

#[derive(Clone, Debug)]
pub struct DevicesReport {
    pub computed: UtcMillis,
    /// By the families of device types that reports know.
    pub by_family: BTreeMap<&'static str, DeviceCounts>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Installed channels.
    pub unique: u64,
    /// How many of these are opted in.
    pub opted_in: u64,
    /// Channels that were uninstalled.
    pub uninstalled: u64,
}

#[boxed]
impl Events {
    /// The devices at the end of the day of an instant, or now if that day has not ended.
    pub async fn devices(&self, app: AppId, date: UtcMillis) -> Result<DevicesReport> {
        let computed = self.0.clock.now();
        let day = i64::from(date.day());
        let totals = self.0.store.read(move |tx| counters::totals_until(tx, app, &STATE, day)).await?;
        let counts = Counts::of(totals);
        let by_family = counts.families().into_iter().map(|family| {
            let difference = |came, went| counts.on(family, came).saturating_sub(counts.on(family, went));
            let devices = DeviceCounts {
                unique: difference(Metric::Created, Metric::Uninstalled),
                opted_in: difference(Metric::OptedIn, Metric::OptedOut),
                uninstalled: counts.on(family, Metric::Uninstalled),
            };
            (family, devices)
        });
        Ok(DevicesReport { computed, by_family: by_family.collect() })
    }

    /// The number of devices on which the app was opened in the month of an instant, by device type. Openings by channel are kept
    /// for some days only, so the month must have begun since.
    pub async fn active_users(&self, app: AppId, date: UtcMillis) -> Result<BTreeMap<DeviceType, u64>> {
        let month = Period::around(date, 1, Precision::Monthly);
        let now = self.0.clock.now();
        let days = month.start().day()..month.end().day();
        if days.start < now.day() - OPEN_DAYS_KEPT {
            let message = format!("Active users are known for months that began in the last {OPEN_DAYS_KEPT} days.");
            return Err(Error::invalid("date", message));
        }
        let index = self.0.index.current(app).await?;
        self.0
            .store
            .read(move |tx| {
                // The first open is an open, and channels are numbered in that order.
                let first = channels::first_since(tx, app, month.start())?;
                let end = channels::first_since(tx, app, month.end())?;
                let last = channels::last(tx, app)?;
                let mut new = RoaringBitmap::new();
                if let (Some(first), Some(last)) = (first, last) {
                    new.insert_range(first.0..end.map_or(last.0 + 1, |end| end.0));
                }
                let planner = Planner::new(tx, app, &index, now, Vec::new());
                let opened = days.map(|day| planner.term(&Term::Day(DayTerm { kind: DayKind::Open, day })));
                let active = Plan::Or(opened.chain([Plan::Set(new)]).collect());
                let counted = DeviceType::NAMED.map(|(_, device_type)| {
                    let of_type = planner.term(&Term::DeviceType(device_type.clone()));
                    (device_type, index.count(&Plan::And(vec![active.clone(), of_type]).normalize()))
                });
                Ok(counted.into_iter().collect())
            })
            .await
    }
}
