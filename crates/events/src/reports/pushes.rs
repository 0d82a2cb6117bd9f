//! The results of single pushes and of groups of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, PushId};
use model::origin::Origin;
use model::payload::push_type::PushType;
use model::report::{Period, Precision};
use model::time::UtcMillis;
use store::counters::{self, Metric, PushTotal, Pushes};
use store::documents::{self, DocumentKind};
use store::pushes::{self, Listed};
use store::{Tx, origins};
use uuid::Uuid;

use super::{Buckets, Counts, fill, grain};
use crate::Events;

const COUNTED: [Metric; 20] = [
    Metric::Sends,
    Metric::AlertingSends,
    Metric::Received,
    Metric::DirectResponses,
    Metric::InfluencedResponses,
    Metric::UnprovenResponses,
    Metric::LateResponses,
    Metric::RichSends,
    Metric::RichReads,
    Metric::RichDeletions,
    Metric::InAppDisplays,
    Metric::InAppOptedInDisplays,
    Metric::InAppClicks,
    Metric::InAppTaps,
    Metric::InAppPages,
    Metric::InAppScenesCompleted,
    Metric::InAppForms,
    Metric::InAppFormsSent,
    Metric::InAppHoldouts,
    Metric::InAppExclusions,
];

/// Pushes that are read at once for a page of the activity, and that are looked at for it in all: where most go to single devices,
/// a page may have fewer than it could.
const LOOKED_AT_ONCE: u32 = 1000;
const LOOKED_AT: usize = 10_000;

/// One push and its counts over all time.
#[derive(Clone, Debug)]
pub struct PushReport {
    pub id: PushId,
    pub name: Option<String>,
    pub created: UtcMillis,
    pub push_type: PushType,
    pub origin: Origin,
    pub counts: Counts,
}

/// An in-app message that the app has kept for its devices, with its counts over all time.
#[derive(Clone, Debug)]
pub struct InAppReport {
    pub created: UtcMillis,
    pub counts: Counts,
}

/// All pushes that one thing has sent.
#[derive(Clone, Debug)]
pub struct GroupReport {
    /// When the first of them was accepted.
    pub created: UtcMillis,
    pub counts: Counts,
}

/// The counts of pushes over time.
#[derive(Clone, Debug)]
pub struct Series {
    pub period: Period,
    pub buckets: Buckets,
}

#[boxed]
impl Events {
    pub async fn push_report(&self, app: AppId, push: PushId) -> Result<PushReport> {
        self.push_reports(app, vec![push]).await?.pop().ok_or(Error::NotFound("push"))
    }

    /// The pushes that exist, in the order of the request.
    pub async fn push_reports(&self, app: AppId, pushes: Vec<PushId>) -> Result<Vec<PushReport>> {
        self.0
            .store
            .read(move |tx| {
                let mut listed = Vec::with_capacity(pushes.len());
                for push in &pushes {
                    listed.extend(pushes::listed(tx, app, *push)?);
                }
                with_counts(tx, app, listed)
            })
            .await
    }

    pub async fn in_app_report(&self, app: AppId, id: PushId) -> Result<InAppReport> {
        let read = move |tx: &mut Tx<'_>| {
            let kept = documents::get(tx, app, DocumentKind::InAppMessage, &id.to_string())?;
            let created = kept.ok_or(Error::NotFound("push"))?.created;
            let counts = Counts::of(counters::totals_of_pushes(tx, app, Pushes::One(id), &COUNTED)?);
            Ok(InAppReport { created, counts })
        };
        self.0.store.read(read).await
    }

    /// Pushes accepted within a period, the newest first, and the first push of the next page.
    pub async fn newest_pushes(
        &self,
        app: AppId,
        accepted: Range<UtcMillis>,
        start: Option<PushId>,
        at_most: u32,
    ) -> Result<(Vec<PushReport>, Option<PushId>)> {
        self.0
            .store
            .read(move |tx| {
                let mut listed = pushes::newest(tx, app, &accepted, start, at_most.saturating_add(1))?;
                let next = match listed.len() > at_most as usize {
                    true => listed.pop().map(|push| push.id),
                    false => None,
                };
                Ok((with_counts(tx, app, listed)?, next))
            })
            .await
    }

    /// As [`Events::newest_pushes`], without those to one device or one person, unless they are of a group.
    pub async fn newest_activities(
        &self,
        app: AppId,
        accepted: Range<UtcMillis>,
        start: Option<PushId>,
        at_most: u32,
    ) -> Result<(Vec<PushReport>, Option<PushId>)> {
        let at_most = at_most as usize;
        self.0
            .store
            .read(move |tx| {
                let mut found: Vec<Listed> = Vec::new();
                let (mut next, mut n_looked_at) = (start, 0);
                loop {
                    let mut some = pushes::newest(tx, app, &accepted, next, LOOKED_AT_ONCE + 1)?;
                    next = match some.len() > LOOKED_AT_ONCE as usize {
                        true => some.pop().map(|push| push.id),
                        false => None,
                    };
                    n_looked_at += some.len();
                    found.extend(some.into_iter().filter(is_activity));
                    if let Some(beyond) = found.get(at_most) {
                        next = Some(beyond.id);
                        found.truncate(at_most);
                        break;
                    }
                    if next.is_none() || n_looked_at >= LOOKED_AT {
                        break;
                    }
                }
                Ok((with_counts(tx, app, found)?, next))
            })
            .await
    }

    /// A push as it was submitted, as JSON; `None` when it is not to be kept, also while it is still needed for sending.
    pub async fn push_body(&self, app: AppId, push: PushId) -> Result<Option<String>> {
        let found = self.0.store.read(move |tx| pushes::by_id(tx, app, push)).await?;
        let push = found.ok_or(Error::NotFound("push"))?;
        Ok(push.payload.filter(|_| !push.redact))
    }

    pub async fn group_report(&self, app: AppId, group: Uuid) -> Result<GroupReport> {
        self.0
            .store
            .read(move |tx| {
                let created = begun(tx, app, Pushes::Group(group))?;
                let counts = Counts::of(counters::totals_of_pushes(tx, app, Pushes::Group(group), &COUNTED)?);
                Ok(GroupReport { created, counts })
            })
            .await
    }

    /// Without a start, the series begins with the bucket in which sending began; without an end, it has as many buckets as are
    /// usual.
    pub async fn series(
        &self,
        app: AppId,
        pushes: Pushes,
        start: Option<UtcMillis>,
        end: Option<UtcMillis>,
        precision: Precision,
        at_most: usize,
    ) -> Result<Series> {
        self.0
            .store
            .read(move |tx| {
                let begun = begun(tx, app, pushes)?;
                let usual = Period::around(start.unwrap_or(begun), usual_buckets(precision), precision);
                let (start, end) = (start.unwrap_or(usual.start()), end.unwrap_or(usual.end()));
                let inverted = || Error::invalid("end", "The end must not be before the start.");
                let period = Period::new(start, end, precision).ok_or_else(inverted)?;
                let page = period.page(at_most);
                let sums = counters::sums_of_pushes(tx, app, pushes, &COUNTED, &page.hours, grain(precision))?;
                Ok(Series { period, buckets: fill(&page, precision, sums) })
            })
            .await
    }
}

fn is_activity(push: &Listed) -> bool {
    push.push_type != PushType::UnicastPush || push.origin.and_then(Origin::group).is_some()
}

const fn usual_buckets(precision: Precision) -> i32 {
    match precision {
        Precision::Hourly => 12,
        Precision::Daily => 7,
        Precision::Monthly => 3,
    }
}

/// When the first of the pushes was accepted. Fails when there is none.
pub(super) fn begun(tx: &mut Tx<'_>, app: AppId, pushes: Pushes) -> Result<UtcMillis> {
    let (first, what) = match pushes {
        Pushes::One(push) => (Some(push), "push"),
        Pushes::Group(group) => (origins::first_of_group(tx, app, group)?.map(|(push, _)| push), "group"),
    };
    let first = first.ok_or(Error::NotFound(what))?;
    Ok(pushes::listed(tx, app, first)?.ok_or(Error::NotFound(what))?.created)
}

fn with_counts(tx: &mut Tx<'_>, app: AppId, listed: Vec<Listed>) -> Result<Vec<PushReport>> {
    // A push that is named twice is counted once.
    let ids: BTreeSet<PushId> = listed.iter().map(|push| push.id).collect();
    let ids: Vec<PushId> = ids.into_iter().collect();
    let mut counts: BTreeMap<PushId, Counts> = BTreeMap::new();
    for PushTotal { push, total } in counters::totals_of_each(tx, app, &ids, &COUNTED)? {
        counts.entry(push).or_default().add(total.device_type, total.metric, total.n);
    }
    let names: BTreeMap<PushId, String> = pushes::names(tx, app, &ids)?.into_iter().collect();
    let reports = listed.into_iter().map(|Listed { id, created, push_type, origin }| {
        let counts = counts.get(&id).cloned().unwrap_or_default();
        let name = names.get(&id).cloned();
        PushReport { id, name, created, push_type, origin: origin.unwrap_or(Origin::Api), counts }
    });
    Ok(reports.collect())
}
