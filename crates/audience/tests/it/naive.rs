//! The oracle: who is in a plan, decided one channel at a time with nothing but plain sets.

use std::collections::{BTreeMap, BTreeSet};

use audience::plan::Plan;
use model::ids::{Ordinal, TermId};
use model::term::TermChange;

#[derive(Default)]
pub(crate) struct Naive {
    /// Never an empty set: a channel without terms is not there.
    pub(crate) channels: BTreeMap<Ordinal, BTreeSet<TermId>>,
}

impl Naive {
    pub(crate) fn change(&mut self, change: &TermChange) {
        let mut terms = self.channels.remove(&change.ordinal).unwrap_or_default();
        terms.retain(|term| !change.removed.contains(term));
        terms.extend(&change.added);
        if !terms.is_empty() {
            self.channels.insert(change.ordinal, terms);
        }
    }

    pub(crate) fn resolve(&self, plan: &Plan) -> Vec<u32> {
        self.channels
            .iter()
            .filter(|(ordinal, terms)| matches(plan, **ordinal, terms))
            .map(|(ordinal, _)| ordinal.0)
            .collect()
    }
}

fn matches(plan: &Plan, ordinal: Ordinal, terms: &BTreeSet<TermId>) -> bool {
    match plan {
        Plan::Everyone => true,
        Plan::Nobody => false,
        Plan::Term(term) => terms.contains(term),
        Plan::Set(set) => set.contains(ordinal.0),
        Plan::And(parts) => parts.iter().all(|part| matches(part, ordinal, terms)),
        Plan::Or(parts) => parts.iter().any(|part| matches(part, ordinal, terms)),
        Plan::Not(inner) => !matches(inner, ordinal, terms),
    }
}
