//! Tests of the atlas as a whole.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod countries;
mod places;
mod regions;
mod special;

use std::sync::LazyLock;

use geo::Atlas;
use model::place::Point;

static ATLAS: LazyLock<&Atlas> = LazyLock::new(|| geo::atlas().unwrap());

fn at(lat: f64, lon: f64) -> Point {
    Point::new(lat, lon).unwrap()
}
