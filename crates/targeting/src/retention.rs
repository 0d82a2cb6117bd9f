//! How many of those who came come back: the channels that registered in a day or a week, and in how many of the days or weeks
//! after it each of them opened the app again.

use audience::index::Index;
use base::Result;
use boxed::boxed;
use model::ids::{AppId, Ordinal, TermId};
use model::retention::CohortLength;
use model::term::{DayKind, DayTerm, Term};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, channels};

use crate::Targeting;

/// The channels that registered in one period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cohort {
    /// The first day of the period.
    pub first_day: i32,
    pub n_channels: u64,
    /// How many of them opened the app in each period after it, up to the one that has not ended.
    pub returned: Vec<u64>,
}

#[boxed]
impl Targeting {
    /// The last cohorts, the oldest first; the last of them is that of the period that has not ended.
    pub async fn retention(&self, app: AppId, length: CohortLength, n_cohorts: u32) -> Result<Vec<Cohort>> {
        let (index, now) = (self.0.index.current(app).await?, self.0.clock.now());
        let days = length.first_days(now.day(), n_cohorts);
        let read = move |tx: &mut Tx<'_>| bounds(tx, app, &days).map(|bounds| (days, bounds));
        let (days, bounds) = self.0.store.read(read).await?;
        self.0.index.evaluate(move || cohorts(&index, length, &days, &bounds)).await
    }
}

/// The first channel of each period, and the one after the last of all.
fn bounds(tx: &mut Tx<'_>, app: AppId, first_days: &[i32]) -> Result<Vec<u32>> {
    let end = channels::last(tx, app)?.map_or(0, |Ordinal(last)| last + 1);
    let mut bounds = Vec::with_capacity(first_days.len() + 1);
    for day in first_days {
        // What begins later has its first channel later: there is less and less to look through.
        let from = bounds.last().copied().unwrap_or(0);
        let first = channels::first_since_after(tx, app, UtcMillis::of_day(*day), Ordinal(from))?;
        bounds.push(first.map_or(end, |Ordinal(first)| first));
    }
    bounds.push(end);
    Ok(bounds)
}

fn cohorts(index: &Index, length: CohortLength, first_days: &[i32], bounds: &[u32]) -> Vec<Cohort> {
    let number = |day: i32| {
        let term = Term::Day(DayTerm { kind: DayKind::Open, day });
        let (group, tag) = term.key();
        index.number_of(group, &tag)
    };
    let opened_from = |first: &i32| {
        let terms: Vec<TermId> = (*first..first.saturating_add(length.days())).filter_map(number).collect();
        index.holders_apart(&terms)
    };
    let opened: Vec<RoaringBitmap> = first_days.iter().map(opened_from).collect();
    let cohort = |(n, first_day): (usize, &i32)| {
        let (from, to) = (bounds[n], bounds[n + 1]);
        let came_back = |opened: &RoaringBitmap| if from < to { opened.range_cardinality(from..to) } else { 0 };
        Cohort {
            first_day: *first_day,
            n_channels: u64::from(to.saturating_sub(from)),
            returned: opened.iter().skip(n + 1).map(came_back).collect(),
        }
    };
    first_days.iter().enumerate().map(cohort).collect()
}
