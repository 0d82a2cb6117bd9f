//! From audiences by place to sets of channels.

use std::ops::RangeInclusive;

use audience::codec;
use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use devices::MOST_KEPT_DAYS;
use geo::{Atlas, Boundary, Code};
use model::payload::Push;
use model::place::PlaceId;
use model::selector::{Atomic, Audience, Location, Place, Selector};
use model::term::Term;
use roaring::RoaringBitmap;
use store::place_days;

use crate::Targeting;
use crate::plan::Planner;

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

#[boxed]
impl Targeting {
    /// Has the atlas read if a push is for a place: checking that there is one would otherwise wait for it on a thread that
    /// serves requests.
    pub async fn ready_atlas(&self, pushes: impl IntoIterator<Item = &Push>) -> Result<()> {
        let is_by_place = |push: &Push| match &push.audience {
            Audience::Selector(selector) => is_by_place(selector),
            Audience::All(_) | Audience::Triggered(_) | Audience::CreateAndSend(_) | Audience::Uploaded(_) => false,
        };
        if pushes.into_iter().any(is_by_place) { self.0.devices.ask_atlas(|_| ()).await } else { Ok(()) }
    }

    /// As [`Targeting::ready_atlas`], for an audience that is stored.
    pub async fn ready_atlas_for(&self, selector: &Selector) -> Result<()> {
        if is_by_place(selector) { self.0.devices.ask_atlas(|_| ()).await } else { Ok(()) }
    }
}

/// Whether a selector asks where devices have been, other than by way of a segment.
pub(crate) fn is_by_place(selector: &Selector) -> bool {
    selector.atoms().any(|atomic| matches!(atomic, Atomic::Location(_)))
}

/// The place that a selector names, if there is one.
pub(crate) fn find_place<'a>(atlas: &'a Atlas, place: &Place) -> Option<&'a Boundary> {
    match place {
        Place::Id(id) => atlas.by_id(PlaceId::from_text(id)?),
        Place::Alias { kind, name } => atlas.by_code(Code::from_name(kind)?, name),
    }
}
