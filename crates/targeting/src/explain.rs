//! Explaining an audience: how many are in it, the effect of each part, and probable typing mistakes. Nothing is sent.

mod clauses;
mod counts;
mod near;
mod of_one;
mod warnings;

use std::sync::Arc;

use audience::index::Index;
use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::payload::device_types::DeviceTypes;
use model::selector::{Atomic, Audience, Selector};
use roaring::RoaringBitmap;
use store::Tx;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Targeting;
use crate::check::unsupported;
use crate::device_types::{device_types, open_types, types_of};
use crate::online::connected;
use crate::past_pushes::unknown_pushes;
use crate::plan::Planner;
use clauses::Explainer;
use counts::count_by_device_type;
pub use counts::{DeliveryCount, DeviceTypeCount};
pub use of_one::{AsOf, ClauseOfOne, Moment};
use warnings::{Names, Warner};

/// The number of explanations computed at a time, unless they are of everybody. Each may take seconds of a core, which others need
/// as well.
const AT_ONCE: usize = 2;

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Channels in the audience, of the device types asked for.
    pub matched: u64,
    /// Those of them that have a live connection.
    pub online: u64,
    pub by_device_type: Vec<DeviceTypeCount>,
    /// The audience taken apart; `None` for `all`.
    pub clause: Option<Clause>,
    pub warnings: Vec<Warning>,
}

/// One selector and its effect next to its neighbors.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    pub path: String,
    /// The selector, unless it is made of others: they follow, and repeating them at every level would make a long answer.
    pub selector: Option<Atomic>,
    /// Channels it selects by itself.
    pub matched: u64,
    pub effect: Effect,
    pub clauses: Vec<Clause>,
}

/// The effect of a member of AND or OR on the result of the members before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The whole audience, or the inside of NOT.
    Whole,
    /// A member of AND: how many stay and how many it takes away.
    Keeps { kept: u64, dropped: u64 },
    /// A member of OR: how many it adds to those before it.
    Adds { added: u64 },
}

/// Something that is probably not meant, such as a name that no channel has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub path: String,
    pub message: String,
    /// Names in use that are spelled almost like it, the nearest first.
    pub near: Vec<String>,
}

/// How many audiences are explained at once.
pub(crate) struct Turns(Arc<Semaphore>);

impl Turns {
    async fn next(&self) -> Result<OwnedSemaphorePermit> {
        self.0.clone().acquire_owned().await.map_err(Error::internal)
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

/// Everything that explaining an audience needs from the database.
enum Planned {
    Everyone,
    Recipients(Plan),
    /// A selector, with the plans of its atomic ones in the order of the text.
    Selector {
        selector: Selector,
        plans: Vec<AtomPlan>,
        names: Names,
    },
}

/// The plan of an atomic selector.
struct AtomPlan {
    plan: Plan,
    /// Whether it depends on a place that the atlas does not have.
    is_unknown: bool,
}

#[boxed]
impl Targeting {
    /// Explains an audience as a push accepted now would resolve it.
    pub async fn explain(&self, app: AppId, audience: Audience, types: DeviceTypes) -> Result<Explanation> {
        if let Audience::Selector(selector) = &audience {
            Error::refuse(unsupported(selector, "audience"))?;
        }
        self.ready_atlas_to_plan(app, &audience).await?;
        let index = self.0.index.current(app).await?;
        // Everybody is counted in no time, which pages that are brought up to date all the time rely on.
        let is_quick = matches!(audience, Audience::All(_));
        let turn = if is_quick { None } else { Some(self.0.explaining.next().await?) };
        let (now, known) = (self.0.clock.now(), index.clone());
        let open_types = open_types(&types, &index);
        let plan = move |tx: &mut Tx<'_>| {
            if let Audience::Selector(selector) = &audience {
                Error::refuse(unknown_pushes(tx, app, selector, "audience")?)?;
            }
            let planned = plan(&mut Planner::new(tx, app, &known, now, open_types), audience)?;
            Ok::<_, Error>((planned, connected(tx, app, now)?))
        };
        let (planned, online) = self.0.store.read(plan).await?;
        // Only planning needs the database. The rest would keep one of a few connections from others.
        let work = move || {
            let explanation = work_out(&index, planned, &online, device_types(&types, &index));
            drop(turn);
            explanation
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}

fn plan(planner: &mut Planner<'_, '_>, audience: Audience) -> Result<Planned> {
    Ok(match audience {
        Audience::All(_) => Planned::Everyone,
        Audience::Triggered(_) | Audience::CreateAndSend(_) | Audience::Uploaded(_) => {
            Planned::Recipients(planner.audience(&audience)?)
        }
        Audience::Selector(selector) => {
            let reached = planner.prepare(&selector)?;
            let plans = selector.atoms().map(|atomic| {
                let n_unknown = planner.unknown.n_met();
                let plan = planner.atomic(atomic)?;
                Ok(AtomPlan { plan, is_unknown: planner.unknown.n_met() > n_unknown })
            });
            let plans = plans.collect::<Result<_>>()?;
            let names = Names::read(planner.tx, planner.app, &selector, reached)?;
            Planned::Selector { selector, plans, names }
        }
    })
}

/// The index keeps changing meanwhile. So it is asked everything once, and all counts are of those sets.
fn work_out(index: &Index, planned: Planned, online: &RoaringBitmap, types: Vec<DeviceType>) -> Explanation {
    let everyone = index.resolve(&Plan::Everyone);
    let (audience, clause, warnings) = match planned {
        Planned::Everyone => (everyone, None, Vec::new()),
        Planned::Recipients(plan) => (index.resolve(&plan.normalize()), None, Vec::new()),
        Planned::Selector { selector, plans, names } => {
            let mut explainer = Explainer::new(index, everyone, plans, Warner::new(index, &names));
            let (clause, audience) = explainer.explain(&selector, "audience".to_owned());
            (audience, Some(clause), explainer.warner.warnings)
        }
    };
    let online = types_of(index, &(&audience & online));
    let online = online.iter().filter(|(of_type, _)| types.contains(of_type)).map(|(_, having)| having.len()).sum();
    let by_device_type = count_by_device_type(index, &audience, types);
    let matched = by_device_type.iter().map(|count| count.matched).sum();
    Explanation { matched, online, by_device_type, clause, warnings }
}
