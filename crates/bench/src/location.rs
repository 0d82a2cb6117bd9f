//! `bench location`: reading the atlas, and asking it for points, boxes and names, on one core.

use std::time::{Duration, Instant};

use anyhow::Result;
use geo::{Area, Atlas, Extent, Kind};
use model::place::Point;

use crate::Size;
use crate::report::{self, duration, mebibytes, number, ratio};
use crate::usage::Process;

/// Points per second and core that devices of ten million channels may need.
const POINTS_PER_SECOND: f64 = 300_000.0;
const MOST_MEMORY: u64 = 110 << 20;
/// Long enough for a reproducible figure.
const AT_LEAST: Duration = Duration::from_secs(1);

const NAMES: [&str; 12] = [
    "Portland",
    "paris",
    "münchen",
    "São Paulo",
    "new york",
    "東京",
    "Springf",
    "St. John's",
    "côte d'ivoire",
    "los ange",
    "protland",
    "san fransisco",
];

pub(crate) async fn run(size: Size) -> Result<()> {
    let time = size.time(AT_LEAST);
    report::heading(format_args!("Places"))?;
    let own = Process::own();
    let before = own.memory()?;
    own.forget_peak()?;
    let (began, cpu) = (Instant::now(), own.first_thread_cpu()?);
    let atlas = Atlas::read()?;
    report::line("reading the atlas", &duration(began.elapsed()))?;
    report::line("reading the atlas, CPU time", &duration(own.first_thread_cpu()?.saturating_sub(cpu)))?;
    let after = own.memory()?;
    let kept = after.allocated.saturating_sub(before.allocated);
    report::goal("the atlas in memory", &mebibytes(kept), "under 110 MiB", kept < MOST_MEMORY)?;
    report::line("most memory while it was read", &mebibytes(after.peak.saturating_sub(before.resident)))?;
    report::line("boundaries", &number(atlas.boundaries().count() as f64))?;

    let near_cities = points_near_cities(&atlas)?;
    let anywhere = points_anywhere()?;
    let boxes: Vec<Extent> = atlas.boundaries().map(|boundary| boundary.extent).collect();
    let scan = rate(time, 10, |i| scanned(&boxes, near_cities[i % near_cities.len()]))?;
    report::line("a look at the boxes of all boundaries, points per second", &number(scan))?;
    for (name, points) in
        [("points near cities, all types", &near_cities), ("points anywhere on earth, all types", &anywhere)]
    {
        let rate = rate(time, 1_000, |i| atlas.at(points[i % points.len()]).len())?;
        report::goal(&format!("{name}, per second"), &number(rate), "over 300,000", rate > POINTS_PER_SECOND)?;
        report::line(&format!("{name}, of a look at all boxes"), &ratio(rate / scan))?;
    }
    for degrees in [0.1, 1.0, 10.0] {
        let areas: Vec<Area> =
            near_cities.iter().step_by(97).map(|point| area(*point, degrees)).collect::<Result<_>>()?;
        let rate = rate(time, 1_000, |i| atlas.touching(areas[i % areas.len()], None, 1_000).len())?;
        report::line(&format!("boxes of {degrees}° near cities, all types, per second"), &number(rate))?;
    }
    for (name, names) in [("names", &NAMES[..10]), ("names with mistakes", &NAMES[10..])] {
        let rate = rate(time, 100, |i| atlas.named(names[i % names.len()], None, 100).len())?;
        report::line(&format!("{name}, per second"), &number(rate))?;
    }
    Ok(())
}

/// How many boxes a point is in, found without an index.
fn scanned(boxes: &[Extent], point: Point) -> usize {
    let is_within =
        |of: &&Extent| (of.south..=of.north).contains(&point.lat()) && (of.west..=of.east).contains(&point.lon());
    boxes.iter().filter(is_within).count()
}

/// How often the work can be done in a second of CPU time, which is looked at once in so many times.
fn rate(time: Duration, n_between: usize, mut work: impl FnMut(usize) -> usize) -> Result<f64> {
    let own = Process::own();
    let (began, mut n_done) = (own.first_thread_cpu()?, 0);
    loop {
        for _ in 0..n_between {
            std::hint::black_box(work(n_done));
            n_done += 1;
        }
        let spent = own.first_thread_cpu()?.saturating_sub(began);
        if spent >= time {
            return Ok(n_done as f64 / spent.as_secs_f64());
        }
    }
}

/// Within a few kilometers of every city: where devices are.
fn points_near_cities(atlas: &Atlas) -> Result<Vec<Point>> {
    let mut random = Random(1);
    let mut points = Vec::new();
    for city in atlas.boundaries().filter(|boundary| boundary.kind == Kind::City) {
        let near = |micro: i32, random: &mut Random| f64::from(micro) / 1e6 + (random.next() - 0.5) * 0.1;
        let (lat, lon) = (near(city.extent.lat, &mut random), near(city.extent.lon, &mut random));
        points.push(point(lat, lon)?);
    }
    // Neighbors in the list are neighbors on earth, which would be too kind to the caches.
    for i in (1..points.len()).rev() {
        random.next();
        points.swap(i, random.below(i + 1));
    }
    Ok(points)
}

fn points_anywhere() -> Result<Vec<Point>> {
    let mut random = Random(2);
    (0..200_000).map(|_| point((random.next() - 0.5) * 180.0, (random.next() - 0.5) * 360.0)).collect()
}

fn area(center: Point, degrees: f64) -> Result<Area> {
    let (lat, lon) = (f64::from(center.lat()) / 1e6, f64::from(center.lon()) / 1e6);
    let half = degrees / 2.0;
    Ok(Area::between(point(lat - half, lon - half)?, point(lat + half, lon + half)?))
}

/// A point, moved into range if it is not.
fn point(lat: f64, lon: f64) -> Result<Point> {
    Point::new(lat.clamp(-90.0, 90.0), lon.clamp(-180.0, 180.0)).map_err(|wrong| anyhow::anyhow!(wrong.to_string()))
}

/// The same numbers in every run.
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.0 >> 33).unwrap_or(0) % n.max(1)
    }
}
