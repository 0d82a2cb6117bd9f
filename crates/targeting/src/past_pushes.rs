//! Selectors by earlier pushes: the sets that their accounts keep.

use audience::codec;
use audience::plan::Plan;
use base::{Error, Result};
use model::ids::{AppId, Id, PushId};
use model::problem::{Problem, ProblemKind};
use model::push_outcome::PushOutcome;
use model::selector::{Atomic, PastOutcome, PastPush, PastPushId, Selector};
use roaring::RoaringBitmap;
use store::push_marks::{self, ResponseKind};
use store::{Tx, blocks, origins, push_outcomes, pushes};

use crate::plan::Planner;

/// The newest pushes of a group that are looked at.
const MOST_OF_GROUP: u32 = 1_000;

/// Everybody whom an audience had.
const MATCHED: [PushOutcome; 8] = [
    PushOutcome::Delivered,
    PushOutcome::Failed,
    PushOutcome::Gone,
    PushOutcome::Expired,
    PushOutcome::OptedOut,
    PushOutcome::NoAddress,
    PushOutcome::NotAddressed,
    PushOutcome::HeldBack,
];

/// Refuses selectors by pushes that are not known, or not any more: nobody can tell whom they would select.
pub fn unknown_pushes(tx: &mut Tx<'_>, app: AppId, selector: &Selector, path: &str) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for (path, atomic) in selector.atoms_with_paths(path) {
        if let Atomic::Push(past) = atomic {
            problems.extend(unknown_push(tx, app, past, || format!("{path}.push.id"))?);
        }
    }
    Ok(problems)
}

/// As [`unknown_pushes`], for one push whose id is at a path.
pub fn unknown_push(
    tx: &mut Tx<'_>,
    app: AppId,
    past: &PastPush,
    path: impl FnOnce() -> String,
) -> Result<Option<Problem>> {
    if !meant(tx, app, past.id)?.is_empty() {
        return Ok(None);
    }
    let message = format!(
        "There is no push {}, nor a schedule, an experiment or a pipeline with this id that has sent anything; or it was so long \
         ago that it is not kept any more.",
        past.id
    );
    Ok(Some(Problem { path: path(), message, kind: ProblemKind::Invalid }))
}

/// The pushes that an id stands for.
fn meant(tx: &mut Tx<'_>, app: AppId, id: PastPushId) -> Result<Vec<PushId>> {
    let push: PushId = Id::from_uuid(id.uuid());
    if pushes::sending_state(tx, app, push)?.is_some() {
        return Ok(vec![push]);
    }
    let Some((_, origin)) = origins::first_of_group(tx, app, id.uuid())? else { return Ok(Vec::new()) };
    Ok(origins::last_pushes(tx, app, origin, MOST_OF_GROUP)?)
}

impl Planner<'_, '_> {
    /// The channels for which a push had an outcome. An unknown push selects nobody, and so does its opposite.
    pub fn past_push(&mut self, past: &PastPush) -> Result<Plan> {
        let pushes = meant(self.tx, self.app, past.id)?;
        if pushes.is_empty() {
            self.unknown.meet_push(past.id);
            return Ok(Plan::Nobody);
        }
        let delivered = |planner: &mut Self| planner.sets(&pushes, &[PushOutcome::Delivered]);
        Ok(Plan::Set(match past.outcome {
            PastOutcome::Delivered => delivered(self)?,
            PastOutcome::Failed => self.sets(&pushes, &[PushOutcome::Failed])?,
            PastOutcome::NotDelivered => self.sets(&pushes, &MATCHED)? - delivered(self)?,
            PastOutcome::Opened => self.openers(&pushes)?,
            PastOutcome::NotOpened => delivered(self)? - self.openers(&pushes)?,
        }))
    }

    fn sets(&mut self, pushes: &[PushId], outcomes: &[PushOutcome]) -> Result<RoaringBitmap> {
        let mut all = RoaringBitmap::new();
        for push in pushes {
            for set in push_outcomes::members(self.tx, self.app, *push, outcomes)? {
                all |= decode(&set)?;
            }
            // Those whose turn has not come are meant, too, and what an earlier version has sent is only here.
            for (outcome, set) in blocks::sets(self.tx, self.app, *push)? {
                if outcome.map_or(outcomes.len() == MATCHED.len(), |outcome| outcomes.contains(&outcome)) {
                    all |= decode(&set)?;
                }
            }
        }
        Ok(all)
    }

    fn openers(&mut self, pushes: &[PushId]) -> Result<RoaringBitmap> {
        let mut all = RoaringBitmap::new();
        for push in pushes {
            push_marks::visit(self.tx, self.app, *push, ResponseKind::Opened, |channel| {
                all.insert(channel.0);
            })?;
            for (_, set) in push_marks::sets(self.tx, self.app, *push, ResponseKind::Opened)? {
                all |= decode(&set)?;
            }
        }
        Ok(all)
    }
}

fn decode(bytes: &[u8]) -> Result<RoaringBitmap> {
    codec::decode(bytes).map_err(Error::internal)
}
