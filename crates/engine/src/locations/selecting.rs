//! From audiences by place to sets of channels.

use std::ops::RangeInclusive;

use audience::codec;
use audience::plan::Plan;
use model::place::PlaceId;
use model::selector::Location;
use model::term::Term;
use roaring::RoaringBitmap;
use store::place_days;

use super::{MOST_KEPT_DAYS, find_place};
use crate::plan::Planner;
use crate::{Error, Result};

impl Planner<'_, '_> {
    /// The channels that were in a place in a period. Periods are counted in days: a day that one touches counts as a whole.
    pub(crate) fn location(&mut self, location: &Location) -> Result<Plan> {
        let atlas = geo::atlas().map_err(Error::internal)?;
        let Some(place) = find_place(atlas, &location.place).map(|boundary| boundary.id) else {
            let (key, name) = location.place.named_by();
            self.unknown.meet(format!("{key} {name}"));
            return Ok(Plan::Nobody);
        };
        let today = self.now.day();
        let days = location.period.days(self.now);
        let (first, last) = ((*days.start()).max(today - MOST_KEPT_DAYS), (*days.end()).min(today));
        let within = self.seen_in(place, first..=last)?;
        if location.last_seen != Some(true) {
            return Ok(within);
        }
        // A channel that is still there was last seen there on the last of these days.
        let later = self.seen_in(place, last.saturating_add(1).max(first)..=today)?;
        Ok(Plan::And(vec![self.term(&Term::LastPlace(place)), within, Plan::Not(Box::new(later))]))
    }

    fn seen_in(&mut self, place: PlaceId, days: RangeInclusive<i32>) -> Result<Plan> {
        if days.is_empty() {
            return Ok(Plan::Nobody);
        }
        let mut members = RoaringBitmap::new();
        place_days::visit(self.tx, self.app, place, days, |part| {
            members |= codec::decode(part).map_err(|error| store::Error::corrupt(error.to_string()))?;
            Ok(())
        })?;
        Ok(Plan::Set(members))
    }
}
