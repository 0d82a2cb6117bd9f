//! Outlines against the shapes they are made of.

use std::sync::LazyLock;

use model::place::Point;

use super::*;
use crate::boundary::{Code, Kind};

static ATLAS: LazyLock<Atlas> = LazyLock::new(|| Atlas::read().unwrap());
const FINEST: u32 = 20;

fn named(name: &str, kind: Kind) -> PlaceId {
    ATLAS.named(name, Some(kind), 1)[0].id
}

/// Places of every kind: one shape, many shapes, shapes with holes and with many islands, and circles.
fn places() -> Vec<PlaceId> {
    let countries =
        ["FR", "ZA", "LS", "NO", "FJ", "US", "VA"].map(|code| ATLAS.by_code(Code::Country, code).unwrap().id);
    let states = ["CA", "HI"].map(|code| ATLAS.by_code(Code::UsState, code).unwrap().id);
    let others = [
        named("Bavaria", Kind::Province),
        named("San Francisco", Kind::County),
        named("Portland, Oregon", Kind::City),
        named("Lyon", Kind::City),
    ];
    countries.into_iter().chain(states).chain(others).collect()
}

fn sides(ring: &[Corner]) -> impl Iterator<Item = (Corner, Corner)> {
    ring.windows(2).map(|pair| (pair[0], pair[1]))
}

fn doubled_area(ring: &[Corner]) -> f64 {
    sides(ring).map(|([ax, ay], [bx, by])| ax * by - bx * ay).sum()
}

fn is_in(rings: &[Vec<Corner>], [x, y]: Corner) -> bool {
    let is_west =
        |([ax, ay], [bx, by]): &(Corner, Corner)| (*ay > y) != (*by > y) && x > ax + (bx - ax) * (y - ay) / (by - ay);
    rings.iter().flat_map(|ring| sides(ring)).filter(is_west).count() % 2 == 1
}

#[test]
fn outlines_contain_what_the_places_contain() {
    for id in places() {
        let number = ATLAS.number(id).unwrap();
        let boundary = ATLAS.boundary(number);
        let Outline(polygons) = ATLAS.outline(id, FINEST).unwrap();
        let (mut n_inside, steps) = (0, 40);
        for (column, row) in (0..steps).flat_map(|column| (0..steps).map(move |row| (column, row))) {
            // Off the grid that corners are on.
            let between = |from: i32, to: i32, n: i32| from + (to - from) / steps * n / 1_000 * 1_000 + 337;
            let spot = Spot {
                x: between(boundary.extent.west, boundary.extent.east, column),
                y: between(boundary.extent.south, boundary.extent.north, row),
            };
            let wanted = match number >= ATLAS.first_circle {
                true => continue,
                false if boundary.kind == Kind::City => ATLAS.us_cities.at(spot).any(|city| city == number),
                false => {
                    let mut parts = ATLAS.provinces.at(spot).chain(ATLAS.counties.at(spot));
                    parts.any(|part| ATLAS.upwards(part).any(|above| above == number))
                }
            };
            let corner = [f64::from(spot.x) / 1e6, f64::from(spot.y) / 1e6];
            let n_around = polygons.iter().filter(|polygon| is_in(polygon, corner)).count();
            assert_eq!(n_around, usize::from(wanted), "{} at {corner:?}", boundary.name);
            n_inside += n_around;
        }
        assert!(n_inside > 0 || number >= ATLAS.first_circle || boundary.extent.east - boundary.extent.west < 50_000);
    }
}

#[test]
fn rings_are_closed_and_go_around_the_right_way() {
    for id in places() {
        for zoom in [1, 5, 10, FINEST] {
            let Outline(polygons) = ATLAS.outline(id, zoom).unwrap();
            assert!(!polygons.is_empty());
            for polygon in polygons {
                for (n, ring) in polygon.iter().enumerate() {
                    assert!(ring.len() >= 4 && ring.first() == ring.last(), "{ring:?}");
                    if zoom == FINEST {
                        assert_eq!(doubled_area(ring) > 0.0, n == 0, "{ring:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn holes_are_holes_and_what_cannot_be_seen_is_left_out() {
    let n_corners = |Outline(polygons): &Outline| polygons.iter().flatten().map(Vec::len).sum::<usize>();
    let africa = ATLAS.outline(ATLAS.by_code(Code::Country, "ZA").unwrap().id, FINEST).unwrap();
    let maseru = [27.8, -29.5];
    let around = africa.0.iter().filter(|polygon| is_in(&polygon[..1], maseru)).collect::<Vec<_>>();
    assert_eq!(around.len(), 1);
    assert!(around[0].len() > 1 && !is_in(around[0], maseru), "Lesotho is a hole in South Africa");

    let norway = ATLAS.by_code(Code::Country, "NO").unwrap().id;
    let sizes: Vec<usize> = [1, 4, 6].map(|zoom| n_corners(&ATLAS.outline(norway, zoom).unwrap())).to_vec();
    assert!(sizes.is_sorted_by(|a, b| a < b), "{sizes:?}");
    let lyon = named("Lyon", Kind::City);
    assert_eq!(n_corners(&ATLAS.outline(lyon, FINEST).unwrap()), 65);
    let center = ATLAS.by_id(lyon).unwrap().extent;
    let point = Point::new(f64::from(center.lat) / 1e6, f64::from(center.lon) / 1e6).unwrap();
    assert!(ATLAS.at(point).iter().any(|boundary| boundary.id == lyon));
    assert!(is_in(&ATLAS.outline(lyon, 1).unwrap().0[0], [f64::from(center.lon) / 1e6, f64::from(center.lat) / 1e6]));
    assert_eq!(ATLAS.outline(PlaceId(7), 1), None);
}
