//! What those who follow events are told about the tags of a channel: it has its own and those of its named user.

use model::channel::TagSets;
use model::ids::{Ordinal, TermId};
use model::term::is_put_there;
use store::Tx;

use super::Desk;
use crate::Result;
use crate::holdings::Holdings;

/// All tags of a channel, from its two holders.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Tags<'a> {
    /// Those of the one that changes.
    pub(crate) own: &'a TagSets,
    /// What the other one holds. Its deleted tags are told of when it is cleaned up, not before.
    pub(crate) others: &'a [TermId],
}

impl Desk<'_> {
    /// Notes which tags come to a channel and which leave it. What both holders have comes with the first and leaves with the
    /// last.
    pub(crate) fn tell_tags(
        &mut self,
        tx: &mut Tx<'_>,
        ordinal: Ordinal,
        before: Tags<'_>,
        after: Tags<'_>,
    ) -> Result<()> {
        // Most channels are nobody's, and most changes of users are not about tags.
        if before.others.is_empty() && after.others.is_empty() {
            return self.journal.change_tags(ordinal, before.own, after.own);
        }
        if before == after {
            return Ok(());
        }
        let held = self.held_by_other(tx, before.others)?;
        let all_before = together(&held.tags_told(), before.own);
        let all_after = if before.others == after.others {
            together(&held.tags_told(), after.own)
        } else {
            together(&self.held_by_other(tx, after.others)?.tags_told_after(&held), after.own)
        };
        self.journal.change_tags(ordinal, &all_before, &all_after)
    }

    fn held_by_other(&self, tx: &mut Tx<'_>, terms: &[TermId]) -> Result<Holdings> {
        Ok(Holdings::of(self.named_of(tx, terms, is_put_there)?.into_iter().map(|(_, term)| term)))
    }
}

fn together(others: &TagSets, own: &TagSets) -> TagSets {
    let mut all = others.clone();
    for (group, tags) in own {
        all.entry(group.clone()).or_default().extend(tags.iter().cloned());
    }
    all
}
