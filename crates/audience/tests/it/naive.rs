//! The oracle: who is in a plan, decided one channel at a time with nothing but plain sets.

use std::collections::{BTreeMap, BTreeSet};

use audience::codec::decode;
use audience::plan::Plan;
use model::ids::{Ordinal, TermId};
use model::term::{TermChange, TermSet, TermsRecord};

#[derive(Clone, Default)]
pub(crate) struct Naive {
    /// Never an empty set: a channel without terms is not there.
    pub(crate) channels: BTreeMap<Ordinal, BTreeSet<TermId>>,
}

impl Naive {
    pub(crate) fn apply(&mut self, record: &TermsRecord) {
        record.changes.iter().for_each(|change| self.change(change));
        record.sets.iter().for_each(|set| self.change_many(set));
    }

    pub(crate) fn change(&mut self, change: &TermChange) {
        let mut terms = self.channels.remove(&change.ordinal).unwrap_or_default();
        terms.retain(|term| !change.removed.contains(term));
        terms.extend(&change.added);
        if !terms.is_empty() {
            self.channels.insert(change.ordinal, terms);
        }
    }

    fn change_many(&mut self, set: &TermSet) {
        let ordinals = |bytes: &[u8]| -> BTreeSet<Ordinal> {
            if bytes.is_empty() { BTreeSet::new() } else { decode(bytes).unwrap().iter().map(Ordinal).collect() }
        };
        let (added, removed) = (ordinals(&set.added), ordinals(&set.removed));
        for (ordinal, terms) in &mut self.channels {
            if added.contains(ordinal) {
                terms.insert(set.term);
            } else if removed.contains(ordinal) {
                terms.remove(&set.term);
            }
        }
        self.channels.retain(|_, terms| !terms.is_empty());
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
