//! Conditions on a channel, as a plan over the index.

use audience::plan::Plan;
use base::Result;
use model::ids::Ordinal;
use model::pipeline::{Condition, Fact, Junction};
use model::selector::Selector;
use roaring::RoaringBitmap;
use store::channels;
use targeting::Planner;

/// The plans of audiences that conditions ask about. With attributes, planning reads all values of the app, so it is done once for
/// many events.
#[derive(Default)]
pub(super) struct PlannedAudiences(Vec<(Selector, Plan)>);

impl PlannedAudiences {
    fn plan(&mut self, planner: &mut Planner<'_, '_>, selector: &Selector) -> Result<Plan> {
        if let Some((_, plan)) = self.0.iter().find(|(known, _)| known == selector) {
            return Ok(plan.clone());
        }
        let plan = planner.selected(selector)?;
        // One with an unknown push is planned again, so that it is met again.
        if !planner.unknown.has_push {
            self.0.push((selector.clone(), plan.clone()));
        }
        Ok(plan)
    }
}

/// The channels for which a condition holds, of some that are asked about.
///
/// A push that is not known any more makes it hold for nobody, negated or not.
pub(super) fn holds(
    planner: &mut Planner<'_, '_>,
    audiences: &mut PlannedAudiences,
    condition: &Condition,
    asked: &RoaringBitmap,
) -> Result<Plan> {
    let mut facts = Vec::with_capacity(condition.facts.len());
    for (fact, is_negated) in &condition.facts {
        let is_so = match fact {
            Fact::Tag { group, tag } => planner.tag(group, tag),
            Fact::Subscribed(list) => devices::subscribers(planner.index, &[list.as_str().to_owned()]),
            Fact::Push(past) => planner.past_push(past)?,
            Fact::HasNamedUser => {
                let with_user = channels::with_named_user(planner.tx, planner.app, asked.iter().map(Ordinal))?;
                Plan::Set(with_user.into_iter().map(|Ordinal(number)| number).collect())
            }
            Fact::InAudience(selector) => audiences.plan(planner, selector)?,
            Fact::InactiveSinceTriggered => Plan::Everyone,
        };
        facts.push(if *is_negated { Plan::Not(Box::new(is_so)) } else { is_so });
    }
    Ok(match condition.junction {
        _ if planner.unknown.has_push => Plan::Nobody,
        Junction::And => Plan::And(facts),
        Junction::Or => Plan::Or(facts),
    })
}
