//! Conditions on a channel, as a plan over the index.

use audience::plan::Plan;
use model::pipeline::{Condition, Fact, Junction};
use targeting::Planner;

/// The channels for which a condition holds.
pub(super) fn holds(planner: &Planner<'_, '_>, condition: &Condition) -> Plan {
    let facts = condition.facts.iter().map(|(fact, is_negated)| {
        let is_so = match fact {
            Fact::Tag { group, tag } => planner.tag(group, tag),
            Fact::Subscribed(list) => devices::subscribers(planner.index, &[list.as_str().to_owned()]),
        };
        if *is_negated { Plan::Not(Box::new(is_so)) } else { is_so }
    });
    match condition.junction {
        Junction::And => Plan::And(facts.collect()),
        Junction::Or => Plan::Or(facts.collect()),
    }
}
