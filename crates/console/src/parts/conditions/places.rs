//! Places among the conditions: what a name may mean, to choose from, and a map of what was chosen.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Deserialize;

use super::row::place_id;
use super::{Conditions, Kind};
use crate::error::{Error, Result};
use crate::form::{encode, query};
use crate::visit::Visit;

/// Of the places that a name may mean.
const MOST_OFFERED: usize = 6;
/// Maps are for people, who look at a few.
const MOST_MAPS: usize = 3;

const WIDTH: f64 = 320.0;
const MOST_HEIGHT: f64 = 200.0;

#[derive(Deserialize)]
struct Found {
    features: Vec<Feature>,
}

#[derive(Deserialize)]
struct Feature {
    id: String,
    /// South, west, north, east.
    bounds: [f64; 4],
    /// Latitude and longitude.
    centroid: [f64; 2],
    properties: Properties,
    geometry: Option<Geometry>,
}

#[derive(Deserialize)]
struct Properties {
    name: String,
    boundary_type: String,
    #[serde(default)]
    context: BTreeMap<String, String>,
}

/// Longitude comes first.
#[derive(Deserialize)]
struct Geometry {
    coordinates: Vec<Vec<Vec<[f64; 2]>>>,
}

/// For every condition about a place: what its name may mean, or where it is.
pub(crate) async fn show(visit: &Visit, conditions: &Conditions, form: &str) -> Markup {
    let mut parts: Vec<Result<Markup>> = Vec::new();
    for (n, row) in conditions.rows.iter().enumerate().filter(|(_, row)| row.kind == Kind::Place) {
        match place_id(&row.value) {
            Some(id) if parts.len() < MOST_MAPS => parts.push(map(visit, id).await),
            None if !row.value.trim().is_empty() => parts.push(offers(visit, n, row.value.trim(), form).await),
            Some(_) | None => {}
        }
    }
    html! {
        @if !parts.is_empty() {
            section {
                h2 { "Places" }
                @for part in &parts {
                    @match part {
                        Ok(part) => (part),
                        Err(error) => { @for sentence in error.sentences() { p.warning { (sentence) } } }
                    }
                }
            }
        }
    }
}

async fn offers(visit: &Visit, n: usize, name: &str, form: &str) -> Result<Markup> {
    let Found { features } = match visit.get(&format!("/api/location{}", query([("q", name)]))).await {
        Err(Error::Invalid(_)) => Found { features: Vec::new() },
        found => found?,
    };
    Ok(html! {
        @if features.is_empty() { p.warning { "No place is called " (name) "." } } @else { p { "Which one is meant?" } }
        p.inline {
            @for place in features.iter().take(MOST_OFFERED) {
                button.small form=(form) name="do" formnovalidate value={ "place-" (n) "-" (place.value()) } { (place.words()) }
            }
        }
    })
}

async fn map(visit: &Visit, id: &str) -> Result<Markup> {
    let known: Option<Feature> = match visit.find(&format!("/api/location/{}", encode(id))).await {
        // People can type anything.
        Err(Error::Invalid(_)) => None,
        known => known?,
    };
    let Some(place) = known else { return Ok(html! { p.warning { "There is no place with the id " (id) "." } }) };
    let country = match place.properties.context.get("country") {
        Some(code) => {
            visit.find::<Feature>(&format!("/api/location/from-alias{}", query([("country", code.as_str())]))).await?
        }
        None => None,
    };
    let view = View::of(country.as_ref().map_or(place.bounds, |country| country.bounds));
    let mut outlines = Vec::new();
    for (feature, class) in country.iter().map(|country| (country, "land")).chain([(&place, "here")]) {
        let path = format!("/api/location/{}?zoom={}", encode(&feature.id), view.zoom());
        let outline: Feature = visit.get(&path).await?;
        outlines.push((class, outline.geometry.map(|geometry| view.path(&geometry)).unwrap_or_default()));
    }
    let [lat, lon] = place.centroid;
    let (x, y) = view.at(lon, lat);
    let words = place.words();
    Ok(html! {
        figure.device {
            figcaption { (words) }
            svg.map viewBox={ "0 0 " (WIDTH) " " (format!("{:.0}", view.height)) } role="img" aria-label={ "Map of " (words) } {
                @for (class, path) in &outlines { path.(class) d=(path) fill-rule="evenodd" {} }
                circle.here cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="3" {}
            }
        }
    })
}

impl Feature {
    /// As a condition has it.
    fn value(&self) -> String {
        let name = self.properties.name.replace(['(', ')'], "");
        format!("{name} ({})", self.id)
    }

    /// `Portland, Oregon, United States (city)`.
    fn words(&self) -> String {
        let Properties { name, boundary_type, context } = &self.properties;
        let around = ["us_state_name", "province_name", "region_name", "country_name"];
        let mut words = vec![name.as_str()];
        words.extend(around.iter().filter_map(|key| context.get(*key)).map(String::as_str));
        words.dedup();
        format!("{} ({boundary_type})", words.join(", "))
    }
}

/// A piece of the earth on the screen, on which degrees are as wide as in its middle.
struct View {
    west: f64,
    north: f64,
    /// Pixels per degree, to the east and to the south.
    scale: (f64, f64),
    height: f64,
}

impl View {
    fn of([south, west, north, east]: [f64; 4]) -> Self {
        let narrowing = ((south + north) / 2.0).to_radians().cos().max(0.1);
        let (wide, high) = (((east - west) * narrowing).max(0.01), (north - south).max(0.01));
        let scale = (WIDTH / wide).min(MOST_HEIGHT / high);
        // In the middle, if it is not as wide as the screen.
        let margin = (WIDTH / scale - wide) / 2.0 / narrowing;
        Self { west: west - margin, north, scale: (scale * narrowing, scale), height: high * scale }
    }

    /// How fine outlines have to be.
    fn zoom(&self) -> u32 {
        let zooms = 1..=12_u32;
        zooms.clone().find(|zoom| 256.0 * f64::from(1_u32 << zoom) / 360.0 >= self.scale.0).unwrap_or(*zooms.end())
    }

    fn at(&self, lon: f64, lat: f64) -> (f64, f64) {
        ((lon - self.west) * self.scale.0, (self.north - lat) * self.scale.1)
    }

    fn path(&self, geometry: &Geometry) -> String {
        let mut path = String::new();
        for ring in geometry.coordinates.iter().flatten() {
            for (n, [lon, lat]) in ring.iter().enumerate() {
                let (x, y) = self.at(*lon, *lat);
                path.push_str(&format!("{}{x:.1} {y:.1}", if n == 0 { "M" } else { "L" }));
            }
            path.push('Z');
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_shows_all_of_its_bounds() {
        for bounds in
            [[47.0, 6.0, 55.0, 15.0], [-90.0, -180.0, 90.0, 180.0], [1.0, 1.0, 1.0, 1.0], [41.0, -20.0, 82.0, 180.0]]
        {
            let view = View::of(bounds);
            let [south, west, north, east] = bounds;
            for (lon, lat) in [(west, north), (east, south)] {
                let (x, y) = view.at(lon, lat);
                assert!(
                    (-0.1..=WIDTH + 0.1).contains(&x) && (-0.1..=view.height + 0.1).contains(&y),
                    "{bounds:?}: {x} {y}"
                );
            }
            assert!((1..=12).contains(&view.zoom()) && view.height <= MOST_HEIGHT + 0.1);
        }
        let square = Geometry { coordinates: vec![vec![vec![[6.0, 55.0], [15.0, 55.0]]]] };
        let path = View::of([47.0, 6.0, 55.0, 15.0]).path(&square);
        assert!(path.starts_with('M') && path.ends_with('Z') && path.matches('L').count() == 1, "{path}");
    }
}
