//! TAG_CHANGE events. The tags of a channel are its own and those of its named user.

use base::Result;
use model::channel::TagSets;
use model::ids::{Ordinal, TermId};
use model::term::is_assignable;
use store::Tx;

use super::ChangeContext;
use crate::holdings::Holdings;

/// All tags of a channel, from its two holders.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Tags<'a> {
    /// The tags of the holder that changes.
    pub(crate) own: &'a TagSets,
    /// The terms of the other holder. Events about its deleted tags are written when it is cleaned up, not before.
    pub(crate) others: &'a [TermId],
}

impl ChangeContext<'_> {
    /// Writes which tags a channel gains and loses. A tag that both holders have is gained with the first holder and lost with
    /// the last.
    pub(crate) fn record_tag_events(
        &mut self,
        tx: &mut Tx<'_>,
        ordinal: Ordinal,
        before: Tags<'_>,
        after: Tags<'_>,
    ) -> Result<()> {
        // Most channels have no named user, and most changes of users are not about tags.
        if before.others.is_empty() && after.others.is_empty() {
            return self.journal.change_tags(ordinal, before.own, after.own);
        }
        if before == after {
            return Ok(());
        }
        let held = self.held_by_other(tx, before.others)?;
        let all_before = together(&held.published_tags(), before.own);
        let all_after = if before.others == after.others {
            together(&held.published_tags(), after.own)
        } else {
            together(&self.held_by_other(tx, after.others)?.published_tags_after(&held), after.own)
        };
        self.journal.change_tags(ordinal, &all_before, &all_after)
    }

    fn held_by_other(&self, tx: &mut Tx<'_>, terms: &[TermId]) -> Result<Holdings> {
        Ok(Holdings::of(self.named_of(tx, terms, is_assignable)?.into_iter().map(|(_, term)| term)))
    }
}

fn together(others: &TagSets, own: &TagSets) -> TagSets {
    let mut all = others.clone();
    for (group, tags) in own {
        all.entry(group.clone()).or_default().extend(tags.iter().cloned());
    }
    all
}
