//! Terms whose holders are kept apart from the channels, as one set for each slice: joined by one device after the other or by many
//! at once, forgotten as a whole.

use std::collections::BTreeMap;

use audience::block::slices;
use audience::codec;
use base::{Error, Result};
use model::ids::{Ordinal, TermId};
use model::term::Term;
use roaring::RoaringBitmap;
use store::Tx;
use store::term_sets::{self, Part};

use crate::change_context::ChangeContext;

impl ChangeContext<'_> {
    /// Adds channels to a set that is kept apart. Says whether one of them was not in it.
    pub(crate) fn join(&mut self, tx: &mut Tx<'_>, term: &Term, channels: &RoaringBitmap) -> Result<bool> {
        let term = self.number(tx, term)?;
        let mut kept = self.around(tx, term, channels)?;
        let added = kept.values().fold(channels.clone(), |left, part| left - part);
        if added.is_empty() {
            return Ok(false);
        }
        let parts = slices(&added).into_iter().map(|(slice, new)| {
            let part = Part::Slice(slice);
            let before = kept.remove(&part).unwrap_or_default();
            (part, codec::encode(&(before | new)))
        });
        term_sets::put(tx, self.app, term, parts)?;
        self.journal.change_set(term, &added, &RoaringBitmap::new());
        Ok(true)
    }

    pub(crate) fn holds(&self, tx: &mut Tx<'_>, term: TermId, ordinal: Ordinal) -> Result<bool> {
        let kept = self.around(tx, term, &RoaringBitmap::from([ordinal.0]))?;
        Ok(kept.values().any(|members| members.contains(ordinal.0)))
    }

    /// Takes channels out of a set that is kept apart.
    pub(crate) fn leave(&mut self, tx: &mut Tx<'_>, term: TermId, channels: &RoaringBitmap) -> Result<()> {
        let kept = self.around(tx, term, channels)?.into_iter();
        let parts = kept.filter(|(_, members)| !members.is_disjoint(channels));
        let parts = parts.map(|(part, members)| (part, codec::encode(&(members - channels))));
        term_sets::put(tx, self.app, term, parts)?;
        self.journal.change_set(term, &RoaringBitmap::new(), channels);
        Ok(())
    }

    /// The parts of a set in which some channels can be.
    fn around(&self, tx: &mut Tx<'_>, term: TermId, channels: &RoaringBitmap) -> Result<BTreeMap<Part, RoaringBitmap>> {
        let slices = slices(channels).into_iter().map(|(slice, _)| slice);
        let kept = term_sets::around(tx, self.app, term, slices)?.into_iter();
        kept.map(|(part, members)| Ok((part, codec::decode(&members).map_err(Error::internal)?))).collect()
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
