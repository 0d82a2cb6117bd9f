//! What customers assign to a channel or a named user: tags, and membership in lists.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base::Result;
use model::channel::TagSets;
use model::limits;
use model::tag::{Tag, TagGroup};
use model::term::Term;

use crate::room::Limit;

/// As messages call them.
pub(crate) const TAGS: &str = "tags";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Groups may be empty; they count for nothing.
    pub tags: TagSets,
    /// Lists and subscriptions.
    pub(crate) memberships: BTreeSet<Term>,
    /// Tags of devices that were deleted after they were put there. They count for nothing.
    deleted: BTreeSet<Tag>,
}

/// Whether a holder is put on a list or taken off it.
#[derive(Clone, Copy)]
pub enum Membership {
    Joins,
    Leaves,
}

impl Holdings {
    /// Picks the assigned terms out of all terms of a channel.
    pub(crate) fn of(terms: impl IntoIterator<Item = Term>) -> Self {
        let mut holdings = Self::default();
        for term in terms {
            match term {
                Term::Tag { group, tag } if !group.is_read_only() => {
                    holdings.tags.entry(group).or_default().insert(tag);
                }
                Term::List(_) | Term::Subscription(_) => {
                    holdings.memberships.insert(term);
                }
                Term::Retired { tag, .. } => {
                    holdings.deleted.insert(tag);
                }
                Term::Tag { .. }
                | Term::DeviceType(_)
                | Term::Reach(_)
                | Term::Live(_)
                | Term::DeliveryType(_)
                | Term::OwnClock(_)
                | Term::Day(_)
                | Term::LastPlace(_) => {}
            }
        }
        holdings
    }

    pub(crate) fn terms(&self) -> Vec<Term> {
        self.terms_not_in(&Self::default())
    }

    /// The terms that others do not have. Deleted tags are no terms any more.
    pub(crate) fn terms_not_in(&self, others: &Self) -> Vec<Term> {
        let mut terms = Vec::new();
        for (group, tags) in &self.tags {
            let of_others = others.tags.get(group);
            let new = tags.iter().filter(|tag| of_others.is_none_or(|others| !others.contains(*tag)));
            terms.extend(new.map(|tag| Term::Tag { group: group.clone(), tag: tag.clone() }));
        }
        terms.extend(self.memberships.difference(&others.memberships).cloned());
        terms
    }

    /// Whether a term is among [`Holdings::terms`].
    pub(crate) fn has(&self, term: &Term) -> bool {
        match term {
            Term::Tag { group, tag } => self.tags.get(group).is_some_and(|tags| tags.contains(tag)),
            Term::List(_) | Term::Subscription(_) => self.memberships.contains(term),
            Term::Retired { .. }
            | Term::DeviceType(_)
            | Term::Reach(_)
            | Term::Live(_)
            | Term::DeliveryType(_)
            | Term::OwnClock(_)
            | Term::Day(_)
            | Term::LastPlace(_) => false,
        }
    }

    /// The tags as the events have published them so far: with deleted tags whose TAG_CHANGE has not been written yet.
    pub(crate) fn published_tags(&self) -> Cow<'_, TagSets> {
        self.tags_and(&self.deleted)
    }

    /// As [`Holdings::published_tags`], of a holder that replaces another: a deleted tag can stay but is not gained.
    pub(crate) fn published_tags_after(&self, other: &Self) -> Cow<'_, TagSets> {
        self.tags_and(&(&self.deleted & &other.deleted))
    }

    fn tags_and(&self, deleted: &BTreeSet<Tag>) -> Cow<'_, TagSets> {
        if deleted.is_empty() {
            return Cow::Borrowed(&self.tags);
        }
        let mut tags = self.tags.clone();
        tags.entry(TagGroup::device()).or_default().extend(deleted.iter().cloned());
        Cow::Owned(tags)
    }

    /// Takes away the terms of others.
    pub fn remove(&mut self, others: &Self) {
        for (group, tags) in &others.tags {
            if let Some(own) = self.tags.get_mut(group) {
                own.retain(|tag| !tags.contains(tag));
            }
        }
        self.memberships.retain(|term| !others.memberships.contains(term));
    }

    pub fn set_membership(&mut self, list: &Term, membership: Membership) {
        match membership {
            Membership::Joins => self.memberships.insert(list.clone()),
            Membership::Leaves => self.memberships.remove(list),
        };
    }

    pub(crate) fn n_tags(&self) -> usize {
        self.tags.values().map(BTreeSet::len).sum()
    }

    /// Refuses more tags than a channel may have.
    pub fn check_number_of_tags(&self) -> Result<()> {
        Ok(Limit::whole(limits::TAGS_PER_CHANNEL).check(0, self.n_tags(), "", TAGS)?)
    }
}
