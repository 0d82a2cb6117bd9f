//! A selector taken apart: the set of every part, and its effect on the result of its neighbors.

use std::vec;

use audience::index::Index;
use model::selector::Selector;
use roaring::RoaringBitmap;

use super::warnings::Warner;
use super::{AtomPlan, Clause, Effect};

pub(super) struct Explainer<'a> {
    index: &'a Index,
    /// All sets are parts of it.
    everyone: RoaringBitmap,
    /// The plans of the atomic selectors that have not been met yet.
    plans: vec::IntoIter<AtomPlan>,
    /// How many atomic selectors with what nobody knows have been met.
    n_unknown: usize,
    pub(super) warner: Warner<'a>,
}

impl<'a> Explainer<'a> {
    pub(super) fn new(index: &'a Index, everyone: RoaringBitmap, plans: Vec<AtomPlan>, warner: Warner<'a>) -> Self {
        Self { index, everyone, plans: plans.into_iter(), n_unknown: 0, warner }
    }

    /// Explains a selector and everything in it, and gives the set it selects.
    pub(super) fn explain(&mut self, selector: &Selector, path: String) -> (Clause, RoaringBitmap) {
        let mut atom = None;
        let (clauses, set) = match selector {
            Selector::And { spelling, members } => {
                let (everyone, path) = (self.everyone.clone(), format!("{path}.{}", spelling.as_str()));
                self.members(members, &path, everyone, |kept, member| {
                    let before = kept.len();
                    *kept &= member;
                    Effect::Keeps { kept: kept.len(), dropped: before - kept.len() }
                })
            }
            Selector::Or { spelling, members } => {
                let path = format!("{path}.{}", spelling.as_str());
                self.members(members, &path, RoaringBitmap::new(), |all, member| {
                    let before = all.len();
                    *all |= member;
                    Effect::Adds { added: all.len() - before }
                })
            }
            Selector::Not { spelling, member, in_array } => {
                let index = if *in_array { "[0]" } else { "" };
                let n_unknown = self.n_unknown;
                let (clause, set) = self.explain(member, format!("{path}.{}{index}", spelling.as_str()));
                // As in a push: the complement of an unknown set is not everybody.
                let is_known = self.n_unknown == n_unknown;
                (vec![clause], if is_known { &self.everyone - set } else { RoaringBitmap::new() })
            }
            Selector::Atomic(atomic) => {
                self.warner.look_at(atomic, &path);
                atom = Some(atomic.clone());
                let AtomPlan { plan, is_unknown } = self.plans.next().expect("every atomic selector was planned");
                self.n_unknown += usize::from(is_unknown);
                (Vec::new(), self.index.resolve(&plan.normalize()) & &self.everyone)
            }
        };
        (Clause { path, selector: atom, matched: set.len(), effect: Effect::Whole, clauses }, set)
    }

    /// Members in their order, each of which changes the result of those before it.
    fn members(
        &mut self,
        members: &[Selector],
        path: &str,
        mut left: RoaringBitmap,
        join: impl Fn(&mut RoaringBitmap, RoaringBitmap) -> Effect,
    ) -> (Vec<Clause>, RoaringBitmap) {
        let mut clauses = Vec::with_capacity(members.len());
        for (i, member) in members.iter().enumerate() {
            let (clause, set) = self.explain(member, format!("{path}[{i}]"));
            clauses.push(Clause { effect: join(&mut left, set), ..clause });
        }
        (clauses, left)
    }
}
