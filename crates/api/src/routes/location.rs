//! Places: by name, by point, by box, by id and by the codes that others have given them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use axum::extract::State;
use geo::{Area, Atlas, Boundary, Code, Corner, Kind, Outline};
use model::place::{PlaceId, Point};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::path_vars::PathVars;
use crate::query::Params;

/// Names that fewer people mean are left out.
const MOST_NAMED: usize = 100;
/// A box around a continent touches tens of thousands of places.
const MOST_TOUCHED: usize = 1_000;
const MOST_NAME_CHARS: usize = 128;
/// A province around provinces, where it is told of one of its parts.
const REGION: &str = "region";
const ZOOMS: RangeInclusive<u32> = 1..=20;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Places")]
pub(super) struct Features {
    features: Vec<Feature>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Place")]
pub(super) struct Feature {
    r#type: &'static str,
    id: String,
    /// South, west, north, east.
    bounds: [f64; 4],
    /// Latitude and longitude.
    centroid: [f64; 2],
    properties: Properties,
    #[serde(skip_serializing_if = "Option::is_none")]
    geometry: Option<Geometry>,
}

/// Unlike everywhere else, longitude comes first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlaceOutline")]
pub(super) struct Geometry {
    r#type: &'static str,
    #[schemars(with = "Vec<Vec<Vec<[f64; 2]>>>")]
    coordinates: Vec<Vec<Vec<Corner>>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlaceProperties")]
pub(super) struct Properties {
    name: String,
    /// `country`, `province`, `county` or `city`.
    boundary_type: &'static str,
    boundary_type_string: &'static str,
    source: &'static str,
    /// The letters of a state of the USA.
    #[serde(skip_serializing_if = "Option::is_none")]
    abbr: Option<String>,
    /// The larger place that contains this one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    context: BTreeMap<String, String>,
    /// Codes that others have given to the place.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    aliases: BTreeMap<&'static str, String>,
}

/// The object that the last segment of the path names.
enum Wanted {
    Point(Point),
    Area(Area),
    Id(PlaceId),
}

pub(super) async fn by_name(State(edge): State<Edge>, mut params: Params) -> Result<Answer> {
    let kind = read_kind(&mut params);
    params.require("q", "the name to look for, as in /api/location/?q=Portland");
    let name = params.parsed("q", |name| match name.chars().count() {
        0..=MOST_NAME_CHARS => Ok(name.to_owned()),
        _ => Err("This is too long for the name of a place."),
    });
    let name = params.finish_with(name)?;
    let found = edge.engine.devices().ask_atlas(move |atlas| features(atlas, &atlas.named(&name, kind, MOST_NAMED)));
    Answer::bare(found.await?)
}

pub(super) async fn by_place(
    State(edge): State<Edge>,
    PathVars(place): PathVars<String>,
    mut params: Params,
) -> Result<Answer> {
    // An old description of this call has `&` where the query should begin.
    let (place, type_in_path) = match place.split_once('&') {
        Some((place, rest)) => (place.to_owned(), rest.strip_prefix("type=").map(str::to_owned)),
        None => (place, None),
    };
    params.add("type", type_in_path);
    let kind = read_kind(&mut params);
    let zoom = params.number("zoom", ZOOMS);
    params.finish()?;
    match read_place(&place)? {
        Wanted::Point(point) => {
            let found = edge.engine.devices().ask_atlas(move |atlas| {
                let mut found = atlas.at(point);
                found.retain(|boundary| kind.is_none_or(|kind| kind == boundary.kind));
                features(atlas, &found)
            });
            Answer::bare(found.await?)
        }
        Wanted::Area(area) => {
            let found = edge
                .engine
                .devices()
                .ask_atlas(move |atlas| features(atlas, &atlas.touching(area, kind, MOST_TOUCHED)));
            Answer::bare(found.await?)
        }
        Wanted::Id(id) => {
            let found = edge.engine.devices().ask_atlas(move |atlas| {
                let mut feature = Feature::of(atlas, atlas.by_id(id)?);
                feature.geometry = zoom.and_then(|zoom| atlas.outline(id, zoom)).map(Geometry::of);
                Some(feature)
            });
            Answer::bare(found.await?.ok_or(engine::Error::NotFound("place"))?)
        }
    }
}

/// One alias gives one place; several give a list.
pub(super) async fn by_alias(State(edge): State<Edge>, params: Params) -> Result<Answer> {
    let known = || Code::ALL.map(Code::name).join(", ");
    // Everything in this query is meant as an alias. To answer with the places of some would hide that another is not known.
    if let Some(other) = params.names().find(|name| Code::from_name(name).is_none()) {
        return Err(Error::invalid(other, format!("Places are not known by '{other}', only by {}.", known())));
    }
    let aliases: Vec<(Code, String)> = Code::ALL
        .into_iter()
        .flat_map(|code| params.all(code.name()).map(move |value| (code, value.to_owned())))
        .collect();
    if aliases.is_empty() {
        return Err(Error::invalid("", format!("The query must name a place by one of {}.", known())));
    }
    let is_single = aliases.len() == 1;
    let found = edge.engine.devices().ask_atlas(move |atlas| {
        let found: Vec<&Boundary> = aliases.iter().filter_map(|(code, value)| atlas.by_code(*code, value)).collect();
        features(atlas, &found)
    });
    let mut found = found.await?;
    match is_single {
        true => Answer::bare(found.features.pop().ok_or(engine::Error::NotFound("place"))?),
        false => Answer::bare(found),
    }
}

fn read_kind(params: &mut Params) -> Option<Kind> {
    params.choice("type", &Kind::ALL.map(|kind| (kind.name(), kind)))
}

fn read_place(text: &str) -> Result<Wanted> {
    if let Some(id) = PlaceId::from_text(text) {
        return Ok(Wanted::Id(id));
    }
    let refuse = |message: String| Error::invalid("", message);
    let numbers: std::result::Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    let numbers = numbers.ok().filter(|numbers| numbers.iter().all(|number| number.is_finite())).ok_or_else(|| {
        refuse(format!("'{text}' must be an id, or numbers: LATITUDE,LONGITUDE or the four of two opposite corners."))
    })?;
    let point = |lat: f64, lon: f64| Point::new(lat, lon).map_err(|wrong| refuse(format!("{lat},{lon}: {wrong}")));
    match numbers[..] {
        [lat, lon] => Ok(Wanted::Point(point(lat, lon)?)),
        [lat, lon, other_lat, other_lon] => {
            Ok(Wanted::Area(Area::between(point(lat, lon)?, point(other_lat, other_lon)?)))
        }
        _ => Err(refuse(format!("A point has two numbers and a box has four; these are {}.", numbers.len()))),
    }
}

fn features(atlas: &Atlas, found: &[&Boundary]) -> Features {
    Features { features: found.iter().map(|boundary| Feature::of(atlas, boundary)).collect() }
}

impl Geometry {
    fn of(Outline(coordinates): Outline) -> Self {
        Self { r#type: "MultiPolygon", coordinates }
    }
}

impl Feature {
    fn of(atlas: &Atlas, boundary: &Boundary) -> Self {
        let degrees = |micro: i32| f64::from(micro) / 1_000_000.0;
        let extent = boundary.extent;
        let (mut context, mut below) = (BTreeMap::new(), boundary);
        for parent in atlas.parents(boundary) {
            let key = if parent.kind == below.kind { REGION } else { parent.kind.name() };
            let (key, code) = match parent.code(Code::UsState) {
                Some(code) => (Code::UsState.name(), Some(code)),
                None => (key, parent.code(Code::Province).or_else(|| parent.code(Code::Country))),
            };
            below = parent;
            context.extend(code.map(|code| (key.to_owned(), code.to_owned())));
            context.insert(format!("{key}_name"), parent.name.to_string());
        }
        let aliases = boundary.codes.iter().map(|(code, value)| (code.name(), value.to_string()));
        Self {
            r#type: "Feature",
            id: boundary.id.to_string(),
            bounds: [extent.south, extent.west, extent.north, extent.east].map(degrees),
            centroid: [extent.lat, extent.lon].map(degrees),
            properties: Properties {
                name: boundary.name.to_string(),
                boundary_type: boundary.kind.name(),
                boundary_type_string: boundary.kind.label(),
                source: boundary.source.host(),
                abbr: boundary.code(Code::UsState).map(str::to_owned),
                context,
                aliases: aliases.collect(),
            },
            geometry: None,
        }
    }
}
