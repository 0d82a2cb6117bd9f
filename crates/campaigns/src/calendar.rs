//! The calendar of an app: what was sent, and what schedules and experiments are going to send.

use std::collections::BTreeMap;
use std::ops::Range;

use base::Result;
use boxed::boxed;
use model::ids::{AppId, PushId};
use model::origin::Origin;
use model::payload::Push;
use model::time::UtcMillis;
use sending::pushes_between;
use store::Tx;
use store::documents::{self, Document, DocumentKind, Order};
use store::pushes::{PushEntry, PushTexts};

use crate::Campaigns;
use crate::experiments::{StoredExperiment, unfinished_experiments};
use crate::schedules::StoredSchedule;

/// Schedules that are looked at: the newest.
const MOST_SCHEDULES: u32 = 1_000;

/// Something in the calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub at: UtcMillis,
    pub kind: OccurrenceKind,
    /// What sends it, or has sent it.
    pub origin: Origin,
    /// The name, or else what people recognize it by.
    pub title: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OccurrenceKind {
    /// A push that was accepted.
    Sent(PushId),
    /// Pushes that a pipeline has sent on one day, the first of which this is.
    Automated { first: PushId, n_pushes: u64 },
    /// A push that will be sent. One by local time is sent when the clocks of devices show the time.
    Planned { recurs: bool, is_local: bool, is_paused: bool },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// In order of their times.
    pub occurrences: Vec<Occurrence>,
    /// Whether this is everything.
    pub is_complete: bool,
}

/// Everything that is read for a calendar, before it is worked out.
struct Material {
    pushes: Vec<PushEntry>,
    schedules: Vec<Document>,
    experiments: Vec<Document>,
    is_complete: bool,
}

#[boxed]
impl Campaigns {
    /// Up to `at_most` occurrences within a time.
    pub async fn calendar(&self, app: AppId, time: Range<UtcMillis>, at_most: usize) -> Result<Calendar> {
        let (now, wanted) = (self.0.clock.now(), time.clone());
        let material = self.0.store.read(move |tx| read(tx, app, &wanted)).await?;
        // Each schedule has a push to be read, and may have very many times.
        self.0.index.evaluate(move || work_out(material, &time, now, at_most)).await
    }
}

fn read(tx: &mut Tx<'_>, app: AppId, time: &Range<UtcMillis>) -> Result<Material> {
    let (pushes, are_all) = pushes_between(tx, app, time)?;
    let mut schedules = documents::page(tx, app, DocumentKind::Schedule, None, Order::Descending, MOST_SCHEDULES + 1)?;
    let is_complete = are_all && schedules.len() <= MOST_SCHEDULES as usize;
    schedules.truncate(MOST_SCHEDULES as usize);
    Ok(Material { pushes, schedules, experiments: unfinished_experiments(tx, app, MOST_SCHEDULES)?, is_complete })
}

fn work_out(material: Material, time: &Range<UtcMillis>, now: UtcMillis, at_most: usize) -> Calendar {
    let mut occurrences = past(material.pushes);
    let ahead = time.start.max(now)..time.end;
    for document in &material.schedules {
        occurrences.extend(of_schedule(document, &ahead, at_most + 1));
    }
    for document in &material.experiments {
        occurrences.extend(of_experiment(document, &ahead));
    }
    occurrences.sort_by_key(|occurrence| occurrence.at);
    let is_complete = material.is_complete && occurrences.len() <= at_most;
    occurrences.truncate(at_most);
    Calendar { occurrences, is_complete }
}

/// Pipelines send all the time, so that a day of one is shown as a whole.
fn past(pushes: Vec<PushEntry>) -> Vec<Occurrence> {
    let (mut occurrences, mut automated) = (Vec::new(), BTreeMap::new());
    // The oldest first.
    for entry in pushes.into_iter().rev() {
        let origin = entry.origin.unwrap_or(Origin::Api);
        let PushTexts { name, title, alert } = entry.texts;
        let title = name.or(title).or(alert);
        let Origin::Pipeline(pipeline) = origin else {
            let kind = OccurrenceKind::Sent(entry.id);
            occurrences.push(Occurrence { at: entry.created, kind, origin, title });
            continue;
        };
        let of_day = automated.entry((pipeline, entry.created.day())).or_insert((entry.created, entry.id, 0, title));
        of_day.2 += 1;
    }
    occurrences.extend(automated.into_iter().map(|((pipeline, _), (at, first, n_pushes, title))| Occurrence {
        at,
        kind: OccurrenceKind::Automated { first, n_pushes },
        origin: Origin::Pipeline(pipeline),
        title,
    }));
    occurrences
}

fn of_schedule(document: &Document, ahead: &Range<UtcMillis>, at_most: usize) -> Vec<Occurrence> {
    let Some((id, stored)) = StoredSchedule::readable(document) else { return Vec::new() };
    let schedule = &stored.scheduled.schedule;
    let kind = OccurrenceKind::Planned {
        recurs: schedule.recurring.is_some(),
        is_local: schedule.first.is_local(),
        is_paused: schedule.is_paused(),
    };
    let title = stored.scheduled.name.clone().or_else(|| title_of(&stored.scheduled.push));
    // What has been sent is among the pushes.
    let from = ahead.start.max(UtcMillis(stored.timing.done_until.0 + 1));
    let times = schedule.times_between(from, ahead.end).take(at_most);
    let occurrence = |at| Occurrence { at, kind, origin: Origin::Schedule(id), title: title.clone() };
    times.map(occurrence).collect()
}

/// The variants that wait for their time.
fn of_experiment(document: &Document, ahead: &Range<UtcMillis>) -> Vec<Occurrence> {
    let Some((id, stored)) = StoredExperiment::named(document) else { return Vec::new() };
    let title = stored.experiment.name.clone().or_else(|| stored.experiment.pushes().next().and_then(title_of));
    let variants = stored.experiment.variants.iter().zip(&stored.timings);
    let waiting = variants.filter_map(|(variant, timing)| {
        let (schedule, (_, due)) = (variant.schedule.as_ref()?, (*timing)?.timer?);
        let kind = OccurrenceKind::Planned { recurs: false, is_local: schedule.first.is_local(), is_paused: false };
        Some(Occurrence { at: due, kind, origin: Origin::Experiment(id), title: title.clone() })
    });
    waiting.filter(|occurrence| ahead.contains(&occurrence.at)).collect()
}

fn title_of(push: &Push) -> Option<String> {
    let shown = push.shown_texts();
    push.name.clone().or(shown.title).or(shown.alert)
}
