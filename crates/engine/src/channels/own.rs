//! Changing what people put on a channel, which leaves alone what the device told about itself.

use model::channel::TagOperation;
use model::ids::TermId;
use model::tag::DEVICE;
use model::term::{RETIRED_GROUP, Term, is_put_there};
use store::channels::{self, Holder};
use store::{Tx, terms};

use crate::Result;
use crate::desk::{Desk, Tags, union};
use crate::holdings::Holdings;

impl Desk<'_> {
    /// Changes the tags and memberships of an installed channel, as far as they are in the groups that the change is about. This is
    /// what servers do all day, so neither the profile is read nor any other term named: they stay as they are.
    pub(crate) fn change_own(
        &mut self,
        tx: &mut Tx<'_>,
        row: &Holder,
        is_about: impl Fn(&str) -> bool,
        change: impl FnOnce(&mut Holdings),
    ) -> Result<()> {
        let named = self.named_of(tx, &row.terms, |group| is_put_there(group) && is_about(group))?;
        let (numbers, put_there): (Vec<TermId>, Vec<Term>) = named.into_iter().unzip();
        let before = Holdings::of(put_there);
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(());
        }
        let mut kept = row.terms.clone();
        kept.retain(|id| !numbers.contains(id));
        after.check_number_of_tags(self.n_tags(tx, &kept)?)?;
        let terms = union(&kept, &self.numbers(tx, &after.terms())?).into_owned();
        let of_user = self.terms_of_user(tx, row.named_user.as_ref())?;
        self.journal.change_terms(row.ordinal, &union(&row.terms, &of_user), &union(&terms, &of_user));
        channels::set_terms(tx, self.app, row.ordinal, &terms)?;
        let before = Tags { own: &before.tags_told(), others: &of_user };
        self.tell_tags(tx, row.ordinal, before, Tags { own: &after.tags, others: &of_user })
    }

    /// How many of the terms are tags that people put there.
    fn n_tags(&self, tx: &mut Tx<'_>, ids: &[TermId]) -> Result<usize> {
        let is_tag = |group: &str| !group.starts_with('@') && is_put_there(group);
        let (mut n_tags, mut new) = (0, Vec::new());
        self.index.visit_names(ids, |id, name| match name {
            Some((group, _)) => n_tags += usize::from(is_tag(group)),
            None => new.push(id),
        });
        // So new that the index has not read of them.
        for id in new {
            n_tags += usize::from(is_tag(terms::name(tx, self.app, id)?.key().0));
        }
        Ok(n_tags)
    }
}

/// The groups that operations on tags are about.
pub(crate) fn about_tags(operations: &[TagOperation]) -> impl Fn(&str) -> bool {
    move |group| {
        // Tags of devices that were deleted are still told of as such.
        let group = if group == RETIRED_GROUP { DEVICE } else { group };
        operations.iter().any(|operation| operation.names(group))
    }
}
