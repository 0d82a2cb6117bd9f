//! Where channels have been. The location of a device becomes the places it was in, which are kept by the day; the coordinates
//! are not kept.
//!
//! The days are sets of channels in the database. They are not terms: an app with devices all over the world would have tens
//! of millions of them, most of which no audience ever asks for. Where channels were last seen is a term for each place.

mod noting;

use base::{Error, Result};
use boxed::boxed;
use geo::Atlas;
use model::ids::{AppId, Ordinal};
use model::place::{PlaceId, Sighting};
use model::time::UtcMillis;
use store::{Tx, last_places, place_days};

use crate::Devices;

/// Four years: the longest period that audiences count in months.
pub const MOST_KEPT_DAYS: i32 = 1_461;
/// Sets of days that are forgotten in one transaction, and last places of channels.
const DAYS_FORGOTTEN_AT_ONCE: u32 = 5_000;
const LAST_PLACES_FORGOTTEN_AT_ONCE: u32 = 500;

/// Which location data is kept.
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
pub struct Whereabouts {
    places: Vec<PlaceId>,
    at: Option<UtcMillis>,
    kept_days: i32,
}

#[boxed]
impl Devices {
    /// Has the atlas read if devices have told where they are, as a server does when it starts, so that no request of theirs waits
    /// for it. An installation that does not use places does without its memory. Returns whether it was read.
    pub async fn read_atlas_if_used(&self) -> Result<bool> {
        let is_used = self.0.store.read(|tx| Ok::<_, Error>(last_places::are_there_any(tx)?)).await?;
        if is_used {
            self.read_atlas().await?;
        }
        Ok(is_used)
    }

    /// Has the atlas read, which takes a good part of a second and as much of a processor. Callers who come meanwhile wait
    /// together, without a thread each.
    async fn read_atlas(&self) -> Result<()> {
        let read = || async {
            let read = tokio::task::spawn_blocking(|| geo::atlas().map(drop));
            read.await.map_err(Error::internal)?.map_err(Error::internal)
        };
        self.0.atlas_is_read.get_or_try_init(read).await.copied()
    }

    /// Asks something of the atlas.
    pub async fn ask_atlas<T: Send + 'static>(&self, question: impl FnOnce(&Atlas) -> T + Send + 'static) -> Result<T> {
        self.read_atlas().await?;
        let asked = tokio::task::spawn_blocking(move || geo::atlas().map(question));
        asked.await.map_err(Error::internal)?.map_err(Error::internal)
    }

    fn kept_days(&self) -> i32 {
        self.0.locations.kept_days.clamp(0, MOST_KEPT_DAYS)
    }

    /// The places of sightings, in their order.
    pub async fn whereabouts(&self, sightings: Vec<Sighting>) -> Result<Vec<Whereabouts>> {
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

    /// Forgets places beyond their retention.
    pub async fn forget_old_places(&self, app: AppId) -> Result<()> {
        let first_day = self.0.clock.now().day() - self.kept_days();
        let forget = move |tx: &mut Tx<'_>| place_days::forget_before(tx, app, first_day, DAYS_FORGOTTEN_AT_ONCE);
        while self.0.store.write(app, forget).await? {}
        // An index is not loaded for nothing.
        let is_old = move |tx: &mut Tx<'_>| -> Result<bool> { Ok(!old_last_places(tx, app, first_day)?.is_empty()) };
        while self.0.store.read(is_old).await? {
            self.change_audience(app, move |tx, context| {
                for ordinal in old_last_places(tx, app, first_day)? {
                    context.forget_last_place(tx, ordinal)?;
                }
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}

fn old_last_places(tx: &mut Tx<'_>, app: AppId, first_day: i32) -> Result<Vec<Ordinal>> {
    Ok(last_places::before(tx, app, UtcMillis::of_day(first_day), LAST_PLACES_FORGOTTEN_AT_ONCE)?)
}
