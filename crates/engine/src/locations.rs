//! Where channels have been. What a device tells is turned into the places it was in, and these are kept by the day; the
//! coordinates are not kept.

use std::ops::RangeInclusive;

use audience::block::blocks;
use audience::codec;
use audience::plan::Plan;
use geo::{Atlas, Boundary, Code};
use model::ids::{AppId, ChannelId, Ordinal, TermId};
use model::place::{PlaceId, Point, Sighting};
use model::selector::{Location, Place};
use model::term::{PLACE_GROUP, PlaceDay, Term};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::last_places::{self, LastPlaces};
use store::{Tx, apps, channels, term_sets, terms};

use crate::desk::Desk;
use crate::plan::Planner;
use crate::{Engine, Error, Result};

/// Four years: the longest period that audiences count in months.
pub const MOST_KEPT_DAYS: i32 = 1_461;
/// Terms and channels that are forgotten in one transaction.
const FORGOTTEN_AT_ONCE: u32 = 500;
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

    /// Notes that a device was somewhere. What is older than places are kept is not noted; neither is a channel that is
    /// not installed.
    pub async fn record_location(&self, app: AppId, channel: ChannelId, point: Point, at: UtcMillis) -> Result<()> {
        let seen = self.whereabouts(Sighting { point, at: Some(at) }).await?;
        self.at_desk(app, move |tx, desk| match channels::by_id(tx, app, channel)? {
            Some(row) if row.installed => desk.seen(tx, row.ordinal, &seen),
            Some(_) | None => Ok(()),
        })
        .await
    }

    fn kept_days(&self) -> i32 {
        self.0.locations.kept_days.clamp(0, MOST_KEPT_DAYS)
    }

    pub(crate) async fn whereabouts(&self, sighting: Sighting) -> Result<Whereabouts> {
        let Sighting { point, at } = sighting;
        let ids = move |atlas: &Atlas| atlas.at(point).into_iter().map(|boundary| boundary.id).collect();
        Ok(Whereabouts { places: self.ask_atlas(ids).await?, at, kept_days: self.kept_days() })
    }

    /// Forgets what was longer ago than places are kept.
    pub(crate) async fn forget_old_places(&self, app: AppId) -> Result<()> {
        let first_day = self.clock().now().day() - self.kept_days();
        let is_old = move |tx: &mut Tx<'_>| -> Result<bool> {
            Ok(!old_place_days(tx, app, first_day)?.is_empty() || !old_last_places(tx, app, first_day)?.is_empty())
        };
        while self.0.store.read(is_old).await? {
            self.at_desk(app, move |tx, desk| {
                apps::hold(tx, app)?;
                for term in old_place_days(tx, app, first_day)? {
                    desk.forget_set(tx, term)?;
                    // Nobody was there any more, and nobody will be: the day is over.
                    terms::delete(tx, app, term)?;
                }
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

fn old_place_days(tx: &mut Tx<'_>, app: AppId, first_day: i32) -> Result<Vec<TermId>> {
    let first_kept = PlaceDay::day_name(first_day);
    Ok(terms::named_before(tx, app, PLACE_GROUP, &first_kept, FORGOTTEN_AT_ONCE)?)
}

fn old_last_places(tx: &mut Tx<'_>, app: AppId, first_day: i32) -> Result<Vec<Ordinal>> {
    let first_kept = UtcMillis(i64::from(first_day) * DAY_MILLIS);
    Ok(last_places::before(tx, app, first_kept, FORGOTTEN_AT_ONCE)?)
}

impl Desk<'_> {
    /// Notes where a channel was.
    pub(crate) fn seen(&mut self, tx: &mut Tx<'_>, ordinal: Ordinal, seen: &Whereabouts) -> Result<()> {
        let now = self.journal.now();
        // Clocks of devices may be wrong; nobody has been anywhere tomorrow.
        let at = seen.at.map_or(now, |at| at.min(now));
        if at.day() < now.day() - seen.kept_days {
            return Ok(());
        }
        apps::hold(tx, self.app)?;
        let channel = RoaringBitmap::from([ordinal.0]);
        for place in &seen.places {
            self.join(tx, &Term::Place(PlaceDay { day: at.day(), place: *place }), &channel)?;
        }
        let before = last_places::get(tx, self.app, ordinal)?;
        if before.as_ref().is_some_and(|before| before.seen > at) {
            return Ok(());
        }
        let here: Vec<Term> = seen.places.iter().map(|place| Term::LastPlace(*place)).collect();
        let after = LastPlaces { seen: at, terms: self.numbers(tx, &here)? };
        for left in before.iter().flat_map(|before| &before.terms).filter(|term| !after.terms.contains(term)) {
            self.leave(tx, *left, &channel)?;
        }
        for term in &here {
            self.join(tx, term, &channel)?;
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
        let Some(place) = self.place(&location.place)? else { return Ok(Plan::Nobody) };
        let today = self.now.day();
        let days = location.period.days(self.now);
        let (first, last) = ((*days.start()).max(today - MOST_KEPT_DAYS), (*days.end()).min(today));
        let within = self.seen_in(place, first..=last);
        if location.last_seen != Some(true) {
            return Ok(within);
        }
        // Who is still there was last seen there on the last of these days.
        let later = self.seen_in(place, last.saturating_add(1).max(first)..=today);
        Ok(Plan::And(vec![self.term(&Term::LastPlace(place)), within, Plan::Not(Box::new(later))]))
    }

    /// The place that a selector names, if there is one.
    pub(crate) fn place(&self, place: &Place) -> Result<Option<PlaceId>> {
        match place {
            Place::Id(id) => Ok(PlaceId::from_text(id)),
            Place::Alias { kind, name } => {
                let Some(code) = Code::from_name(kind) else { return Ok(None) };
                let atlas = geo::atlas().map_err(Error::internal)?;
                Ok(atlas.by_code(code, name).map(|boundary: &Boundary| boundary.id))
            }
        }
    }

    fn seen_in(&self, place: PlaceId, days: RangeInclusive<i32>) -> Plan {
        Plan::Or(days.map(|day| self.term(&Term::Place(PlaceDay { day, place }))).collect())
    }
}
