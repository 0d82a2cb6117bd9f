//! Terms whose holders are kept apart from the channels, as one set for each block: joined by many at once, forgotten as a whole.

use audience::block::blocks;
use audience::codec;
use model::ids::TermId;
use model::term::Term;
use roaring::RoaringBitmap;
use store::{Tx, term_sets};

use crate::change_context::ChangeContext;
use crate::{Error, Result};

impl ChangeContext<'_> {
    /// Adds channels to a set that is kept apart.
    pub(crate) fn join(&mut self, tx: &mut Tx<'_>, term: &Term, channels: &RoaringBitmap) -> Result<()> {
        let term = self.number(tx, term)?;
        let mut added = RoaringBitmap::new();
        for (block, channels) in blocks(channels) {
            let before = term_sets::get(tx, self.app, term, block.0)?;
            let before = before.as_deref().map(codec::decode).transpose().map_err(Error::internal)?.unwrap_or_default();
            let new = channels - &before;
            if !new.is_empty() {
                term_sets::put(tx, self.app, term, block.0, codec::encode(&(before | &new)))?;
                added |= new;
            }
        }
        if !added.is_empty() {
            self.journal.change_set(term, &added, &RoaringBitmap::new());
        }
        Ok(())
    }

    /// Empties a set that is kept apart.
    pub(crate) fn forget_set(&mut self, tx: &mut Tx<'_>, term: TermId) -> Result<()> {
        let mut members = RoaringBitmap::new();
        for part in term_sets::parts(tx, self.app, term)? {
            members |= codec::decode(&part).map_err(Error::internal)?;
        }
        self.journal.change_set(term, &RoaringBitmap::new(), &members);
        term_sets::delete(tx, self.app, term)?;
        Ok(())
    }
}
