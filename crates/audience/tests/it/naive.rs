//! The oracle: who is in a plan, decided one channel at a time with nothing but plain sets.

use std::collections::{BTreeMap, BTreeSet};

use audience::codec::decode;
use audience::plan::Plan;
use model::ids::{Ordinal, TermId};
use model::term::{TermChange, TermSet, TermsRecord};

use crate::arbitrary::APART;

/// The terms of each channel, and of those that have left if they hold terms that are kept apart.
#[derive(Clone, Default)]
pub(crate) struct Naive {
    pub(crate) terms: BTreeMap<Ordinal, BTreeSet<TermId>>,
}

impl Naive {
    pub(crate) fn apply(&mut self, record: &TermsRecord) {
        record.changes.iter().for_each(|change| self.change(change));
        record.sets.iter().for_each(|set| self.change_many(set));
    }

    pub(crate) fn change(&mut self, change: &TermChange) {
        let terms = self.terms.entry(change.ordinal).or_default();
        terms.retain(|term| !change.removed.contains(term));
        terms.extend(&change.added);
    }

    fn change_many(&mut self, set: &TermSet) {
        let ordinals = |bytes: &[u8]| -> Vec<Ordinal> {
            if bytes.is_empty() {
                return Vec::new();
            }
            decode(bytes).expect("the sets of the records are readable").iter().map(Ordinal).collect()
        };
        let added = ordinals(&set.added);
        for ordinal in ordinals(&set.removed) {
            if added.binary_search(&ordinal).is_err()
                && let Some(terms) = self.terms.get_mut(&ordinal)
            {
                terms.remove(&set.term);
            }
        }
        for ordinal in added {
            if APART.contains(&set.term) {
                self.terms.entry(ordinal).or_default().insert(set.term);
            } else if let Some(terms) = self.terms.get_mut(&ordinal)
                && is_there(terms)
            {
                terms.insert(set.term);
            }
        }
    }

    pub(crate) fn resolve(&self, plan: &Plan) -> Vec<u32> {
        self.terms
            .iter()
            .filter(|(ordinal, terms)| is_there(terms) && matches(plan, **ordinal, terms))
            .map(|(ordinal, _)| ordinal.0)
            .collect()
    }
}

fn is_there(terms: &BTreeSet<TermId>) -> bool {
    terms.iter().any(|term| !APART.contains(term))
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
