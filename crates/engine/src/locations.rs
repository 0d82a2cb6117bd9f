//! Where channels have been. What a device tells is turned into the places it was in, and these are kept by the day; the
//! coordinates are not kept.
//!
//! The days are sets of channels in the database. They are not terms: an app with devices all over the world would have tens
//! of millions of them, most of which no audience ever asks for. Where channels were last seen is a term for each place.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use audience::block::{Block, blocks};
use audience::codec;
use audience::plan::Plan;
use geo::{Atlas, Boundary, Code};
use model::ids::{AppId, Ordinal, TermId};
use model::place::{PlaceId, Sighting};
use model::selector::{Location, Place};
use model::term::Term;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::last_places::{self, LastPlaces};
use store::{Tx, apps, place_days, term_sets};

use crate::desk::Desk;
use crate::plan::Planner;
use crate::{Engine, Error, Result};

/// Four years: the longest period that audiences count in months.
pub const MOST_KEPT_DAYS: i32 = 1_461;
/// Sets of days that are forgotten in one transaction, and last places of channels.
const DAYS_FORGOTTEN_AT_ONCE: u32 = 5_000;
const LAST_PLACES_FORGOTTEN_AT_ONCE: u32 = 500;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// What is kept of where devices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationSettings {
    /// Whether LOCATION events say where exactly a device was.
    pub keep_coordinates: bool,
    /// For how many days it is known in which places a device was, at most [`MOST_KEPT_DAYS`].
    pub kept_days: i32,
}

impl Default for LocationSettings {
    fn default() -> Self {
        Self { keep_coordinates: false, kept_days: MOST_KEPT_DAYS }
    }
}

/// The places a device was in at some time; `None` means now.
#[derive(Clone)]
pub(crate) struct Whereabouts {
    places: Vec<PlaceId>,
    at: Option<UtcMillis>,
    kept_days: i32,
}

impl Engine {
    /// Asks something of the atlas. The first one to ask waits until it is read.
    pub async fn ask_atlas<T: Send + 'static>(&self, question: impl FnOnce(&Atlas) -> T + Send + 'static) -> Result<T> {
        let asked = tokio::task::spawn_blocking(move || geo::atlas().map(question));
        asked.await.map_err(Error::internal)?.map_err(Error::internal)
    }

    fn kept_days(&self) -> i32 {
        self.0.locations.kept_days.clamp(0, MOST_KEPT_DAYS)
    }

    /// The places of sightings, in their order.
    pub(crate) async fn whereabouts(&self, sightings: Vec<Sighting>) -> Result<Vec<Whereabouts>> {
        if sightings.is_empty() {
            return Ok(Vec::new());
        }
        let kept_days = self.kept_days();
        let places = move |atlas: &Atlas| {
            let of_one = |Sighting { point, at }: Sighting| {
                let places = atlas.at(point).into_iter().map(|boundary| boundary.id).collect();
                Whereabouts { places, at, kept_days }
            };
            sightings.into_iter().map(of_one).collect()
        };
        self.ask_atlas(places).await
    }

    /// Forgets what was longer ago than places are kept.
    pub(crate) async fn forget_old_places(&self, app: AppId) -> Result<()> {
        let first_day = self.clock().now().day() - self.kept_days();
        let forget = move |tx: &mut Tx<'_>| place_days::forget_before(tx, app, first_day, DAYS_FORGOTTEN_AT_ONCE);
        while self.0.store.write(app, forget).await? {}
        // An index is not loaded for nothing.
        let is_old = move |tx: &mut Tx<'_>| -> Result<bool> { Ok(!old_last_places(tx, app, first_day)?.is_empty()) };
        while self.0.store.read(is_old).await? {
            self.at_desk(app, move |tx, desk| {
                apps::hold(tx, app)?;
                for ordinal in old_last_places(tx, app, first_day)? {
                    desk.forget_last_place(tx, ordinal)?;
                }
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}

fn old_last_places(tx: &mut Tx<'_>, app: AppId, first_day: i32) -> Result<Vec<Ordinal>> {
    let first_kept = UtcMillis(i64::from(first_day) * DAY_MILLIS);
    Ok(last_places::before(tx, app, first_kept, LAST_PLACES_FORGOTTEN_AT_ONCE)?)
}

/// The place that a selector names, if there is one.
pub(crate) fn find_place<'a>(atlas: &'a Atlas, place: &Place) -> Option<&'a Boundary> {
    match place {
        Place::Id(id) => atlas.by_id(PlaceId::from_text(id)?),
        Place::Alias { kind, name } => atlas.by_code(Code::from_name(kind)?, name),
    }
}

impl Desk<'_> {
    /// Notes where a channel was: each place of a day once, and the last of all places.
    pub(crate) fn seen<'w>(
        &mut self,
        tx: &mut Tx<'_>,
        ordinal: Ordinal,
        seen: impl IntoIterator<Item = &'w Whereabouts>,
    ) -> Result<()> {
        let now = self.journal.now();
        let mut days = BTreeSet::new();
        let mut last: Option<(UtcMillis, &[PlaceId])> = None;
        for Whereabouts { places, at, kept_days } in seen {
            // Clocks of devices may be wrong; nobody has been anywhere tomorrow.
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
        apps::hold(tx, self.app)?;
        for (place, day) in days {
            self.was_in(tx, place, day, ordinal)?;
        }
        self.last_seen(tx, ordinal, at, places)
    }

    fn was_in(&self, tx: &mut Tx<'_>, place: PlaceId, day: i32, ordinal: Ordinal) -> Result<()> {
        let Block(block) = Block::of(ordinal);
        let before = place_days::get(tx, self.app, place, day, block)?;
        let before = before.map_or_else(|| Ok(RoaringBitmap::new()), |bytes| codec::decode(&bytes));
        let mut members = before.map_err(Error::internal)?;
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
        apps::hold(tx, self.app)?;
        for term in last.terms {
            self.leave(tx, term, &RoaringBitmap::from([ordinal.0]))?;
        }
        last_places::delete(tx, self.app, ordinal)?;
        Ok(())
    }

    /// Takes channels out of a set that is kept apart.
    fn leave(&mut self, tx: &mut Tx<'_>, term: TermId, channels: &RoaringBitmap) -> Result<()> {
        for (block, channels) in blocks(channels) {
            if let Some(bytes) = term_sets::get(tx, self.app, term, block.0)? {
                let before = codec::decode(&bytes).map_err(Error::internal)?;
                term_sets::put(tx, self.app, term, block.0, codec::encode(&(before - channels)))?;
            }
        }
        self.journal.change_set(term, &RoaringBitmap::new(), channels);
        Ok(())
    }
}

impl Planner<'_, '_> {
    /// Who was in a place in a period. Periods are counted in days: a day that one touches counts as a whole.
    pub(crate) fn location(&mut self, location: &Location) -> Result<Plan> {
        let atlas = geo::atlas().map_err(Error::internal)?;
        let Some(place) = find_place(atlas, &location.place).map(|boundary| boundary.id) else {
            return Ok(Plan::Nobody);
        };
        let today = self.now.day();
        let days = location.period.days(self.now);
        let (first, last) = ((*days.start()).max(today - MOST_KEPT_DAYS), (*days.end()).min(today));
        let within = self.seen_in(place, first..=last)?;
        if location.last_seen != Some(true) {
            return Ok(within);
        }
        // Who is still there was last seen there on the last of these days.
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
