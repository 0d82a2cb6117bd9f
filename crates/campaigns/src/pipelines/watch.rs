//! The triggers of an app's pipelines, arranged so that a record of the log that matters to none of them costs little.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use base::Result;
use model::event::{RecordKind, RegionAction};
use model::ids::{AppId, Offset, PipelineId};
use model::payload::Push;
use model::pipeline::{Condition, EventSelector, Happening, Period};
use model::time::UtcMillis;
use parking_lot::Mutex;
use store::Tx;

use super::stored::{self, Stored};
use super::timers::{Canceling, WaitingList};

/// The cached pipelines of apps. They are read again when their revision has changed.
#[derive(Default)]
pub(crate) struct Watches(Mutex<HashMap<AppId, Arc<Watch>>>);

/// The enabled pipelines of an app, by their triggers.
#[derive(Default)]
pub(super) struct Watch {
    pub(super) revision: Option<String>,
    pub(super) pipelines: Vec<Watched>,
    pub(super) opens: Vec<Wish>,
    pub(super) first_opens: Vec<Wish>,
    pub(super) first_opt_ins: Vec<Wish>,
    /// Tags and subscriptions.
    pub(super) changes: Vec<(Happening, Wish)>,
    /// By the name that the event must have.
    pub(super) named_events: HashMap<String, Vec<(EventSelector, Wish)>>,
    pub(super) other_events: Vec<(EventSelector, Wish)>,
    pub(super) regions: Vec<(RegionAction, Option<EventSelector>, Wish)>,
    /// The conditions that are checked when a trigger happens, for the triggers that have some.
    pub(super) conditions: Vec<Vec<Condition>>,
}

pub(super) struct Watched {
    pub(super) list: WaitingList,
    /// Only log records after this count.
    pub(super) since: Offset,
    /// Earlier events do not count, however late they are recorded.
    pub(super) since_time: UtcMillis,
    pub(super) delay: Duration,
    /// Whether its channels may wait for longer or shorter than the delay: until a time of day, or for the delay of an earlier
    /// version of it.
    pub(super) waits_otherwise: bool,
    pub(super) canceling: Canceling,
    pub(super) active: Period,
    /// Whether its messages may be filled in with the properties of events.
    pub(super) is_personalized: bool,
}

/// A pipeline that waits for an event, and what the event does to it.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// Its index among the pipelines.
    pub(super) pipeline: usize,
    pub(super) aim: Aim,
    /// The index of its conditions among all.
    pub(super) conditions: Option<usize>,
    pub(super) active: Period,
}

#[derive(Clone, Copy)]
pub(super) enum Aim {
    SetOff,
    Cancel,
}

impl Watches {
    /// As the transaction sees them.
    pub(super) fn current(&self, tx: &mut Tx<'_>, app: AppId) -> Result<Arc<Watch>> {
        let revision = stored::revision(tx, app)?;
        let known = self.0.lock().get(&app).cloned();
        if let Some(known) = known.filter(|known| known.revision == revision) {
            return Ok(known);
        }
        let mut watch = Watch { revision, ..Watch::default() };
        Stored::each_enabled(tx, app, |id, stored| watch.add(id, stored))?;
        let watch = Arc::new(watch);
        self.0.lock().insert(app, watch.clone());
        Ok(watch)
    }

    pub(crate) fn forget(&self, app: AppId) {
        self.0.lock().remove(&app);
    }
}

impl Watch {
    fn add(&mut self, id: PipelineId, stored: &Stored) {
        let number = self.pipelines.len();
        let Stored { pipeline, modified, since, since_time, .. } = stored;
        self.pipelines.push(Watched {
            list: stored.list(id),
            since: *since,
            since_time: *since_time,
            delay: pipeline.delay,
            waits_otherwise: pipeline.dayparts.is_some() || modified > since_time,
            canceling: Canceling::of(pipeline),
            active: pipeline.active,
            is_personalized: pipeline.outcomes.iter().any(Push::is_personalized),
        });
        if pipeline.ends_with_activity() {
            // Before the triggers: an open that sets the pipeline off ends an earlier wait, and begins another.
            let active = Period::default();
            self.opens.push(Wish { pipeline: number, aim: Aim::Cancel, conditions: None, active });
        }
        let immediate = pipeline.immediate.iter().map(|trigger| (trigger, Aim::SetOff));
        for (trigger, aim) in immediate.chain(pipeline.cancellation.iter().map(|trigger| (trigger, Aim::Cancel))) {
            let conditions = (!trigger.conditions.is_empty()).then_some(self.conditions.len());
            self.conditions.extend(conditions.map(|_| trigger.conditions.clone()));
            let wish = Wish { pipeline: number, aim, conditions, active: trigger.active };
            match &trigger.happening {
                Happening::Open => self.opens.push(wish),
                Happening::FirstOpen => self.first_opens.push(wish),
                Happening::FirstOptIn => self.first_opt_ins.push(wish),
                change @ (Happening::TagAdded { .. }
                | Happening::TagRemoved { .. }
                | Happening::SubscriptionAdded(_)
                | Happening::SubscriptionRemoved(_)) => self.changes.push((change.clone(), wish)),
                Happening::Custom(selector) => match selector.name() {
                    Some(name) => {
                        self.named_events.entry(name.to_owned()).or_default().push((selector.clone(), wish));
                    }
                    None => self.other_events.push((selector.clone(), wish)),
                },
                Happening::Region { action, selector } => self.regions.push((*action, selector.clone(), wish)),
            }
        }
    }

    /// The kinds of records that can matter.
    pub(super) fn kinds(&self) -> BTreeSet<RecordKind> {
        let wanted = [
            (RecordKind::Open, !self.opens.is_empty()),
            (RecordKind::FirstOpen, !self.first_opens.is_empty() || !self.first_opt_ins.is_empty()),
            (RecordKind::FirstOptIn, !self.first_opt_ins.is_empty()),
            (RecordKind::Terms, !self.changes.is_empty()),
            (RecordKind::Custom, !self.named_events.is_empty() || !self.other_events.is_empty()),
            (RecordKind::Region, !self.regions.is_empty()),
        ];
        wanted.into_iter().filter_map(|(kind, is_wanted)| is_wanted.then_some(kind)).collect()
    }
}
