//! The outlines of places as polygons, put together from the arcs that the parts of a place do not share.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use model::place::PlaceId;

use crate::atlas::{Atlas, Layer};
use crate::cells::Rect;
use crate::circles::Circle;
use crate::shape::{Shapes, Spot, side};

/// A corner: longitude and latitude, in degrees.
pub type Corner = [f64; 2];

/// Polygons, each of an outer ring and the holes in it. Rings end where they begin; outer ones go around counterclockwise,
/// holes clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline(pub Vec<Vec<Vec<Corner>>>);

/// The corners of a ring, each of them once.
struct Ring {
    spots: Vec<Spot>,
    bounds: Rect,
    /// Positive if it goes around counterclockwise.
    doubled_area: i128,
}

impl Atlas {
    /// The outline of a place, with the corners that can be told from each other on a map of the earth that is
    /// `256 * 2^zoom` pixels wide.
    pub fn outline(&self, id: PlaceId, zoom: u32) -> Option<Outline> {
        let number = self.number(id)?;
        let rings = if number >= self.first_circle {
            let boundary = self.boundary(number);
            let center = Spot { x: boundary.extent.lon, y: boundary.extent.lat };
            vec![Ring::new(Circle::new(center, boundary.population).corners())]
        } else {
            let is_part = |number_of_part: u32| self.upwards(number_of_part).any(|above| above == number);
            let land = [&self.provinces, &self.counties].into_iter().flat_map(|layer| merged(layer, is_part));
            // Cities are parts of states, too, but their area is covered by counties.
            land.chain(merged(&self.us_cities, |city| city == number)).collect()
        };
        Some(Outline(polygons(rings, pixel(zoom))))
    }
}

/// The side of a pixel in millionths of a degree.
const fn pixel(zoom: u32) -> i32 {
    const TURN: u32 = 360_000_000;
    match TURN.checked_shr(zoom + 8) {
        None | Some(0) => 1,
        Some(pixel) => pixel.cast_signed(),
    }
}

/// The rings around the shapes that are parts of a place. An arc between two parts belongs to both and is no border.
fn merged(layer: &Layer, is_part: impl Fn(u32) -> bool) -> Vec<Ring> {
    let shapes = &layer.cells.shapes;
    let mut borders = BTreeSet::new();
    for (_, shape) in (layer.first..).zip(0..shapes.len()).filter(|(number, _)| is_part(*number)) {
        for arc in shapes.arcs_of(shape) {
            if !borders.remove(&arc) {
                borders.insert(arc);
            }
        }
    }
    let mut at_end: HashMap<Spot, Vec<usize>> = HashMap::new();
    for arc in &borders {
        for end in ends(shapes, *arc) {
            at_end.entry(end).or_default().push(*arc);
        }
    }
    let mut rings = Vec::new();
    while let Some(first) = borders.pop_first() {
        // Borders are followed from arc to arc, until they are back where they began.
        let mut way = shapes.spots_of(first).to_vec();
        while let Some(next) = next_arc(&way, &at_end, &borders) {
            borders.remove(&next);
            let spots = shapes.spots_of(next);
            match way.last() == spots.first() {
                true => way.extend(&spots[1..]),
                false => way.extend(spots.iter().rev().skip(1)),
            }
        }
        rings.extend(loops(way).into_iter().map(Ring::new));
    }
    rings
}

fn ends(shapes: &Shapes, arc: usize) -> impl Iterator<Item = Spot> {
    let spots = shapes.spots_of(arc);
    spots.first().into_iter().chain(spots.last()).copied()
}

/// An arc that continues where a way has arrived.
fn next_arc(way: &[Spot], at_end: &HashMap<Spot, Vec<usize>>, borders: &BTreeSet<usize>) -> Option<usize> {
    at_end.get(way.last()?)?.iter().find(|arc| borders.contains(arc)).copied()
}

/// Takes a way apart where it comes by the same spot again.
fn loops(way: Vec<Spot>) -> Vec<Vec<Spot>> {
    let mut found = Vec::new();
    let mut path: Vec<Spot> = Vec::with_capacity(way.len());
    let mut seen = HashMap::with_capacity(way.len());
    for spot in way {
        if let Some(first) = seen.get(&spot).copied() {
            let one: Vec<Spot> = path.drain(first..).collect();
            for spot in &one {
                seen.remove(spot);
            }
            found.extend((one.len() > 2).then_some(one));
        }
        seen.insert(spot, path.len());
        path.push(spot);
    }
    found
}

/// Rings within rings are holes, and rings within holes are islands.
fn polygons(mut rings: Vec<Ring>, pixel: i32) -> Vec<Vec<Vec<Corner>>> {
    rings.sort_by_key(|ring| std::cmp::Reverse(ring.doubled_area.abs()));
    let mut polygons: Vec<Vec<Vec<Corner>>> = Vec::new();
    // Of each ring the polygon it belongs to; `None` for one that is too small to be seen.
    let mut homes: Vec<Option<usize>> = Vec::with_capacity(rings.len());
    for (n, ring) in rings.iter().enumerate() {
        let around: Vec<usize> = (0..n).filter(|larger| rings[*larger].contains(ring)).collect();
        let is_hole = around.len() % 2 == 1;
        let corners = match ring.corners(pixel, is_hole) {
            // The largest ring is shown, however small it is.
            None if n == 0 => ring.corners(1, is_hole),
            corners => corners,
        };
        let home = match around.last() {
            Some(outer) if is_hole => homes[*outer],
            Some(_) | None => Some(polygons.len()),
        };
        let home = home.filter(|_| corners.is_some());
        if let (Some(home), Some(corners)) = (home, corners) {
            match polygons.get_mut(home) {
                Some(polygon) => polygon.push(corners),
                None => polygons.push(vec![corners]),
            }
        }
        homes.push(home);
    }
    polygons
}

impl Ring {
    fn new(spots: Vec<Spot>) -> Self {
        let (mut low, mut high) = (Spot { x: i32::MAX, y: i32::MAX }, Spot { x: i32::MIN, y: i32::MIN });
        for spot in &spots {
            low = Spot { x: low.x.min(spot.x), y: low.y.min(spot.y) };
            high = Spot { x: high.x.max(spot.x), y: high.y.max(spot.y) };
        }
        let sides = spots.iter().zip(spots.iter().cycle().skip(1));
        let origin = spots.first().copied().unwrap_or(low);
        let doubled_area = sides.map(|(a, b)| i128::from(side(origin, *a, *b))).sum();
        Self { spots, bounds: Rect { low, high }, doubled_area }
    }

    /// Whether another ring is within this one. Rings have no side in common, so the middle of any side tells.
    fn contains(&self, other: &Ring) -> bool {
        let (own, of_other) = (self.bounds, other.bounds);
        let has_room = own.low.x <= of_other.low.x
            && own.low.y <= of_other.low.y
            && own.high.x >= of_other.high.x
            && own.high.y >= of_other.high.y;
        let [a, b, ..] = other.spots[..] else { return false };
        has_room && self.is_around(i64::from(a.x) + i64::from(b.x), i64::from(a.y) + i64::from(b.y))
    }

    /// Whether a spot, given by twice its numbers, is inside: whether an odd number of sides lies to the west of it.
    fn is_around(&self, doubled_x: i64, doubled_y: i64) -> bool {
        let is_west = |(a, b): &(&Spot, &Spot)| {
            let (low, high) = if a.y < b.y { (a, b) } else { (b, a) };
            let doubled = |spot: &Spot| (2 * i64::from(spot.x), 2 * i64::from(spot.y));
            let ((low_x, low_y), (high_x, high_y)) = (doubled(low), doubled(high));
            let is_level = low_y <= doubled_y && doubled_y < high_y;
            is_level && (high_x - low_x) * (doubled_y - low_y) < (doubled_x - low_x) * (high_y - low_y)
        };
        self.spots.iter().zip(self.spots.iter().cycle().skip(1)).filter(is_west).count() % 2 == 1
    }

    /// Its corners, one for each pixel they go through; `None` if it is smaller than a pixel or looks like a line.
    fn corners(&self, pixel: i32, is_hole: bool) -> Option<Vec<Corner>> {
        let Rect { low, high } = self.bounds;
        if high.x - low.x < pixel && high.y - low.y < pixel {
            return None;
        }
        let pixel_of = |spot: &Spot| (spot.x.div_euclid(pixel), spot.y.div_euclid(pixel));
        let mut spots = self.spots.clone();
        spots.dedup_by_key(|spot| pixel_of(spot));
        while spots.len() > 1 && spots.first().map(pixel_of) == spots.last().map(pixel_of) {
            spots.pop();
        }
        if spots.len() < 3 {
            return None;
        }
        if (self.doubled_area > 0) == is_hole {
            spots.reverse();
        }
        spots.extend(spots.first().copied());
        let degrees = |micro: i32| f64::from(micro) / 1_000_000.0;
        Some(spots.into_iter().map(|spot| [degrees(spot.x), degrees(spot.y)]).collect())
    }
}
