//! The quick ways to find boundaries against the slow and obvious one.

use std::sync::LazyLock;

use model::place::Point;
use proptest::prelude::*;

use super::*;
use crate::boundary::Extent;
use crate::shape::{Shapes, side};

static ATLAS: LazyLock<Atlas> = LazyLock::new(|| Atlas::read().unwrap());

/// Whether a spot is in a shape, by counting all sides to the west of it.
fn is_in(shapes: &Shapes, shape: usize, spot: Spot) -> bool {
    let is_west = |edge: &crate::shape::Edge| {
        let (a, b) = shapes.ends(*edge);
        let (low, high) = if a.y < b.y { (a, b) } else { (b, a) };
        (a.y > spot.y) != (b.y > spot.y) && side(low, high, spot) <= 0
    };
    shapes.edges(shape).filter(is_west).count() % 2 == 1
}

/// Whether a box and a shape have something in common: a corner of the one is in the other, or two of their sides meet.
fn touches(shapes: &Shapes, shape: usize, low: Spot, high: Spot) -> bool {
    let corners = [low, Spot { x: high.x, y: low.y }, high, Spot { x: low.x, y: high.y }];
    let is_in_box = |spot: Spot| (low.x..=high.x).contains(&spot.x) && (low.y..=high.y).contains(&spot.y);
    let meets_side = |a: Spot, b: Spot| (0..4).any(|n| do_meet(a, b, corners[n], corners[(n + 1) % 4]));
    let mut sides = shapes.edges(shape).map(|edge| shapes.ends(edge));
    is_in(shapes, shape, low) || sides.any(|(a, b)| is_in_box(a) || is_in_box(b) || meets_side(a, b))
}

/// Whether two lines with ends cross.
fn do_meet(a: Spot, b: Spot, c: Spot, d: Spot) -> bool {
    let are_apart = |one: i64, other: i64| one.signum() * other.signum() < 0;
    are_apart(side(a, b, c), side(a, b, d)) && are_apart(side(c, d, a), side(c, d, b))
}

fn point(spot: Spot) -> Point {
    Point::new(f64::from(spot.y) / 1e6, f64::from(spot.x) / 1e6).unwrap()
}

/// A box of about a meter around a spot.
fn around(spot: Spot) -> Area {
    let at = |d: i32| {
        point(Spot { x: (spot.x + d).clamp(-180_000_000, 180_000_000), y: (spot.y + d).clamp(-90_000_000, 90_000_000) })
    };
    Area::between(at(-5), at(5))
}

/// A spot near one of the corners of a shape, on either side of it.
fn spot_near_corner(layer: &Layer, shape: usize, corner: usize, dx: i32, dy: i32) -> Spot {
    let edges: Vec<_> = layer.cells.shapes.edges(shape).collect();
    let (near, _) = layer.cells.shapes.ends(edges[corner % edges.len()]);
    Spot { x: (near.x + dx).clamp(-180_000_000, 179_999_999), y: (near.y + dy).clamp(-90_000_000, 90_000_000) }
}

fn check(layer: &Layer, shape: usize, spot: Spot) -> Result<(), TestCaseError> {
    let inside = is_in(&layer.cells.shapes, shape, spot);
    let number = u32::try_from(shape).unwrap();
    prop_assert_eq!(layer.cells.at(spot).any(|found| found == number), inside, "cells: {:?}", spot);
    if !inside {
        return Ok(());
    }
    let boundary = &ATLAS.boundaries[layer.first as usize + shape];
    let touched = ATLAS.touching(around(spot), Some(boundary.kind), usize::MAX);
    prop_assert!(touched.iter().any(|found| found.id == boundary.id), "by box: {:?}", spot);
    let found = ATLAS.at(point(spot));
    // Where two sources draw the same border differently, the finer one counts.
    let county = ATLAS.counties.at(spot).next().map(|county| ATLAS.boundary(county));
    let is_elsewhere = match (boundary.kind, county) {
        (Kind::Province, Some(_)) => true,
        (Kind::City, Some(county)) => county.parent != boundary.parent,
        (Kind::City, None) => true,
        (Kind::Country | Kind::County | Kind::Province, _) => false,
    };
    if !is_elsewhere {
        prop_assert!(found.iter().any(|found| found.id == boundary.id), "by point: {:?}", spot);
        for parent in ATLAS.parents(boundary) {
            prop_assert!(found.iter().any(|found| found.id == parent.id), "{} of {:?}", parent.name, spot);
            let touched = ATLAS.touching(around(spot), Some(parent.kind), usize::MAX);
            prop_assert!(touched.iter().any(|found| found.id == parent.id), "{} by box: {:?}", parent.name, spot);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn a_point_in_a_polygon_is_found_by_point_by_box_and_through_its_parents(
        layer in 0..3_usize,
        shape in any::<prop::sample::Index>(),
        corner in any::<u16>(),
        (dx, dy) in prop_oneof![
            (-2_000..=2_000_i32, -2_000..=2_000_i32),
            (-40_000..=40_000_i32, -40_000..=40_000_i32),
            // Into cells that a large shape covers as a whole.
            (-4_000_000..=4_000_000_i32, -4_000_000..=4_000_000_i32),
            Just((0, 0)),
            (Just(500), Just(500)),
        ],
    ) {
        let layer = [&ATLAS.provinces, &ATLAS.counties, &ATLAS.us_cities][layer];
        let shape = shape.index(layer.cells.shapes.len());
        check(layer, shape, spot_near_corner(layer, shape, usize::from(corner), dx, dy))?;
    }

    #[test]
    fn a_box_touches_the_shapes_it_has_something_in_common_with(
        layer in 0..3_usize,
        shape in any::<prop::sample::Index>(),
        corner in any::<u16>(),
        (dx, dy) in prop_oneof![
            (-20_000..=20_000_i32, -20_000..=20_000_i32),
            (-3_000_000..=3_000_000_i32, -3_000_000..=3_000_000_i32),
        ],
        (width, height) in prop_oneof![
            (0..50_000_i32, 0..50_000_i32),
            (0..3_000_000_i32, 0..3_000_000_i32),
        ],
    ) {
        let layer = [&ATLAS.provinces, &ATLAS.counties, &ATLAS.us_cities][layer];
        let shapes = &layer.cells.shapes;
        let shape = shape.index(shapes.len());
        let low = spot_near_corner(layer, shape, usize::from(corner), dx, dy);
        let high = Spot { x: (low.x + width).min(180_000_000), y: (low.y + height).min(90_000_000) };
        let mut is_touched = false;
        layer.cells.touching(Rect { low, high }, |found| is_touched |= found as usize == shape);
        prop_assert_eq!(is_touched, touches(shapes, shape, low, high), "{:?} {:?}", low, high);
    }

    #[test]
    fn a_box_touches_the_circles_it_reaches_into(
        city in any::<prop::sample::Index>(),
        (dx, dy) in prop_oneof![
            (-30_000..=30_000_i32, -30_000..=30_000_i32),
            (-400_000..=400_000_i32, -400_000..=400_000_i32),
        ],
        width in 0..500_000_i32,
        height in 0..500_000_i32,
    ) {
        let circles = &ATLAS.boundaries[ATLAS.first_circle as usize..];
        let city = &circles[city.index(circles.len())];
        let Extent { north, east, lat, lon, .. } = city.extent;
        // Bounds end at the antimeridian; another test is about circles that do not.
        prop_assume!(lon.abs() < 178_000_000);
        let low = Spot { x: lon + dx, y: lat + dy };
        let high = Spot { x: low.x + width, y: low.y + height };
        let off = |middle: i32, low: i32, high: i32, radius: i32| {
            f64::from(middle.clamp(low, high) - middle) / f64::from(radius)
        };
        let (x, y) = (off(lon, low.x, high.x, east - lon), off(lat, low.y, high.y, north - lat));
        let distance = (x * x + y * y).sqrt();
        // Radii are rounded.
        prop_assume!((distance - 1.0).abs() > 0.001);
        let touched = ATLAS.touching(Area::between(point(low), point(high)), Some(Kind::City), usize::MAX);
        let is_touched = touched.iter().any(|found| found.id == city.id);
        prop_assert_eq!(is_touched, distance < 1.0, "{} is {} radii away", city.name, distance);
    }

    #[test]
    fn a_box_touches_what_it_has_a_corner_in(
        lat in -9_000_i32..9_000, lon in -18_000_i32..18_000, height in 0..300_i32, width in 0..300_i32,
    ) {
        let corner = |lat: i32, lon: i32| Spot { x: lon.min(18_000) * 10_000, y: lat.min(9_000) * 10_000 };
        let (low, high) = (corner(lat, lon), corner(lat + height, lon + width));
        let touched = ATLAS.touching(Area::between(point(low), point(high)), Some(Kind::Province), usize::MAX);
        for shape in ATLAS.provinces.cells.at(low).chain(ATLAS.provinces.cells.at(high)) {
            let boundary = ATLAS.boundary(ATLAS.provinces.first + shape);
            prop_assert!(touched.iter().any(|found| found.id == boundary.id), "{}", boundary.name);
        }
    }
}
