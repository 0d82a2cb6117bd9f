//! Changing the assigned tags and lists of a channel, without its device properties.

use base::Result;
use model::ids::TermId;
use model::limits;
use model::term::{Term, is_assignable};
use store::channels::{self, Holder};
use store::{Tx, terms};

use super::OwnChange;
use crate::change_context::{ChangeContext, Tags};
use crate::holdings::{Holdings, TAGS};
use crate::room::{Limit, Room};
use crate::subscriptions::check_lists;

impl ChangeContext<'_> {
    /// Changes the tags and memberships of an installed channel, as far as they are in the groups that the changes are about.
    /// Servers do this all day, so the profile is not read and no other terms are named: they stay as they are.
    pub fn change_own(&mut self, tx: &mut Tx<'_>, row: &Holder, changes: &[OwnChange<'_>]) -> Result<()> {
        Ok(self.try_change_own(tx, row, changes)??)
    }

    /// As [`Self::change_own`], for one of many channels: one that is full is told from an error.
    pub(crate) fn try_change_own(&mut self, tx: &mut Tx<'_>, row: &Holder, changes: &[OwnChange<'_>]) -> Result<Room> {
        let is_about = |group: &str| changes.iter().any(|change| change.is_about(group));
        let named = self.named_of(tx, &row.terms, |group| is_assignable(group) && is_about(group))?;
        let before = Holdings::of(named.iter().map(|(_, term)| term.clone()));
        let mut after = before.clone();
        for change in changes {
            change.apply(&mut after, self.journal.now());
        }
        if after == before {
            return Ok(Ok(()));
        }
        // Before anything is written, so that a refused change leaves nothing to undo.
        let room = check_lists(&before, &after, Limit::whole(limits::SUBSCRIPTIONS_PER_OWNER));
        let room = room.and(self.check_tags(tx, row, &named, &after)?);
        if room.is_err() {
            return Ok(room);
        }
        let difference = self.difference(tx, &named, &before, &after)?;
        let terms = difference.apply(&row.terms);
        let of_user = self.terms_of_user(tx, row.named_user.as_ref())?;
        self.journal.change_terms(row.ordinal, difference.beside(&of_user));
        channels::set_terms(tx, self.app, row.id, &terms)?;
        self.record_subscription_events(row.ordinal, None, &before, &after)?;
        let before = Tags { own: &before.published_tags(), others: &of_user };
        self.record_tag_events(tx, row.ordinal, before, Tags { own: &after.tags, others: &of_user })?;
        Ok(Ok(()))
    }

    /// Refuses more tags than a channel may have: those after the change, and those that it is not about. The changed terms are
    /// in the order of their numbers.
    fn check_tags(&self, tx: &mut Tx<'_>, row: &Holder, changed: &[(TermId, Term)], after: &Holdings) -> Result<Room> {
        // Most channels have so few terms that it does not matter which of them are tags.
        if row.terms.len() - changed.len() + after.n_tags() <= limits::TAGS_PER_CHANNEL {
            return Ok(Ok(()));
        }
        let is_changed = |id: &TermId| changed.binary_search_by_key(id, |(changed, _)| *changed).is_ok();
        let others: Vec<TermId> = row.terms.iter().copied().filter(|id| !is_changed(id)).collect();
        let n_tags = self.n_tags(tx, &others)? + after.n_tags();
        Ok(Limit::whole(limits::TAGS_PER_CHANNEL).check(0, n_tags, "", TAGS))
    }

    /// How many of the terms are assigned tags.
    fn n_tags(&self, tx: &mut Tx<'_>, ids: &[TermId]) -> Result<usize> {
        let is_tag = |group: &str| !group.starts_with('@') && is_assignable(group);
        let (mut n_tags, mut new) = (0, Vec::new());
        self.index.visit_names(ids, |id, name| match name {
            Some((group, _)) => n_tags += usize::from(is_tag(group)),
            None => new.push(id),
        });
        // Terms so new that the index has not read them.
        for id in new {
            n_tags += usize::from(is_tag(terms::name(tx, self.app, id)?.key().0));
        }
        Ok(n_tags)
    }
}
