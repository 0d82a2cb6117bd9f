//! Reports: counts of an app over time, of its pushes, and of its devices.

mod counts;
mod devices;
mod events;
mod lines;
mod pushes;

use std::collections::BTreeMap;

use boxed::boxed;
use model::ids::AppId;
use model::report::{Page, Period, Precision};
use model::time::UtcMillis;
use store::counters::{self, Grain, Metric, Sum};

pub use counts::Counts;
pub use devices::{DeviceCounts, DevicesReport};
pub use events::EventTotals;
pub use lines::{Figure, Line, Lines, LinesRequest};
pub use pushes::{GroupReport, InAppReport, PushReport, Series};

use base::Result;

use crate::Events;

/// Counts over time: one bucket after the other, including empty ones.
#[derive(Clone, Debug)]
pub struct Buckets {
    /// The start and the content of each bucket.
    pub buckets: Vec<(UtcMillis, Counts)>,
    /// The rest that did not fit on the page.
    pub rest: Option<Period>,
}

#[boxed]
impl Events {
    pub async fn report(&self, app: AppId, metrics: &[Metric], period: Period, at_most: usize) -> Result<Buckets> {
        let page = period.page(at_most);
        let (hours, grain, metrics) = (page.hours.clone(), grain(period.precision), metrics.to_vec());
        let sums = self.0.store.read(move |tx| counters::sums(tx, app, &metrics, &hours, grain)).await?;
        Ok(fill(&page, period.precision, sums))
    }
}

/// Days make up months as well.
const fn grain(precision: Precision) -> Grain {
    match precision {
        Precision::Hourly => Grain::Hour,
        Precision::Daily | Precision::Monthly => Grain::Day,
    }
}

const fn hours_per_slot(precision: Precision) -> i64 {
    match grain(precision) {
        Grain::Hour => 1,
        Grain::Day => 24,
    }
}

/// Puts sums into the buckets of a page.
fn fill(page: &Page, precision: Precision, sums: Vec<Sum>) -> Buckets {
    let mut buckets: BTreeMap<i64, Counts> = page.buckets.iter().map(|first| (*first, Counts::default())).collect();
    for sum in sums {
        let bucket = buckets.entry(precision.bucket(sum.slot * hours_per_slot(precision))).or_default();
        bucket.add(sum.device_type, sum.metric, sum.n);
    }
    let buckets = buckets.into_iter().map(|(first, counts)| (UtcMillis::of_hour(first), counts));
    Buckets { buckets: buckets.collect(), rest: page.rest }
}
