//! Cities without a polygon: circles whose size follows from the number of inhabitants.

use std::ops::RangeInclusive;

use crate::boundary::Extent;
use crate::cells::{KM_PER_MICRO, MICRO, Rect, TURN, to_micro};
use crate::shape::Spot;

/// The side of a square by which circles are found, in millionths of a degree.
const SQUARE: i32 = 250_000;

pub(crate) struct Circles {
    /// Where in `entries` each row of squares begins, and where the last one ends.
    rows: Vec<u32>,
    /// The circles that reach into squares, in the order of the squares.
    entries: Vec<Entry>,
}

/// A circle in a square. The data for the test lies beside that of its neighbors, because memory is slower than the test.
#[derive(Clone, Copy)]
struct Entry {
    column: u32,
    number: u32,
    circle: Circle,
}

#[derive(Clone, Copy)]
pub(crate) struct Circle {
    center: Spot,
    radius_km: f64,
    /// How far a millionth of a degree of longitude is here.
    km_per_x: f64,
}

impl Circle {
    /// Most cities are within a factor of 1.5 of this.
    pub(crate) fn new(center: Spot, population: u32) -> Self {
        let radius_km = 0.07 * f64::from(population.max(1)).powf(0.35);
        // Near the poles there are no cities.
        let km_per_x = KM_PER_MICRO * (f64::from(center.y) / MICRO).to_radians().cos().max(0.01);
        Self { center, radius_km: radius_km.clamp(1.5, 25.0), km_per_x }
    }

    /// The bounds of the circle. The bounds of a circle across the antimeridian end there.
    pub(crate) fn extent(self) -> Extent {
        let Circle { center, radius_km, .. } = self;
        let height = to_micro(radius_km / KM_PER_MICRO);
        let width = self.width();
        Extent {
            south: center.y - height,
            west: (center.x - width).max(-180_000_000),
            north: center.y + height,
            east: (center.x + width).min(180_000_000),
            lat: center.y,
            lon: center.x,
        }
    }

    /// A polygon in place of the circle, counterclockwise. One that reaches across the antimeridian ends there.
    pub(crate) fn corners(self) -> Vec<Spot> {
        const N_CORNERS: u32 = 64;
        let (height, width) = (f64::from(to_micro(self.radius_km / KM_PER_MICRO)), f64::from(self.width()));
        let corner = |n: u32| {
            let (sin, cos) = (f64::from(n) / f64::from(N_CORNERS) * std::f64::consts::TAU).sin_cos();
            let x = self.center.x + to_micro(width * cos);
            Spot { x: x.clamp(-180_000_000, 180_000_000), y: self.center.y + to_micro(height * sin) }
        };
        (0..N_CORNERS).map(corner).collect()
    }

    /// From the center to the western edge, and to the eastern one.
    fn width(self) -> i32 {
        to_micro(self.radius_km / self.km_per_x)
    }

    /// The columns of squares it reaches into: one range, or two if it reaches across the antimeridian.
    fn columns(self) -> impl Iterator<Item = u32> {
        let (west, east) = (self.center.x - self.width(), self.center.x + self.width());
        let beyond_west = (west < -180_000_000).then(|| column(west + TURN)..=column(180_000_000));
        let beyond_east = (east > 180_000_000).then(|| column(-180_000_000)..=column(east - TURN));
        [Some(column(west)..=column(east)), beyond_west, beyond_east].into_iter().flatten().flatten()
    }

    /// How far from the center a spot is, if it is inside; 1 on the edge.
    fn distance(self, spot: Spot) -> Option<f64> {
        let apart = (f64::from(spot.x) - f64::from(self.center.x)).abs();
        let dx = apart.min(360.0 * MICRO - apart) * self.km_per_x;
        let dy = (f64::from(spot.y) - f64::from(self.center.y)) * KM_PER_MICRO;
        let (squared, radius_squared) = (dx * dx + dy * dy, self.radius_km * self.radius_km);
        (squared <= radius_squared).then(|| (squared / radius_squared).sqrt())
    }

    fn touches(self, rect: Rect) -> bool {
        let y = self.center.y.clamp(rect.low.y, rect.high.y);
        let is_near = |x: i32| self.distance(Spot { x: x.clamp(rect.low.x, rect.high.x), y }).is_some();
        let is_across = self.center.x.abs() + self.width() > 180_000_000;
        is_near(self.center.x) || (is_across && (is_near(self.center.x - TURN) || is_near(self.center.x + TURN)))
    }
}

impl Circles {
    pub(crate) fn new(circles: &[Circle]) -> Self {
        let mut by_row = Vec::with_capacity(circles.len() * 2);
        for (number, circle) in (0_u32..).zip(circles) {
            let Extent { south, north, .. } = circle.extent();
            for row in row(south)..=row(north) {
                by_row.extend(circle.columns().map(|column| (row, Entry { column, number, circle: *circle })));
            }
        }
        by_row.sort_unstable_by_key(|(row, entry)| (*row, entry.column, entry.number));
        let start = |row: u32| by_row.partition_point(|(of_entry, _)| *of_entry < row);
        let rows = (0..=row(i32::MAX) + 1).map(|row| u32::try_from(start(row)).unwrap_or(u32::MAX)).collect();
        Self { rows, entries: by_row.into_iter().map(|(_, entry)| entry).collect() }
    }

    /// The circles around a spot and how far from their centers it is.
    pub(crate) fn at(&self, spot: Spot) -> impl Iterator<Item = (u32, f64)> {
        let here = column(spot.x);
        self.row(row(spot.y), here..=here)
            .iter()
            .filter_map(move |entry| Some((entry.number, entry.circle.distance(spot)?)))
    }

    /// The circles that a box touches; some of them more than once.
    pub(crate) fn touching(&self, rect: Rect, mut found: impl FnMut(u32)) {
        for row in row(rect.low.y)..=row(rect.high.y) {
            let near = self.row(row, column(rect.low.x)..=column(rect.high.x));
            near.iter().filter(|entry| entry.circle.touches(rect)).for_each(|entry| found(entry.number));
        }
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
}

fn row(y: i32) -> u32 {
    (y.clamp(-90_000_000, 90_000_000) + 90_000_000).unsigned_abs() / SQUARE.unsigned_abs()
}

fn column(x: i32) -> u32 {
    (x.clamp(-180_000_000, 180_000_000) + 180_000_000).unsigned_abs() / SQUARE.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_reaches_across_the_antimeridian() {
        for x in [179_950_000, -179_950_000] {
            let circles = Circles::new(&[Circle::new(Spot { x, y: 0 }, 1_000_000)]);
            // The radius is 8.8 km, which are 0.079 degrees.
            for (across, is_inside) in [(20_000, true), (40_000, false)] {
                let spot = Spot { x: -x.signum() * (180_000_000 - across), y: 0 };
                assert_eq!(circles.at(spot).count() > 0, is_inside, "{x} {spot:?}");
                let far = Spot { x: -x.signum() * 179_000_000, y: 10_000 };
                let rect = Rect {
                    low: Spot { x: spot.x.min(far.x), y: -10_000 },
                    high: Spot { x: spot.x.max(far.x), y: 10_000 },
                };
                let mut is_touched = false;
                circles.touching(rect, |_| is_touched = true);
                assert_eq!(is_touched, is_inside, "{x} {rect:?}");
            }
        }
    }
}
