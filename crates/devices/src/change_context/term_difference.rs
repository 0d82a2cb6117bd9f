//! The terms that a channel or a named user gains and loses.

use model::ids::TermId;

/// Both lists are sorted, and have no number in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermDifference {
    pub(crate) added: Vec<TermId>,
    pub(crate) removed: Vec<TermId>,
}

impl TermDifference {
    /// The difference of two sorted lists.
    pub(crate) fn between(before: &[TermId], after: &[TermId]) -> Self {
        Self { added: missing_in(before, after), removed: missing_in(after, before) }
    }

    /// Without the terms that another holder has too: those neither come nor go. The list is sorted.
    pub(crate) fn beside(mut self, others: &[TermId]) -> Self {
        if !others.is_empty() {
            self.added.retain(|id| others.binary_search(id).is_err());
            self.removed.retain(|id| others.binary_search(id).is_err());
        }
        self
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// The sorted list after the change, of a sorted list before it.
    pub(crate) fn apply(&self, before: &[TermId]) -> Vec<TermId> {
        let mut after = Vec::with_capacity(before.len() + self.added.len());
        after.extend(before.iter().filter(|id| self.removed.binary_search(id).is_err()));
        after.extend_from_slice(&self.added);
        after.sort_unstable();
        after.dedup();
        after
    }
}

fn missing_in(list: &[TermId], wanted: &[TermId]) -> Vec<TermId> {
    wanted.iter().filter(|id| list.binary_search(id).is_err()).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const N: usize>(numbers: [u32; N]) -> Vec<TermId> {
        numbers.map(TermId).to_vec()
    }

    #[test]
    fn a_difference_leads_from_one_list_to_the_other() {
        for (before, after) in [
            (ids([]), ids([])),
            (ids([]), ids([1, 2])),
            (ids([1, 2]), ids([])),
            (ids([1, 3, 5, 9]), ids([2, 3, 9, 10])),
            (ids([4, 5]), ids([1, 4, 5])),
        ] {
            let difference = TermDifference::between(&before, &after);
            assert_eq!(difference.is_empty(), before == after);
            assert_eq!(difference.apply(&before), after);
        }
    }

    #[test]
    fn terms_of_another_holder_neither_come_nor_go() {
        let difference = TermDifference { added: ids([2, 4, 6]), removed: ids([1, 3, 5]) };
        let left = TermDifference { added: ids([2, 6]), removed: ids([1, 5]) };
        assert_eq!(difference.clone().beside(&ids([3, 4, 7])), left);
        assert_eq!(difference.clone().beside(&[]), difference);
    }
}
