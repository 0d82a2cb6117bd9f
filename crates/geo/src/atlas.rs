//! All boundaries, and the ways to find them.

#[cfg(test)]
mod tests;

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, HashMap};

use model::place::{PlaceId, Point};

use crate::boundary::{Boundary, Code, Kind};
use crate::cells::{Cells, Rect};
use crate::circles::Circles;
use crate::names::Names;
use crate::shape::Spot;

/// A harbor, a pier or a beach belongs to the land next to it.
const NEAREST_KM: f64 = 5.0;

pub struct Atlas {
    pub(crate) boundaries: Vec<Boundary>,
    /// The parents of all boundaries once more, close together: finding a point asks for many of them.
    pub(crate) parents: Vec<Option<u32>>,
    /// Numbers of boundaries in the order of their ids.
    pub(crate) by_id: Vec<u32>,
    pub(crate) by_code: HashMap<(Code, Box<str>), u32>,
    pub(crate) names: Names,
    /// Provinces outside the United States.
    pub(crate) provinces: Layer,
    pub(crate) counties: Layer,
    pub(crate) us_cities: Layer,
    pub(crate) circles: Circles,
    /// The number of the first boundary that is a circle.
    pub(crate) first_circle: u32,
    /// Outlines of countries that reach into the sea.
    pub(crate) outlines: Cells,
    /// The countries they belong to.
    pub(crate) outline_countries: Vec<u32>,
}

/// The shapes of boundaries that follow each other.
pub(crate) struct Layer {
    pub(crate) cells: Cells,
    /// The number of the boundary that the first shape belongs to.
    pub(crate) first: u32,
}

impl Layer {
    pub(crate) fn at(&self, spot: Spot) -> impl Iterator<Item = u32> {
        self.cells.at(spot).map(|shape| self.first + shape)
    }

    fn nearest(&self, spot: Spot, most_km: f64) -> Option<(f64, u32)> {
        self.cells.nearest(spot, most_km).map(|(distance, shape)| (distance, self.first + shape))
    }

    fn touching(&self, rect: Rect, mut found: impl FnMut(u32)) {
        self.cells.touching(rect, |shape| found(self.first + shape));
    }
}

/// A set of boundaries, by their numbers.
struct Marks(Vec<u64>);

impl Marks {
    fn new(n_boundaries: usize) -> Self {
        Self(vec![0; n_boundaries.div_ceil(64)])
    }

    fn mark(&mut self, number: u32) {
        self.0[(number / 64) as usize] |= 1 << (number % 64);
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        let words = (0_u32..).step_by(64).zip(&self.0).filter(|(_, word)| **word != 0);
        words.flat_map(|(first, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + bit))
    }
}

/// A box between two latitudes and two longitudes.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    low: Spot,
    high: Spot,
    is_across_antimeridian: bool,
}

impl Area {
    /// The box with these opposite corners. When the first lies more than half way around the earth to the east of the
    /// second, the box reaches across the antimeridian from the one to the other.
    pub fn between(a: Point, b: Point) -> Self {
        Self {
            low: Spot { x: a.lon().min(b.lon()), y: a.lat().min(b.lat()) },
            high: Spot { x: a.lon().max(b.lon()), y: a.lat().max(b.lat()) },
            is_across_antimeridian: a.lon() - b.lon() > 180_000_000,
        }
    }

    fn rects(self) -> impl Iterator<Item = Rect> {
        let Area { low, high, is_across_antimeridian } = self;
        let rects = if is_across_antimeridian {
            [
                Some(Rect { low: Spot { x: high.x, y: low.y }, high: Spot { x: 180_000_000, y: high.y } }),
                Some(Rect { low: Spot { x: -180_000_000, y: low.y }, high: Spot { x: low.x, y: high.y } }),
            ]
        } else {
            [Some(Rect { low, high }), None]
        };
        rects.into_iter().flatten()
    }
}

impl Atlas {
    pub fn by_id(&self, id: PlaceId) -> Option<&Boundary> {
        self.number(id).map(|number| self.boundary(number))
    }

    pub(crate) fn number(&self, id: PlaceId) -> Option<u32> {
        let at = self.by_id.binary_search_by_key(&id, |number| self.boundaries[*number as usize].id).ok()?;
        Some(self.by_id[at])
    }

    /// The place with a code, in whatever case it is written.
    pub fn by_code(&self, kind: Code, code: &str) -> Option<&Boundary> {
        let number = self.by_code.get(&(kind, code.to_ascii_uppercase().into_boxed_str()))?;
        Some(self.boundary(*number))
    }

    /// The place that a place is a part of.
    pub fn parent(&self, boundary: &Boundary) -> Option<&Boundary> {
        boundary.parent.map(|number| self.boundary(number))
    }

    /// The places that a place is a part of, the smallest first.
    pub fn parents<'a>(&'a self, boundary: &'a Boundary) -> impl Iterator<Item = &'a Boundary> {
        std::iter::successors(self.parent(boundary), |parent| self.parent(parent))
    }

    pub fn boundaries(&self) -> impl Iterator<Item = &Boundary> {
        self.boundaries.iter()
    }

    /// The places a point is in, the smallest first. A city counts only in its own country, and one that has a polygon only
    /// in its own state.
    pub fn at(&self, point: Point) -> Vec<&Boundary> {
        // The same meridian has two numbers.
        let x = if point.lon() == 180_000_000 { -180_000_000 } else { point.lon() };
        let spot = Spot { x, y: point.lat() };
        let mut found = Vec::with_capacity(4);
        let Some(land) = self.land_at(spot) else {
            let country = self.outlines.at(spot).next().map(|outline| self.outline_countries[outline as usize]);
            return country.map(|country| self.boundary(country)).into_iter().collect();
        };
        let above: Vec<u32> = self.upwards(land).collect();
        found.extend(self.us_cities.at(spot).filter(|city| self.is_part_of(*city, &above)));
        let country = above.last().copied();
        let mut circles: Vec<(u32, f64)> = self.circles.at(spot).collect();
        circles.sort_unstable_by(|a, b| self.likelier_city(*a, *b));
        let circles = circles.into_iter().map(|(circle, _)| self.first_circle + circle);
        found.extend(circles.filter(|circle| self.upwards(*circle).last() == country));
        found.extend(above);
        found.into_iter().map(|number| self.boundary(number)).collect()
    }

    /// The places that a box touches, the large kinds and among them the large places first.
    pub fn touching(&self, area: Area, kind: Option<Kind>, most: usize) -> Vec<&Boundary> {
        let is_wanted = |wanted: Kind| kind.is_none_or(|kind| kind == wanted);
        let mut found = Marks::new(self.boundaries.len());
        for rect in area.rects() {
            if is_wanted(Kind::Country) || is_wanted(Kind::Province) || is_wanted(Kind::County) {
                self.provinces.touching(rect, |number| found.mark(number));
                self.counties.touching(rect, |number| found.mark(number));
            }
            if is_wanted(Kind::Country) {
                self.outlines.touching(rect, |outline| found.mark(self.outline_countries[outline as usize]));
            }
            if is_wanted(Kind::City) {
                self.us_cities.touching(rect, |number| found.mark(number));
                self.circles.touching(rect, |circle| found.mark(self.first_circle + circle));
            }
        }
        // Cities are parts of the places around them as well, but a box may touch only the city.
        for number in found.numbers().collect::<Vec<_>>() {
            if self.boundary(number).kind != Kind::City {
                self.upwards(number).for_each(|number| found.mark(number));
            }
        }
        let found = found.numbers().filter(|number| is_wanted(self.boundary(*number).kind));
        let mut found: Vec<&Boundary> = found.map(|number| self.boundary(number)).collect();
        found.sort_unstable_by_key(|boundary| (boundary.kind, Reverse(boundary.population), boundary.id));
        found.truncate(most);
        found
    }

    /// The places that a name may mean, the likeliest first. After a comma the name may contain the place that this one
    /// is a part of: `Portland, Oregon`.
    pub fn named(&self, name: &str, kind: Option<Kind>, most: usize) -> Vec<&Boundary> {
        let is_wanted = |number: u32| kind.is_none_or(|kind| kind == self.boundary(number).kind);
        let mut parts = name.split(',');
        let first = parts.next().unwrap_or_default();
        let around: Vec<BTreeSet<u32>> = parts.map(|part| self.names.called(part).collect()).collect();
        let is_within = |number: u32| {
            around.iter().all(|around| self.upwards(number).skip(1).any(|parent| around.contains(&parent)))
        };
        let mut found = Vec::new();
        if !around.is_empty() {
            found = self.names.search(first, &self.boundaries, |number| is_wanted(number) && is_within(number), most);
        }
        if found.is_empty() {
            found = self.names.search(name, &self.boundaries, is_wanted, most);
        }
        found.into_iter().map(|number| self.boundary(number)).collect()
    }

    pub(crate) fn boundary(&self, number: u32) -> &Boundary {
        &self.boundaries[number as usize]
    }

    /// A place and the places it is a part of.
    pub(crate) fn upwards(&self, number: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(number), |number| self.parents[*number as usize])
    }

    fn is_part_of(&self, number: u32, above: &[u32]) -> bool {
        self.parents[number as usize].is_some_and(|parent| above.contains(&parent))
    }

    /// Which of two circles around a spot comes first: a spot well within a large city is known by that city's name,
    /// otherwise the nearer one counts.
    fn likelier_city(&self, (a, distance_a): (u32, f64), (b, distance_b): (u32, f64)) -> Ordering {
        let is_outer = |distance: f64| distance > 0.5;
        let population = |circle: u32| Reverse(self.boundary(self.first_circle + circle).population);
        is_outer(distance_a).cmp(&is_outer(distance_b)).then_with(|| {
            if is_outer(distance_a) { distance_a.total_cmp(&distance_b) } else { population(a).cmp(&population(b)) }
        })
    }

    /// The county or province at a spot, or right next to it.
    fn land_at(&self, spot: Spot) -> Option<u32> {
        self.counties.at(spot).next().or_else(|| self.provinces.at(spot).next()).or_else(|| {
            let county = self.counties.nearest(spot, NEAREST_KM);
            let most_km = county.map_or(NEAREST_KM, |(distance, _)| distance);
            self.provinces.nearest(spot, most_km).or(county).map(|(_, number)| number)
        })
    }
}
