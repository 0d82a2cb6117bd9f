//! Cities without a polygon: circles whose size follows from the number of inhabitants.

use crate::boundary::Extent;
use crate::cells::{KM_PER_MICRO, MICRO, Rect, to_micro};
use crate::shape::Spot;

/// The side of a square by which circles are found, in millionths of a degree.
const SQUARE: i32 = 250_000;

pub(crate) struct Circles {
    circles: Vec<Circle>,
    /// The circles that reach into a square, in the order of the squares.
    squares: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
pub(crate) struct Circle {
    center: Spot,
    radius_km: f64,
}

impl Circle {
    /// Most cities are within a factor of 1.5 of this.
    pub(crate) fn new(center: Spot, population: u32) -> Self {
        let radius_km = 0.07 * f64::from(population.max(1)).powf(0.35);
        Self { center, radius_km: radius_km.clamp(1.5, 25.0) }
    }

    /// The bounds of the circle. One that reaches across the antimeridian is cut off there.
    pub(crate) fn extent(self) -> Extent {
        let Circle { center, radius_km } = self;
        let height = to_micro(radius_km / KM_PER_MICRO);
        let width = to_micro(radius_km / km_per_x(center.y));
        Extent {
            south: center.y - height,
            west: (center.x - width).max(-180_000_000),
            north: center.y + height,
            east: (center.x + width).min(180_000_000),
            lat: center.y,
            lon: center.x,
        }
    }

    /// How far from the center a spot is; 1 on the edge.
    fn distance(self, spot: Spot) -> f64 {
        let apart = (f64::from(spot.x) - f64::from(self.center.x)).abs();
        let dx = apart.min(360.0 * MICRO - apart) * km_per_x(self.center.y);
        let dy = (f64::from(spot.y) - f64::from(self.center.y)) * KM_PER_MICRO;
        dx.hypot(dy) / self.radius_km
    }

    fn touches(self, rect: Rect) -> bool {
        let nearest =
            Spot { x: self.center.x.clamp(rect.low.x, rect.high.x), y: self.center.y.clamp(rect.low.y, rect.high.y) };
        self.distance(nearest) <= 1.0
    }
}

impl Circles {
    pub(crate) fn new(circles: Vec<Circle>) -> Self {
        let mut squares = Vec::with_capacity(circles.len() * 2);
        for (number, circle) in (0_u32..).zip(&circles) {
            let Extent { south, west, north, east, .. } = circle.extent();
            for row in row(south)..=row(north) {
                squares.extend((column(west)..=column(east)).map(|column| (square(row, column), number)));
            }
        }
        squares.sort_unstable();
        squares.dedup();
        Self { circles, squares }
    }

    /// The circles around a spot and how far from their centers it is.
    pub(crate) fn at(&self, spot: Spot) -> impl Iterator<Item = (u32, f64)> {
        let near = self.in_squares(square(row(spot.y), column(spot.x)), square(row(spot.y), column(spot.x)));
        let with_distance =
            near.iter().map(move |(_, number)| (*number, self.circles[*number as usize].distance(spot)));
        with_distance.filter(|(_, distance)| *distance <= 1.0)
    }

    /// The circles that a box touches; some of them more than once.
    pub(crate) fn touching(&self, rect: Rect, mut found: impl FnMut(u32)) {
        for row in row(rect.low.y)..=row(rect.high.y) {
            let near = self.in_squares(square(row, column(rect.low.x)), square(row, column(rect.high.x)));
            let touched = near.iter().filter(|(_, number)| self.circles[*number as usize].touches(rect));
            touched.for_each(|(_, number)| found(*number));
        }
    }

    fn in_squares(&self, first: u32, last: u32) -> &[(u32, u32)] {
        let start = self.squares.partition_point(|(square, _)| *square < first);
        let n = self.squares[start..].partition_point(|(square, _)| *square <= last);
        &self.squares[start..start + n]
    }
}

fn km_per_x(lat: i32) -> f64 {
    // Near the poles there are no cities.
    KM_PER_MICRO * (f64::from(lat) / MICRO).to_radians().cos().max(0.01)
}

const COLUMNS: u32 = 360_000_000 / SQUARE.unsigned_abs() + 1;

fn row(y: i32) -> u32 {
    (y.clamp(-90_000_000, 90_000_000) + 90_000_000).unsigned_abs() / SQUARE.unsigned_abs()
}

fn column(x: i32) -> u32 {
    (x.clamp(-180_000_000, 180_000_000) + 180_000_000).unsigned_abs() / SQUARE.unsigned_abs()
}

const fn square(row: u32, column: u32) -> u32 {
    row * COLUMNS + column
}
