//! Which shapes a point is in and which ones a box touches, answered from the few sides that lie in the same cell.
//!
//! The earth is cut into square cells. Every cell knows, for each shape that reaches into it, whether its south-western
//! corner is inside and which sides of the shape pass through it. A point is then inside if the way from that corner to it,
//! first north and then east, crosses an odd number of sides, or an even number when the corner is inside itself.
//!
//! The corners of cells lie between those of shapes, and everything is computed in whole numbers, so nothing is rounded and
//! two shapes that share a border share no point.

mod build;

use std::ops::RangeInclusive;

use crate::shape::{Edge, GRID, Shapes, Spot, side};

/// The south-western corner of the first cell.
const ORIGIN: Spot = Spot { x: -180_000_000 - GRID / 2, y: -90_000_000 - GRID / 2 };

pub(crate) struct Cells {
    pub(crate) shapes: Shapes,
    /// The length of a side of a cell, a multiple of [`GRID`].
    size: i32,
    /// Where in `entries` each row of cells begins, and where the last one ends.
    rows: Vec<u32>,
    entries: Vec<Entry>,
    edges: Vec<Edge>,
}

/// A shape in a cell.
#[derive(Clone, Copy)]
struct Entry {
    column: u32,
    shape: u32,
    first_edge: u32,
    /// Twice the number of sides that pass through the cell, and one more if the corner of the cell is inside.
    content: u32,
}

impl Entry {
    const fn is_corner_inside(self) -> bool {
        self.content % 2 == 1
    }

    const fn n_edges(self) -> u32 {
        self.content / 2
    }
}

/// A box that does not reach across the antimeridian.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rect {
    pub(crate) low: Spot,
    pub(crate) high: Spot,
}

impl Cells {
    /// The shapes that a spot is in.
    pub(crate) fn at(&self, spot: Spot) -> impl Iterator<Item = u32> {
        let (column, row) = self.cell(spot);
        let corner = self.corner(column, row);
        self.entries(column, row)
            .iter()
            .filter(move |entry| self.is_inside(entry, corner, spot))
            .map(|entry| entry.shape)
    }

    /// The shapes that a box touches; those that it touches in several cells more than once.
    pub(crate) fn touching(&self, rect: Rect, mut found: impl FnMut(u32)) {
        let ((west, south), (east, north)) = (self.cell(rect.low), self.cell(rect.high));
        for row in south..=north {
            for entry in self.row(row, west..=east) {
                if self.touches(entry, self.corner(entry.column, row), rect) {
                    found(entry.shape);
                }
            }
        }
    }

    /// The shape with the nearest side that is less than this many kilometers from a spot, and how far it is.
    pub(crate) fn nearest(&self, spot: Spot, most_km: f64) -> Option<(f64, u32)> {
        let km_per_x = KM_PER_MICRO * (f64::from(spot.y) / MICRO).to_radians().cos();
        let reach_y = to_micro(most_km / KM_PER_MICRO);
        let reach_x = to_micro(most_km / km_per_x.max(KM_PER_MICRO / 100.0));
        let mut nearest: Option<(f64, u32)> = None;
        // A shape that is near across the antimeridian is near the same spot by its other number.
        for x in [spot.x, spot.x - TURN, spot.x + TURN] {
            let low = Spot { x: (x - reach_x).max(-180_000_000), y: (spot.y - reach_y).max(-90_000_000) };
            let high = Spot { x: (x + reach_x).min(180_000_000), y: (spot.y + reach_y).min(90_000_000) };
            if low.x > high.x {
                continue;
            }
            let ((west, south), (east, north)) = (self.cell(low), self.cell(high));
            for entry in (south..=north).flat_map(|row| self.row(row, west..=east)) {
                for edge in self.edges_of(entry) {
                    let (a, b) = self.shapes.ends(*edge);
                    let local = |end: Spot| {
                        (
                            (f64::from(end.x) - f64::from(x)) * km_per_x,
                            (f64::from(end.y) - f64::from(spot.y)) * KM_PER_MICRO,
                        )
                    };
                    let distance = distance_to_segment(local(a), local(b));
                    if distance < nearest.map_or(most_km, |(least, _)| least) {
                        nearest = Some((distance, entry.shape));
                    }
                }
            }
        }
        nearest
    }

    /// The column and the row of the cell that a spot is in.
    fn cell(&self, spot: Spot) -> (u32, u32) {
        let index = |at: i32, origin: i32| ((i64::from(at) - i64::from(origin)) / i64::from(self.size)).unsigned_abs();
        let to_u32 = |index: u64| u32::try_from(index).unwrap_or(u32::MAX);
        (to_u32(index(spot.x, ORIGIN.x)), to_u32(index(spot.y, ORIGIN.y)))
    }

    fn corner(&self, column: u32, row: u32) -> Spot {
        Spot { x: ORIGIN.x + self.size * column.cast_signed(), y: ORIGIN.y + self.size * row.cast_signed() }
    }

    fn entries(&self, column: u32, row: u32) -> &[Entry] {
        self.row(row, column..=column)
    }

    /// The entries of some columns of a row.
    fn row(&self, row: u32, columns: RangeInclusive<u32>) -> &[Entry] {
        let row = row as usize;
        let Some([first, end]) = self.rows.get(row..row + 2) else { return &[] };
        let entries = &self.entries[*first as usize..*end as usize];
        let first = entries.partition_point(|entry| entry.column < *columns.start());
        let n = entries[first..].partition_point(|entry| entry.column <= *columns.end());
        &entries[first..first + n]
    }

    fn edges_of(&self, entry: &Entry) -> &[Edge] {
        &self.edges[entry.first_edge as usize..(entry.first_edge + entry.n_edges()) as usize]
    }

    /// Whether a spot in a cell is inside a shape.
    fn is_inside(&self, entry: &Entry, corner: Spot, spot: Spot) -> bool {
        let mut inside = entry.is_corner_inside();
        for edge in self.edges_of(entry) {
            let (a, b) = self.shapes.ends(*edge);
            // North along the western side of the cell, a trace to the east of it, to a trace north of the spot.
            if (a.x > corner.x) != (b.x > corner.x) {
                let (west, east) = if a.x < b.x { (a, b) } else { (b, a) };
                let is_above_corner = side(west, east, corner) < 0;
                let is_up_to_bend = side(west, east, Spot { x: corner.x, y: spot.y }) >= 0;
                inside ^= is_above_corner && is_up_to_bend;
            }
            // East from there to the spot, a trace to the north of it.
            if (a.y > spot.y) != (b.y > spot.y) {
                let (low, high) = if a.y < b.y { (a, b) } else { (b, a) };
                let at_bend = side(low, high, Spot { x: corner.x, y: spot.y });
                let is_beyond_bend = at_bend > 0 || (at_bend == 0 && low.x < high.x);
                inside ^= is_beyond_bend && side(low, high, spot) <= 0;
            }
        }
        inside
    }

    /// Whether a shape and a box have something in common in a cell.
    fn touches(&self, entry: &Entry, corner: Spot, rect: Rect) -> bool {
        let end = Spot { x: corner.x + self.size, y: corner.y + self.size };
        let low = Spot { x: corner.x.max(rect.low.x), y: corner.y.max(rect.low.y) };
        let high = Spot { x: end.x.min(rect.high.x), y: end.y.min(rect.high.y) };
        let part = Rect { low, high };
        if (low, high) == (corner, end) {
            // A shape that has nothing in a cell has no entry there.
            return true;
        }
        let passes = |edge: &Edge| {
            let (a, b) = self.shapes.ends(*edge);
            part.meets(a, b)
        };
        // Without a side in this part of the cell it is inside as a whole or not at all.
        self.edges_of(entry).iter().any(passes) || self.is_inside(entry, corner, low)
    }
}

impl Rect {
    /// Whether a line from one spot to another has a point in the box.
    fn meets(self, a: Spot, b: Spot) -> bool {
        let Rect { low, high } = self;
        if a.x.max(b.x) < low.x || a.x.min(b.x) > high.x || a.y.max(b.y) < low.y || a.y.min(b.y) > high.y {
            return false;
        }
        let corners = [low, Spot { x: high.x, y: low.y }, high, Spot { x: low.x, y: high.y }];
        let sides = corners.map(|corner| side(a, b, corner).signum());
        sides.iter().any(|of_corner| *of_corner != sides[0] || *of_corner == 0)
    }
}

/// Once around the earth.
pub(crate) const TURN: i32 = 360_000_000;
pub(crate) const MICRO: f64 = 1_000_000.0;
pub(crate) const KM_PER_MICRO: f64 = 111.195 / MICRO;

#[expect(clippy::cast_possible_truncation, reason = "a float that is too large becomes the largest whole number")]
pub(crate) fn to_micro(millionths: f64) -> i32 {
    millionths.clamp(-180.0 * MICRO, 180.0 * MICRO).round() as i32
}

/// The distance of the origin from a line between two points.
fn distance_to_segment((ax, ay): (f64, f64), (bx, by): (f64, f64)) -> f64 {
    let (dx, dy) = (bx - ax, by - ay);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 { (-(ax * dx + ay * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    (ax + along * dx).hypot(ay + along * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coast_is_near_across_the_antimeridian() {
        let square = [(179_900_000, 0), (179_980_000, 0), (179_980_000, 1_000_000), (179_900_000, 1_000_000)];
        for side in [1, -1] {
            let spots = square.iter().chain(&square[..1]).map(|(x, y)| Spot { x: side * x, y: *y }).collect();
            let shapes = Shapes { spots, arcs: vec![0, 5], shapes: vec![0, 1], rings: vec![0, 1], parts: vec![0] };
            let cells = Cells::new(shapes, 250);
            let near = cells.nearest(Spot { x: -side * 179_990_000, y: 500_000 }, 5.0);
            // 0.03 degrees at the equator.
            assert!(near.is_some_and(|(km, shape)| shape == 0 && (km - 3.336).abs() < 0.01), "{near:?}");
            assert_eq!(cells.nearest(Spot { x: -side * 179_960_000, y: 500_000 }, 5.0), None);
        }
    }
}
