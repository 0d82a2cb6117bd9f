//! Selectors by earlier pushes: the sets that their accounts keep.

use std::collections::HashMap;
use std::ops::RangeInclusive;

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

/// The newest pushes of a group that are looked at, and how many sets are read of them: a set has up to 8 KiB.
const MOST_OF_GROUP: u32 = 1_000;
const MOST_SETS: usize = 20_000;

/// The channels selected by earlier pushes, each looked up once.
#[derive(Default)]
pub struct PastSets(HashMap<(PastPushId, PastOutcome), Plan>);

/// Refuses selectors by pushes that are not known, or not any more: nobody can tell whom they would select.
pub fn unknown_pushes(tx: &mut Tx<'_>, app: AppId, selector: &Selector, path: &str) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for (path, atomic) in selector.atoms_with_paths(path) {
        if let Atomic::Push(past) = atomic {
            problems.extend(unknown_push(tx, app, past, || format!("{path}.push.id"))?);
        }
        if let Atomic::Activity(activity) = atomic
            && let Some(past) = activity.push()
        {
            problems.extend(unknown_push(tx, app, &past, || format!("{path}.where.value"))?);
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

/// The pushes that an id stands for, the newest first, as far as it is known what became of them.
fn meant(tx: &mut Tx<'_>, app: AppId, id: PastPushId) -> Result<Vec<PushId>> {
    let push: PushId = Id::from_uuid(id.uuid());
    if has_account(tx, app, push)? {
        return Ok(vec![push]);
    }
    let Some((_, origin)) = origins::first_of_group(tx, app, id.uuid())? else { return Ok(Vec::new()) };
    let mut known = Vec::new();
    for push in origins::last_pushes(tx, app, origin, MOST_OF_GROUP)?.into_iter().rev() {
        if has_account(tx, app, push)? {
            known.push(push);
        }
    }
    Ok(known)
}

/// Of a push that an earlier version sent, only the progress of its blocks tells, and that is deleted after 30 days.
fn has_account(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<bool> {
    let Some(found) = pushes::sending_state(tx, app, push)? else { return Ok(false) };
    Ok(!found.state.is_final() || pushes::resolved(tx, app, push)?.is_some() || blocks::any(tx, app, push)?)
}

impl Planner<'_, '_> {
    /// The channels for which a push had an outcome. An unknown push selects nobody, and so does its opposite.
    pub fn past_push(&mut self, past: &PastPush) -> Result<Plan> {
        let key = (past.id, past.outcome);
        if let Some(plan) = self.past.0.get(&key) {
            return Ok(plan.clone());
        }
        let pushes = meant(self.tx, self.app, past.id)?;
        if pushes.is_empty() {
            self.unknown.meet_push(past.id);
            return Ok(Plan::Nobody);
        }
        let mut found = Found::default();
        for push in pushes {
            if found.n_sets >= MOST_SETS {
                break;
            }
            match past.outcome {
                PastOutcome::Delivered => {
                    self.read(push, PushOutcome::Delivered..=PushOutcome::Delivered, &mut found)?
                }
                PastOutcome::Failed => self.read(push, PushOutcome::Failed..=PushOutcome::Failed, &mut found)?,
                PastOutcome::NotDelivered => self.read(push, PushOutcome::FIRST..=PushOutcome::LAST, &mut found)?,
                PastOutcome::Opened => self.read_openers(push, &mut found)?,
                PastOutcome::NotOpened => {
                    self.read(push, PushOutcome::Delivered..=PushOutcome::Delivered, &mut found)?;
                    self.read_openers(push, &mut found)?;
                }
            }
        }
        let Found { delivered, others, openers, .. } = found;
        let plan = Plan::Set(match past.outcome {
            PastOutcome::Delivered => delivered,
            PastOutcome::Failed => others,
            PastOutcome::NotDelivered => others - delivered,
            PastOutcome::Opened => openers,
            PastOutcome::NotOpened => delivered - openers,
        });
        self.past.0.insert(key, plan.clone());
        Ok(plan)
    }

    fn read(&mut self, push: PushId, wanted: RangeInclusive<PushOutcome>, found: &mut Found) -> Result<()> {
        for (outcome, set) in push_outcomes::members(self.tx, self.app, push, wanted.clone())? {
            found.add(Some(outcome), &set)?;
        }
        let is_recorded = pushes::resolved(self.tx, self.app, push)?.is_some();
        for (outcome, set) in blocks::sets(self.tx, self.app, push)? {
            // Whose turn has not come is only there; and so is everything that an earlier version has sent.
            let is_wanted = match outcome {
                None => *wanted.end() == PushOutcome::LAST,
                Some(outcome) => !is_recorded && wanted.contains(&outcome),
            };
            if is_wanted {
                found.add(outcome, &set)?;
            }
        }
        Ok(())
    }

    fn read_openers(&mut self, push: PushId, found: &mut Found) -> Result<()> {
        push_marks::visit(self.tx, self.app, push, ResponseKind::Opened, |channel| {
            found.openers.insert(channel.0);
        })?;
        for (_, set) in push_marks::sets(self.tx, self.app, push, ResponseKind::Opened)? {
            found.n_sets += 1;
            found.openers |= decode(&set)?;
        }
        Ok(())
    }
}

/// What became of pushes, as far as it was asked for.
#[derive(Default)]
struct Found {
    delivered: RoaringBitmap,
    /// With any other outcome, or none yet.
    others: RoaringBitmap,
    openers: RoaringBitmap,
    n_sets: usize,
}

impl Found {
    fn add(&mut self, outcome: Option<PushOutcome>, set: &[u8]) -> Result<()> {
        self.n_sets += 1;
        match outcome {
            Some(PushOutcome::Delivered) => self.delivered |= decode(set)?,
            Some(_) | None => self.others |= decode(set)?,
        }
        Ok(())
    }
}

fn decode(bytes: &[u8]) -> Result<RoaringBitmap> {
    codec::decode(bytes).map_err(Error::internal)
}
