//! Changing what people put on a channel, which leaves alone what the device told about itself.

use model::ids::TermId;
use model::term::Term;
use store::Tx;
use store::channels::{self, Channel};

use crate::Result;
use crate::desk::{Desk, union};
use crate::holdings::Holdings;

impl Desk<'_> {
    /// Changes the tags and memberships of an installed channel. This is what servers do all day, so the profile is not even
    /// read: the terms that follow from it stay as they are.
    pub(crate) fn change_own(
        &mut self,
        tx: &mut Tx<'_>,
        row: &Channel,
        change: impl FnOnce(&mut Holdings),
    ) -> Result<()> {
        let (numbers, put_there): (Vec<TermId>, Vec<Term>) = self.put_there(tx, &row.terms)?.into_iter().unzip();
        let before = Holdings::of(put_there);
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(());
        }
        after.check_number_of_tags()?;
        let mut kept = row.terms.clone();
        kept.retain(|id| !numbers.contains(id));
        let terms = union(&kept, &self.numbers(tx, &after.terms())?);
        let of_user = self.terms_of_user(tx, row)?;
        self.journal.change_terms(row.ordinal, &union(&row.terms, &of_user), &union(&terms, &of_user));
        channels::set_terms(tx, self.app, row.ordinal, &terms)?;
        self.journal.change_tags(row.ordinal, &before.tags_told(), &after.tags)
    }
}
