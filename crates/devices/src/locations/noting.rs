//! Noting where channels were, and forgetting where they were last seen.

use std::collections::BTreeSet;

use audience::block::Block;
use audience::codec;
use base::{Error, Result};
use model::ids::Ordinal;
use model::place::PlaceId;
use model::term::Term;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::last_places::{self, LastPlaces};
use store::{Tx, place_days};

use super::Whereabouts;
use crate::change_context::ChangeContext;

impl ChangeContext<'_> {
    /// Notes where a channel was: each place of a day once, and the last of all places.
    pub fn seen<'w>(
        &mut self,
        tx: &mut Tx<'_>,
        ordinal: Ordinal,
        seen: impl IntoIterator<Item = &'w Whereabouts>,
    ) -> Result<()> {
        let now = self.journal.now();
        let mut days = BTreeSet::new();
        let mut last: Option<(UtcMillis, &[PlaceId])> = None;
        for Whereabouts { places, at, kept_days } in seen {
            // Clocks of devices may be wrong; a day in the future cannot be right.
            let at = at.map_or(now, |at| at.min(now));
            if at.day() < now.day() - kept_days {
                continue;
            }
            days.extend(places.iter().map(|place| (*place, at.day())));
            if last.is_none_or(|(before, _)| before <= at) {
                last = Some((at, places));
            }
        }
        let Some((at, places)) = last else { return Ok(()) };
        // Sets are read to be added to.
        for (place, day) in days {
            self.was_in(tx, place, day, ordinal)?;
        }
        self.last_seen(tx, ordinal, at, places)
    }

    /// These sets are in blocks, not in slices as the others: most of them are of few channels.
    fn was_in(&self, tx: &mut Tx<'_>, place: PlaceId, day: i32, ordinal: Ordinal) -> Result<()> {
        let Block(block) = Block::of(ordinal);
        let before = place_days::get(tx, self.app, place, day, block)?;
        let mut members =
            before.as_deref().map(codec::decode).transpose().map_err(Error::internal)?.unwrap_or_default();
        if members.insert(ordinal.0) {
            place_days::put(tx, self.app, place, day, block, codec::encode(&members))?;
        }
        Ok(())
    }

    fn last_seen(&mut self, tx: &mut Tx<'_>, ordinal: Ordinal, at: UtcMillis, places: &[PlaceId]) -> Result<()> {
        let before = last_places::get(tx, self.app, ordinal)?;
        if before.as_ref().is_some_and(|before| before.seen > at) {
            return Ok(());
        }
        let before = before.map_or_else(Vec::new, |before| before.terms);
        let here: Vec<Term> = places.iter().map(|place| Term::LastPlace(*place)).collect();
        let after = LastPlaces { seen: at, terms: self.numbers(tx, &here)? };
        // Most devices are where they were.
        if after.terms != before {
            let channel = RoaringBitmap::from([ordinal.0]);
            for left in before.iter().filter(|term| !after.terms.contains(term)) {
                self.leave(tx, *left, &channel)?;
            }
            for term in &here {
                self.join(tx, term, &channel)?;
            }
        }
        last_places::put(tx, self.app, ordinal, &after)?;
        Ok(())
    }

    /// Forgets where a channel was last seen.
    pub(crate) fn forget_last_place(&mut self, tx: &mut Tx<'_>, ordinal: Ordinal) -> Result<()> {
        let Some(last) = last_places::get(tx, self.app, ordinal)? else { return Ok(()) };
        for term in last.terms {
            self.leave(tx, term, &RoaringBitmap::from([ordinal.0]))?;
        }
        last_places::delete(tx, self.app, ordinal)?;
        Ok(())
    }
}
